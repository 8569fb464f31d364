import BrokerAccessControl
import BrokerTrustedFiles
import CBrokerCrypto
import Glibc

/// The administrator's files: `CONFIG/policy.d/*.toml` and `CONFIG/contactbroker.toml`.
///
/// Folders and files must belong to ``owner`` or to root, and nobody else may write to them, because the
/// policy decides every app's access.
public struct PolicyFolder: Hashable, Sendable {
    /// The folder that contains `policy.d`.
    public let configuration: String
    public var path: String { configuration + "/policy.d" }
    /// The permitted owner, in addition to root.
    public let owner: uid_t

    /// Maximum size of one file, in bytes.
    static let maximumSize = 1_048_576

    public init(configuration: String, owner: uid_t = geteuid()) {
        self.configuration = configuration
        self.owner = owner
    }

    private func open() throws(TrustedFileError) -> TrustedFolder? {
        try TrustedFolder.open(
            configuration,
            TrustedFolder.Terms(
                owner: owner, mischief: ", who could decide every app's access", maximumSize: Self.maximumSize,
                maximumFiles: 256))
    }

    /// Returns the policy from the files or, if they cannot be read, a policy that refuses every app.
    public func policy() -> Policy {
        do throws(TrustedFileError) {
            return try read()
        } catch {
            return Policy(unreadable: Policy.Problem(.policy, "\(error)"))
        }
    }

    /// Returns the policy with the rules of all files, in the order of the files' names. If there is no folder,
    /// there are no rules.
    public func read() throws(TrustedFileError) -> Policy {
        let (policy, problems) = try readFiles()
        if let first = problems.first { throw first }
        return policy
    }

    /// Returns the rules that were read, and the first problem in each file that has one. Use the policy only if
    /// there are no problems.
    private func readFiles() throws(TrustedFileError) -> (policy: Policy, problems: [TrustedFileError]) {
        guard let configuration = try open(), let folder = try configuration.folder("policy.d") else {
            return (Policy(), [])
        }
        var policy = Policy()
        var read: [UInt8] = []
        let problems = try folder.readFiles { name, file, text throws(TrustedFileError) in
            try PolicyReader.read(text, file: file, into: &policy)
            read += Array(name.utf8) + [0] + Array(text.utf8) + [0]
        }
        if !read.isEmpty { policy.digest = Self.digest(read) }
        return (policy, problems)
    }

    /// Returns the problems that the broker would find if it started now: the first one in each file.
    public func problems() -> [Policy.Problem] {
        let settings = settings().problem
        var problems: [TrustedFileError]
        do throws(TrustedFileError) {
            problems = try readFiles().problems
        } catch {
            problems = [error]
        }
        // The settings and the policy share a folder. A problem with the folder is reported once.
        problems.removeAll { $0 == settings }
        return (settings.map { [Policy.Problem(.settings, "\($0)")] } ?? [])
            + problems.map { Policy.Problem(.policy, "\($0)") }
    }

    /// Returns the broker's settings from the file; strict settings if it cannot be read.
    public func settings() -> Settings {
        do throws(TrustedFileError) {
            return try readSettings()
        } catch {
            return Settings(unreadable: error)
        }
    }

    /// Returns the broker's settings; the defaults if there is no file.
    public func readSettings() throws(TrustedFileError) -> Settings {
        guard let folder = try open(), folder.contains(Settings.fileName) else { return Settings() }
        return try Settings(folder.text(of: Settings.fileName), file: configuration + "/" + Settings.fileName)
    }

    private static func digest(_ bytes: [UInt8]) -> String? {
        var digest = [UInt8](repeating: 0, count: Int(CCRYPTO_SHA256_SIZE))
        guard ccrypto_sha256(bytes, bytes.count, &digest) == 1 else { return nil }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
