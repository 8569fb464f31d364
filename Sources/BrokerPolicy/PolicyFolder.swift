import BrokerAccessControl
import BrokerBounds
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

    public init(configuration: String, owner: uid_t = geteuid()) {
        self.configuration = configuration
        self.owner = owner
    }

    /// The conditions for files that control the broker.
    static func terms(owner: uid_t) -> TrustedFolder.Terms {
        TrustedFolder.Terms(
            owner: owner, mischief: ", who could decide every app's access", maximumSize: FileLimits.policyFile,
            maximumFiles: FileLimits.policyFiles)
    }

    private func open() throws(TrustedFileError) -> TrustedFolder? {
        try TrustedFolder.open(configuration, Self.terms(owner: owner))
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
    public func read(groups: UserGroups = .ofMachine) throws(TrustedFileError) -> Policy {
        let (texts, problems) = try texts()
        let reader = PolicyReader.read(texts, groups: groups)
        if let first = problems.first ?? reader.problems.first { throw first }
        var policy = reader.policy
        policy.digest = Self.digest(of: texts)
        policy.unread = unread()
        return policy
    }

    /// Returns ``Policy/digest`` of the files as they are now; a text that is no digest if they cannot be read.
    public func digest() -> String? {
        guard let (texts, problems) = try? self.texts(), problems.isEmpty else { return "unreadable" }
        return Self.digest(of: texts)
    }

    /// Returns the paths of the entries of `policy.d` that nothing reads.
    public func unread() -> [String] {
        do throws(TrustedFileError) {
            guard let configuration = try open(), let folder = try configuration.folder("policy.d") else { return [] }
            return try folder.unread()
        } catch {
            return []
        }
    }

    /// Returns the texts of the policy files, and the problems of the files that cannot be read. Without a folder there
    /// are neither.
    func texts() throws(TrustedFileError) -> (texts: [PolicyText], problems: [TrustedFileError]) {
        guard let configuration = try open(), let folder = try configuration.folder("policy.d") else { return ([], []) }
        return try Self.texts(in: folder)
    }

    static func texts(
        in folder: borrowing TrustedFolder
    ) throws(TrustedFileError) -> (texts: [PolicyText], problems: [TrustedFileError]) {
        var texts: [PolicyText] = []
        let problems = try folder.readFiles { _, file, text throws(TrustedFileError) in
            texts.append(PolicyText(file: file, text: text))
        }
        return (texts, problems)
    }

    /// Returns the problems that the broker would find if it started now.
    public func problems() -> [Policy.Problem] {
        let settings = settings().problem
        var problems: [TrustedFileError]
        do throws(TrustedFileError) {
            let (texts, unreadable) = try texts()
            problems = unreadable + PolicyReader.read(texts, groups: .ofMachine).problems
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

    /// The file's name without its folder.
    private static func name(of text: PolicyText) -> Substring {
        text.file.lastIndex(of: "/").map { text.file[text.file.index(after: $0)...] } ?? text.file[...]
    }

    private static func digest(of texts: [PolicyText]) -> String? {
        guard !texts.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for text in texts { bytes += Array(name(of: text).utf8) + [0] + Array(text.text.utf8) + [0] }
        var digest = [UInt8](repeating: 0, count: Int(CCRYPTO_SHA256_SIZE))
        guard ccrypto_sha256(bytes, bytes.count, &digest) == 1 else { return nil }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
