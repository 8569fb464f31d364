/// The manifest in which a package declares its program. Root installed it, so its paths are trusted.
public struct AppManifest: Hashable, Sendable {
    /// The app's identifier, such as `org.example.Mail`.
    public let app: String
    /// The app's human-readable name.
    public let name: String
    /// The paths of the app's executables, without symbolic links.
    public let executables: [String]

    public init(app: String, name: String, executables: [String]) {
        self.app = app
        self.name = name
        self.executables = executables
    }

    /// Whether the path names an interpreter. An interpreter identifies no app, whatever a manifest says.
    public static func isInterpreter(_ path: String) -> Bool {
        Interpreter.isInterpreter(name: path.split(separator: "/").last.map(String.init) ?? "")
    }
}

/// All manifests of this machine, by executable path.
public struct AppManifests: Hashable, Sendable {
    private let byPath: [String: AppManifest]

    /// If two manifests name the same path, the path identifies neither app.
    public init(_ manifests: some Sequence<AppManifest> = []) {
        var byPath: [String: AppManifest?] = [:]
        for manifest in manifests {
            for path in Set(manifest.executables) {
                byPath[path] = .some(byPath.keys.contains(path) ? nil : manifest)
            }
        }
        self.byPath = byPath.compactMapValues { $0 }
    }

    /// The apps that the manifests name.
    public var apps: Set<String> { Set(byPath.values.map(\.app)) }

    func manifest(of path: String) -> AppManifest? { byPath[path] }
}
