import BrokerInterface
import BrokerLedger
import BrokerPeerIdentity
import Glibc

/// Checks whether the person may declare a folder. It reads files, so it does not run on the event loop.
enum FolderInspection {
    /// - Parameters:
    ///   - path: an absolute path, or one that begins with `~/`. Links in it are resolved.
    ///   - uid: the user, who must own the folder.
    static func inspect(_ path: String, for uid: UInt32) throws(FolderProblem) -> FoundFolder {
        let home = home(of: uid)
        var path = path
        if path == "~" || path.hasPrefix("~/") {
            guard let home else { throw .notAbsolute }
            path = home + path.dropFirst()
        }
        guard path.hasPrefix("/") else { throw .notAbsolute }
        guard let real = canonical(path) else { throw .notFound }
        // The root has no name in a chain.
        guard real != "/" else { throw .tooWide }
        guard isFolder(real) else { throw .notAFolder }
        guard let chain = FolderChain(folder: real), let folder = chain.folders.last else { throw .unsupported }
        guard let homeFolder = home.flatMap(canonical).flatMap(FolderChain.init(folder:)) else { throw .tooWide }
        guard !homeFolder.folders.contains(where: { $0.path == real || $0.identity == folder.identity }) else {
            throw .tooWide
        }
        guard folder.owner == uid else { throw .notOwned }
        guard !folder.isSharedForWriting else { throw .writableByOthers }
        guard let identity = folder.identity, folder.isOnMountOfFile else { throw .unsupported }
        return FoundFolder(path: real, identity: identity)
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func canonical(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(validatingCString: found)
    }

    /// The home folder of a user in the user database. An environment variable does not count.
    private static func home(of uid: UInt32) -> String? {
        userEntry(of: uid) { $0.pw_dir.flatMap { String(validatingCString: $0) } }
    }
}
