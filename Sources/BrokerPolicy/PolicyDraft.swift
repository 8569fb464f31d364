import BrokerAccessControl
import BrokerTrustedFiles
import Glibc

/// Policy files that an administrator names, in force or not.
public struct PolicyDraft: Hashable, Sendable {
    /// The files that can be read.
    public let texts: [PolicyText]
    /// The problems of the others, and of the settings next to `policy.d`.
    public let unreadable: [TrustedFileError]
    /// The paths of the files next to them that nothing reads.
    public let unread: [String]

    /// The configuration of the system's broker, whose files must belong to root.
    static let systemConfiguration = "/etc/contactbroker"

    /// Reads a policy file, a folder of policy files, or a folder that contains `policy.d`.
    ///
    /// The conditions are those of the broker: no symbolic link, a regular file, an owner who may decide, and nobody
    /// else who may write. The owner of a file outside of the system's configuration may be the user of this process.
    /// A file that is named alone may be in any folder, such as /tmp.
    ///
    /// - Returns: `nil` if there is no such file or folder.
    public init?(_ path: String) throws(TrustedFileError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno != ENOENT else { return nil }
            throw TrustedFileError(file: path, reason: "cannot be inspected: \(String(cString: strerror(errno)))")
        }
        let owner = Self.owner(of: path)
        let terms = PolicyFolder.terms(owner: owner)
        guard status.st_mode & S_IFMT == S_IFDIR else {
            texts = [PolicyText(file: path, text: try TrustedFolder.text(ofFile: path, terms))]
            (unreadable, unread) = ([], [])
            return
        }
        guard let folder = try TrustedFolder.open(path, terms) else { return nil }
        guard folder.contains("policy.d") else {
            (texts, unreadable) = try PolicyFolder.texts(in: folder)
            unread = try folder.unread()
            return
        }
        let configuration = PolicyFolder(configuration: path, owner: owner)
        let (texts, problems) = try configuration.texts()
        unread = configuration.unread()
        (self.texts, unreadable) = (texts, (configuration.settings().problem.map { [$0] } ?? []) + problems)
    }

    private static func owner(of path: String) -> uid_t {
        guard let real = realpath(path, nil) else { return 0 }
        defer { free(real) }
        let place = String(cString: real)
        return place == systemConfiguration || place.hasPrefix(systemConfiguration + "/") ? 0 : geteuid()
    }
}
