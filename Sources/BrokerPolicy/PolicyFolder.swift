import CBrokerCrypto
import Glibc

/// The folder of the administrator's files, `CONFIG/policy.d/*.toml` and `CONFIG/contactbroker.toml`.
///
/// Folders and files must belong to ``owner`` or to root, and nobody else may write to them: who can write a policy decides
/// what every app gets.
public struct PolicyFolder: Hashable, Sendable {
    /// The folder that holds `policy.d`.
    public let configuration: String
    public var path: String { configuration + "/policy.d" }
    /// Whose it may be beside root.
    public let owner: uid_t

    /// One file, in bytes.
    static let maximumSize = 1_048_576
    static let maximumFiles = 256

    public init(configuration: String, owner: uid_t = geteuid()) {
        self.configuration = configuration
        self.owner = owner
    }

    private var files: TrustedFiles {
        TrustedFiles(
            owner: owner, mischief: ", who would decide what every app gets", maximumSize: Self.maximumSize,
            maximumFiles: Self.maximumFiles)
    }

    /// What holds: the files' rules, or that nobody gets anything because they cannot be read.
    public func policy() -> Policy {
        do throws(PolicyError) {
            return try read()
        } catch {
            return Policy(unreadable: .policy(error))
        }
    }

    /// The rules of all files, in the order of the files' names. No folder is no rules.
    public func read() throws(PolicyError) -> Policy {
        let (policy, problems) = try readFiles()
        if let first = problems.first { throw first }
        return policy
    }

    /// The rules of the files that can be read, and the first problem of each of the others.
    private func readFiles() throws(PolicyError) -> (policy: Policy, problems: [PolicyError]) {
        guard let configuration = try files.folder(configuration) else { return (Policy(), []) }
        defer { close(configuration) }
        guard let folder = try files.folder("policy.d", in: configuration, path: path) else { return (Policy(), []) }
        defer { close(folder) }
        var policy = Policy()
        var problems: [PolicyError] = []
        var read: [UInt8] = []
        for name in try files.names(in: folder, path) {
            let file = path + "/" + name
            do throws(PolicyError) {
                let text = try files.text(of: name, in: folder, file)
                policy = policy.joined(with: try PolicyReader.read(text, file: file))
                read += Array(name.utf8) + [0] + Array(text.utf8) + [0]
            } catch {
                problems.append(error)
            }
        }
        if !read.isEmpty { policy.digest = Self.digest(read) }
        return (policy, problems)
    }

    /// What a broker that starts now could not read: the first problem of each file.
    public func problems() -> [Policy.Problem] {
        let settings = settings().problem
        var problems: [PolicyError]
        do throws(PolicyError) {
            problems = try readFiles().problems
        } catch {
            problems = [error]
        }
        // The folder of both is one problem.
        problems.removeAll { $0 == settings }
        return (settings.map { [.settings($0)] } ?? []) + problems.map { .policy($0) }
    }

    /// How the broker is to run: what the file says, or the strictest settings because it cannot be read.
    public func settings() -> Settings {
        do throws(PolicyError) {
            return try readSettings()
        } catch {
            return Settings(unreadable: error)
        }
    }

    /// How the broker is to run. No file is as if nothing were said in it.
    public func readSettings() throws(PolicyError) -> Settings {
        guard let configuration = try files.folder(configuration) else {
            return Settings()
        }
        defer { close(configuration) }
        var status = stat()
        guard fstatat(configuration, Settings.fileName, &status, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT else {
            return Settings()
        }
        let file = self.configuration + "/" + Settings.fileName
        return try Settings(files.text(of: Settings.fileName, in: configuration, file), file: file)
    }

    private static func digest(_ bytes: [UInt8]) -> String? {
        var digest = [UInt8](repeating: 0, count: Int(CCRYPTO_SHA256_SIZE))
        guard ccrypto_sha256(bytes, bytes.count, &digest) == 1 else { return nil }
        let digits = Array("0123456789abcdef")
        return digest.reduce(into: "") {
            $0.append(digits[Int($1 >> 4)])
            $0.append(digits[Int($1 & 15)])
        }
    }
}
