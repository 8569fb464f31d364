import Glibc
import PeerIdentity

/// The folder in which packages say which programs are which apps.
///
/// Folder and files must be root's, and nobody else may write to them: a manifest makes a path an app.
public struct ManifestFolder: Hashable, Sendable {
    public static let systemPath = "/usr/share/contactbroker/apps.d"

    public let path: String

    /// One file, in bytes.
    static let maximumSize = 65_536
    static let maximumFiles = 1_024

    public init(path: String = systemPath) { self.path = path }

    /// The manifests that are good, and what is wrong with the others, which name nobody. No folder is no manifests.
    public func read() -> (manifests: AppManifests, problems: [ManifestProblem]) {
        var manifests: [AppManifest] = []
        var problems: [ManifestProblem] = []
        do throws(ManifestProblem) {
            guard let folder = try openFolder() else { return (AppManifests(), []) }
            defer { close(folder) }
            for name in try names(in: folder) {
                do throws(ManifestProblem) {
                    manifests.append(try manifest(name, in: folder))
                } catch {
                    problems.append(error)
                }
            }
        } catch {
            return (AppManifests(), [error])
        }
        problems += Self.disputes(manifests, path)
        return (AppManifests(manifests), problems)
    }

    /// A path that two name names neither: ``AppManifests``.
    private static func disputes(_ manifests: [AppManifest], _ folder: String) -> [ManifestProblem] {
        var first: [String: String] = [:]
        var problems: [ManifestProblem] = []
        for manifest in manifests {
            for path in manifest.executables {
                guard let other = first[path] else {
                    first[path] = manifest.app
                    continue
                }
                problems.append(
                    ManifestProblem(
                        file: "\(folder)/\(manifest.app).toml", key: "app.executables",
                        reason: "\(path) is \(other)'s too, so that it names neither"))
            }
        }
        return problems
    }

    private func openFolder() throws(ManifestProblem) -> CInt? {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard folder >= 0 else {
            guard errno != ENOENT else { return nil }
            throw ManifestProblem(file: path, reason: "the folder cannot be opened: \(Self.lastError)")
        }
        do throws(ManifestProblem) {
            try check(folder, S_IFDIR, path)
        } catch {
            close(folder)
            throw error
        }
        return folder
    }

    /// Sorted by bytes. A name that begins with a dot is an installer's, half written.
    private func names(in folder: CInt) throws(ManifestProblem) -> [String] {
        // The stream takes its descriptor along when it closes.
        let copy = fcntl(folder, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0, let stream = fdopendir(copy) else {
            if copy >= 0 { close(copy) }
            throw ManifestProblem(file: path, reason: "the folder cannot be listed: \(Self.lastError)")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".toml"), !name.hasPrefix(".") { names.append(name) }
        }
        guard names.count <= Self.maximumFiles else {
            throw ManifestProblem(file: path, reason: "more than \(Self.maximumFiles) files")
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func manifest(_ name: String, in folder: CInt) throws(ManifestProblem) -> AppManifest {
        let file = path + "/" + name
        // Without waiting, so that a FIFO of that name does not stop the broker.
        let descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw ManifestProblem(
                file: file,
                reason: errno == ELOOP
                    ? "a symbolic link; put the file itself there" : "cannot be opened: \(Self.lastError)")
        }
        defer { close(descriptor) }
        try check(descriptor, S_IFREG, file)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: Self.maximumSize + 1)
        while bytes.count <= Self.maximumSize {
            let count = Glibc.read(descriptor, &buffer, Self.maximumSize + 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ManifestProblem(file: file, reason: "cannot be read: \(Self.lastError)")
            }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        guard bytes.count <= Self.maximumSize else {
            throw ManifestProblem(file: file, reason: "longer than \(Self.maximumSize) bytes")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ManifestProblem(file: file, reason: "not UTF-8")
        }
        return try ManifestReader.read(text, file: file, id: String(name.dropLast(".toml".count)))
    }

    private func check(_ descriptor: CInt, _ kind: mode_t, _ path: String) throws(ManifestProblem) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw ManifestProblem(file: path, reason: "cannot be looked at: \(Self.lastError)")
        }
        guard status.st_mode & S_IFMT == kind else {
            throw ManifestProblem(file: path, reason: kind == S_IFDIR ? "no folder" : "no regular file")
        }
        guard status.st_uid == 0 else {
            throw ManifestProblem(file: path, reason: "belongs to user \(status.st_uid); it must be root's")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw ManifestProblem(file: path, reason: "others can write to it: chmod go-w")
        }
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}
