import BrokerAccessControl
import BrokerBounds
import BrokerTrustedFiles
import Glibc
import Testing

@testable import BrokerPolicy

/// A temporary folder, which is removed with all that is in it.
private final class DraftFolder {
    let path: String
    private var made: [String] = []

    init() throws {
        var template = Array("/tmp/draft.XXXXXX".utf8CString)
        let isMade = mkdtemp(&template) != nil
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try #require(isMade)
    }

    deinit {
        for each in made.reversed() { remove(each) }
        rmdir(path)
    }

    /// Returns the path of a new entry.
    func entry(_ name: String) -> String {
        made.append(path + "/" + name)
        return path + "/" + name
    }

    func folder(_ name: String) throws -> String {
        let path = entry(name)
        try #require(mkdir(path, 0o755) == 0)
        return path
    }

    func write(_ text: String, to name: String, mode: mode_t = 0o644) throws -> String {
        let path = entry(name)
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
        try #require(chmod(path, mode) == 0)
        return path
    }
}

@Suite("Policy files that an administrator names")
struct PolicyDraftTests {
    private static let rule = "[[rule]]\nforbid_prompting = true\n"

    private func refusal(_ path: String) -> String? {
        do throws(TrustedFileError) {
            let draft = try PolicyDraft(path)
            return draft?.unreadable.first?.description
        } catch {
            return error.description
        }
    }

    @Test("A file, a folder of files, and a folder with policy.d are read")
    func places() throws {
        let folder = try DraftFolder()
        let configuration = try folder.folder("contactbroker")
        let policy = try folder.folder("contactbroker/policy.d")
        let second = try folder.write(Self.rule, to: "contactbroker/policy.d/20.toml")
        let first = try folder.write("", to: "contactbroker/policy.d/10.toml")
        _ = try folder.write("not a policy", to: "contactbroker/policy.d/notes.txt")
        #expect(try PolicyDraft(second)?.texts == [PolicyText(file: second, text: Self.rule)])
        #expect(try PolicyDraft(policy)?.texts.map(\.file) == [first, second])
        #expect(try PolicyDraft(configuration)?.texts.map(\.file) == [first, second])
        _ = try folder.write("[limits]\nx = 1\n", to: "contactbroker/contactbroker.toml")
        #expect(refusal(configuration)?.hasPrefix(configuration + "/contactbroker.toml:2: limits.x: ") == true)
        #expect(refusal(policy) == nil)
        #expect(try PolicyDraft(folder.path + "/nothing") == nil)
    }

    @Test("A symbolic link, a FIFO, a device and a file that others can write are refused, alone and in a folder")
    func irregular() throws {
        let folder = try DraftFolder()
        let real = try folder.write(Self.rule, to: "real.txt")
        for (name, reason) in [
            ("link.toml", "is a symbolic link"), ("fifo.toml", "not a regular file"),
            ("open.toml", "others can write to it"),
            ("folder.toml", "not a regular file"),
        ] {
            let policy = try folder.folder("of-" + name)
            let path = folder.entry("of-\(name)/\(name)")
            switch name {
            case "link.toml": try #require(symlink(real, path) == 0)
            case "fifo.toml": try #require(mkfifo(path, 0o644) == 0)
            case "folder.toml": try #require(mkdir(path, 0o755) == 0)
            default: _ = try folder.write(Self.rule, to: "of-\(name)/\(name)", mode: 0o666)
            }
            #expect(
                refusal(policy)?.hasPrefix("\(path): \(reason)") == true, "\(name): \(refusal(policy) ?? "accepted")")
            if name != "folder.toml" { #expect(refusal(path)?.hasPrefix("\(path): \(reason)") == true) }
        }
        #expect(refusal("/dev/null") == "/dev/null: not a regular file")
        let link = folder.entry("link")
        try #require(symlink(folder.path + "/of-link.toml", link) == 0)
        #expect(refusal(link)?.contains("is a symbolic link") == true)
    }

    @Test("A file of another user is refused", .enabled(if: getuid() == 0, "only root can give files away"))
    func foreign() throws {
        let folder = try DraftFolder()
        let path = try folder.write(Self.rule, to: "a.toml")
        try #require(chown(path, 65_534, 65_534) == 0)
        #expect(refusal(path)?.contains("belongs to user 65534, who could decide every app's access") == true)
        #expect(refusal(folder.path)?.contains("belongs to user 65534") == true)
    }

    @Test("A file alone is accepted in a folder that others can write, and a folder is not")
    func sharedFolder() throws {
        let folder = try DraftFolder()
        let path = try folder.write(Self.rule, to: "a.toml")
        try #require(chmod(folder.path, 0o777) == 0)
        #expect(refusal(path) == nil)
        #expect(refusal(folder.path) == "\(folder.path): others can write to it: chmod go-w")
    }

    @Test("A file that is too long, or not UTF-8, is refused")
    func contents() throws {
        let folder = try DraftFolder()
        let long = try folder.write(String(repeating: "#", count: FileLimits.policyFile + 1), to: "long.toml")
        #expect(refusal(long) == "\(long): longer than 1048576 bytes")
        let path = folder.entry("latin.toml")
        let file = try #require(fopen(path, "w"))
        fputc(0xE9, file)
        fclose(file)
        #expect(refusal(path) == "\(path): not UTF-8")
    }
}
