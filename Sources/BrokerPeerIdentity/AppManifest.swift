/// What a package says about its program: root put it there, so that its word on a path is root's.
public struct AppManifest: Hashable, Sendable {
    /// As `org.example.Mail`.
    public let app: String
    /// For people.
    public let name: String
    /// Paths without any symbolic link in them.
    public let executables: [String]

    public init(app: String, name: String, executables: [String]) {
        self.app = app
        self.name = name
        self.executables = executables
    }

    /// A program that runs other people's names no app, whoever says so.
    public static func isInterpreter(_ path: String) -> Bool {
        Interpreter.isInterpreter(name: path.split(separator: "/").last.map(String.init) ?? "")
    }
}

/// All manifests of this machine, by the paths that they name.
public struct AppManifests: Hashable, Sendable {
    private let byPath: [String: AppManifest]

    /// A path that two of them name names neither.
    public init(_ manifests: some Sequence<AppManifest> = []) {
        var byPath: [String: AppManifest?] = [:]
        for manifest in manifests {
            for path in Set(manifest.executables) {
                byPath[path] = .some(byPath.keys.contains(path) ? nil : manifest)
            }
        }
        self.byPath = byPath.compactMapValues { $0 }
    }

    func manifest(of path: String) -> AppManifest? { byPath[path] }
}
