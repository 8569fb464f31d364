import BrokerAccessControl
import BrokerBounds
import BrokerTrustedFiles
import Glibc
import Testing

@testable import BrokerPolicy

/// A temporary configuration folder.
private final class Scratch {
    let path: String
    var policy: String { path + "/policy.d" }
    var folder: PolicyFolder { PolicyFolder(configuration: path) }
    private var written: Set<String> = []

    init() throws {
        var template = Array("/tmp/policy.XXXXXX".utf8CString)
        let made = mkdtemp(&template) != nil
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let hasFolder = made && mkdir(policy, 0o700) == 0
        try #require(hasFolder)
    }

    deinit {
        for name in written { unlink(policy + "/" + name) }
        rmdir(policy)
        rmdir(path)
    }

    func write(_ text: String, to name: String, mode: mode_t = 0o600) throws {
        try write(Array(text.utf8), to: name, mode: mode)
    }

    func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o600) throws {
        written.insert(name)
        let file = open(policy + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let isWritten =
            file >= 0 && Glibc.write(file, bytes, bytes.count) == bytes.count && fchmod(file, mode) == 0
            && close(file) == 0
        try #require(isWritten)
    }

    var refusal: TrustedFileError? {
        do throws(TrustedFileError) {
            _ = try folder.read()
            return nil
        } catch {
            return error
        }
    }
}

private let rule = "[[rule]]\nforbid_prompting = true\n"

@Suite("The policy folder")
struct PolicyFolderTests {
    @Test("Without a folder or files there are no rules")
    func nothing() throws {
        let scratch = try Scratch()
        #expect(try scratch.folder.read() == Policy())
        #expect(try PolicyFolder(configuration: scratch.path + "/nowhere").read() == Policy())
    }

    @Test("All *.toml files are read in the order of their names, except editors' files")
    func order() throws {
        let scratch = try Scratch()
        for name in ["b.toml", "a.toml", "B.toml", "10.toml", "c.toml~", ".d.toml", "e.txt"] {
            try scratch.write(rule, to: name)
        }
        let places = try scratch.folder.read().rules.map(\.place)
        #expect(places == ["10", "B", "a", "b"].map { scratch.policy + "/\($0).toml:1" })
    }

    @Test("If files set different values, the stricter one applies")
    func strictest() throws {
        let scratch = try Scratch()
        try scratch.write("[agent]\nwithout_authentication = \"refuse\"\n", to: "a.toml")
        try scratch.write("[agent]\nwithout_authentication = \"allow\"\n[audit]\ndurable = true\n", to: "b.toml")
        try scratch.write("[audit]\ndurable = false\n", to: "c.toml")
        let policy = try scratch.folder.read()
        #expect(policy.withoutAuthentication == .refuse)
        #expect(policy.isAuditDurable)
        try scratch.write("", to: "a.toml")
        #expect(try scratch.folder.read().withoutAuthentication == .allow)
    }

    @Test("A file that others can write to is refused", arguments: [0o620, 0o602, 0o666, 0o777] as [mode_t])
    func writable(mode: mode_t) throws {
        let scratch = try Scratch()
        try scratch.write(rule, to: "a.toml", mode: mode)
        #expect(scratch.refusal?.file == scratch.policy + "/a.toml")
        #expect(scratch.refusal?.reason.contains("others can write") == true)
        #expect(scratch.folder.policy().problem?.reason == scratch.refusal?.description)
    }

    @Test("A file that others can read is accepted", arguments: [0o600, 0o640, 0o644, 0o444] as [mode_t])
    func readable(mode: mode_t) throws {
        let scratch = try Scratch()
        try scratch.write(rule, to: "a.toml", mode: mode)
        #expect(try scratch.folder.read().rules.count == 1)
    }

    @Test("A folder that others can write to is refused, empty or not", arguments: [true, false])
    func writableFolder(inner: Bool) throws {
        let scratch = try Scratch()
        let path = inner ? scratch.policy : scratch.path
        chmod(path, 0o770)
        #expect(scratch.refusal?.file == path)
        chmod(path, 0o755)
        #expect(scratch.refusal == nil)
    }

    @Test("A file of another user is refused", .enabled(if: getuid() == 0, "only root can give files away"))
    func foreign() throws {
        let scratch = try Scratch()
        try scratch.write(rule, to: "a.toml")
        chown(scratch.policy + "/a.toml", 65_534, 65_534)
        #expect(scratch.refusal?.reason.contains("belongs to user 65534") == true)
        chown(scratch.policy + "/a.toml", 0, 0)
        chown(scratch.policy, 65_534, 65_534)
        #expect(scratch.refusal?.file == scratch.policy)
        chown(scratch.policy, 0, 0)
        #expect(scratch.refusal == nil)
    }

    @Test("A link, a FIFO or a folder instead of a file refuses every app, and does not block")
    func notFiles() throws {
        let scratch = try Scratch()
        try scratch.write(rule, to: "a.txt")
        let path = scratch.policy + "/b.toml"
        symlink("a.txt", path)
        #expect(scratch.refusal?.reason.contains("symbolic link") == true)
        unlink(path)
        mkfifo(path, 0o600)
        #expect(scratch.refusal?.reason == "not a regular file")
        unlink(path)
        mkdir(path, 0o700)
        #expect(scratch.refusal?.reason == "not a regular file")
        rmdir(path)
        #expect(scratch.refusal == nil)
    }

    @Test("A file may have the maximum length and no more, and must be UTF-8")
    func sizes() throws {
        let scratch = try Scratch()
        let longest = String(repeating: "#", count: FileLimits.policyFile - 1) + "\n"
        try scratch.write(longest, to: "a.toml")
        #expect(scratch.refusal == nil)
        try scratch.write("#" + longest, to: "a.toml")
        #expect(scratch.refusal?.reason.contains("longer than") == true)
        try scratch.write([0x23, 0xFF], to: "a.toml")
        #expect(scratch.refusal?.reason == "not UTF-8")
    }

    @Test("An error names file, line and key")
    func errors() throws {
        let scratch = try Scratch()
        try scratch.write(rule, to: "a.toml")
        try scratch.write("[[rule]]\n\nlevel = 1\n", to: "b.toml")
        #expect("\(try #require(scratch.refusal))".hasPrefix("\(scratch.policy)/b.toml:3: rule[0].level: no such key"))
    }

    // MARK: What is shipped

    private static func shipped(from file: String = #filePath) throws -> String {
        let root = file.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        let descriptor = open(root + "/policy/policy.d/00-default.toml", O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &bytes, bytes.count)
        try #require(count > 0 && count < bytes.count)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    @Test("The shipped policy is valid, and leaves all decisions to the person")
    func shippedDefault() throws {
        let scratch = try Scratch()
        try scratch.write(Self.shipped(), to: "00-default.toml", mode: 0o644)
        var shipped = try scratch.folder.read()
        #expect(shipped.digest?.count == 64)
        shipped.digest = nil
        #expect(shipped == Policy())
    }

    @Test("The digest changes with texts, names and files")
    func digests() throws {
        let scratch = try Scratch()
        #expect(try scratch.folder.read().digest == nil)
        var digests: Set<String?> = []
        for (text, name) in [(rule, "a.toml"), (rule + "#", "a.toml"), (rule, "b.toml")] {
            try scratch.write(text, to: name)
            digests.insert(try scratch.folder.read().digest)
        }
        #expect(digests.count == 3)
        #expect(try scratch.folder.read().digest == scratch.folder.read().digest)
    }

    @Test("The shipped examples are valid when uncommented")
    func shippedExamples() throws {
        // An example begins with its table after "# ", and ends with the first empty line.
        let starts = ["[[rule]]", "[agent]", "[audit]"]
        var text = ""
        var isExample = false
        for line in try Self.shipped().split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.hasPrefix("# ") ? String(line.dropFirst(2)) : ""
            isExample = starts.contains(words) || isExample && !words.isEmpty
            if isExample { text += words + "\n" }
        }
        let reader = PolicyReader.read([PolicyText(file: "examples", text: text)])
        #expect(reader.problems.isEmpty)
        let policy = reader.policy
        #expect(policy.rules.count == 2)
        #expect(policy.rules.first?.forcedLevel == .full)
        #expect(policy.rules.last?.strengths == [.unverified])
        #expect(policy.withoutAuthentication == .refuse)
        #expect(policy.isAuditDurable)
    }
}
