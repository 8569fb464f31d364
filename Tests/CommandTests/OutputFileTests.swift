import BrokerCommandOutput
import BrokerModel
import Glibc
import Testing

@Suite("Files that commands write")
struct OutputFileTests {
    private static let isRoot = geteuid() == 0
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    private func text(_ name: String) -> String? {
        guard let file = fopen(path(name), "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    private func write(_ name: String, followsLink: Bool = true) throws(CommandFailure) {
        do {
            let file = try OutputFile(at: path(name), to: "write", followsLink: followsLink)
            try file.write(Array("new".utf8))
            try file.finish()
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            Issue.record(error)
        }
    }

    /// A folder such as `/tmp`, with a link in it that another user made.
    private func link(to target: String, owner: uid_t) throws {
        if !folder.has("tmp") { try #require(mkdir(path("tmp"), 0o1777) == 0 && chmod(path("tmp"), 0o1777) == 0) }
        try #require(symlink(target, path("tmp/link")) == 0 && lchown(path("tmp/link"), owner, owner) == 0)
    }

    @Test("A killed backup leaves nothing, whenever it is killed")
    func killed() throws {
        let (arrived, released) = (try pipe(), try pipe())
        defer { for each in arrived + released { close(each) } }
        let broker = try ScriptedBroker { method, _ in
            var byte: UInt8 = 0
            Glibc.write(arrived[1], &byte, 1)
            read(released[0], &byte, 1)
            return .hangUp
        }
        let program = try RunningProgram("contactctl", ["backup", "--plain", path("book")], runtime: broker.folder)
        var byte: UInt8 = 0
        // The contact broker was asked for the book, so the file is open.
        try #require(read(arrived[0], &byte, 1) == 1)
        program.signal(SIGKILL)
        #expect(try program.finish().signal == SIGKILL)
        #expect(folder.names == [])
        Glibc.write(released[1], &byte, 1)
    }

    @Test("A file is new, replaced, or left as it was, and nothing stays beside it")
    func whole() throws {
        for _ in 0..<2 {
            try write("file")
            #expect(text("file") == "new" && folder.names == ["file"])
        }
        try folder.write("old", to: "file")
        do {
            let file = try OutputFile(at: path("file"), to: "write")
            try file.write(Array("half".utf8))
        }
        #expect(text("file") == "old" && folder.names == ["file"])
        var status = stat()
        try write("file")
        #expect(stat(path("file"), &status) == 0 && status.st_mode & 0o7777 == 0o600)
    }

    @Test("Another user's link is refused, as the file or as a folder on the way", .enabled(if: isRoot, "needs root"))
    func linkOfAnother() throws {
        try #require(mkdir(path("own"), 0o700) == 0)
        try folder.write("mine", to: "own/file")
        for (target, name) in [
            (path("own/file"), "tmp/link"), (path("own"), "tmp/link/file"), ("../own", "tmp/link/file"),
            (path("own/none"), "tmp/link"), ("link", "tmp/link"),
        ] {
            try link(to: target, owner: 65_534)
            for followsLink in name == "tmp/link" ? [true] : [true, false] {
                #expect(throws: (any Error).self, "\(name)") { try write(name, followsLink: followsLink) }
            }
            do throws(CommandFailure) {
                try write(name)
            } catch {
                #expect(error.message.hasSuffix("another user made the symbolic link link"), "\(error)")
            }
            #expect(text("own/file") == "mine")
            #expect(folder.names == ["own", "tmp"])
            try #require(unlink(path("tmp/link")) == 0)
        }
        // A link that appears later is replaced, not followed.
        let file = try OutputFile(at: path("tmp/link"), to: "write")
        try link(to: path("own/file"), owner: 65_534)
        try file.finish()
        #expect(text("own/file") == "mine" && text("tmp/link")?.isEmpty == true)
    }

    @Test("The user's own link stays, and what it leads to is written, even if it does not exist yet")
    func ownLink() throws {
        try #require(mkdir(path("own"), 0o700) == 0)
        for (target, name) in [
            (path("own/file"), "tmp/link"), ("../own/file", "tmp/link"), (path("own"), "tmp/link/file"),
        ] {
            for before in [String?.none, "old"] {
                unlink(path("own/file"))
                if let before { try folder.write(before, to: "own/file") }
                try link(to: target, owner: geteuid())
                try write(name)
                #expect(text("own/file") == "new")
                var status = stat()
                #expect(lstat(path("tmp/link"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
                try #require(unlink(path("tmp/link")) == 0)
            }
        }
        try link(to: path("own/file"), owner: geteuid())
        #expect(throws: CommandFailure.self) { try write("tmp/link", followsLink: false) }
        #expect(throws: CommandFailure.self) { try write("own") }
        #expect(throws: CommandFailure.self) { try write("none/file") }
        #expect(throws: CommandFailure.self) { try write("own/file/file") }
        try #require(unlink(path("tmp/link")) == 0)
        try link(to: "link", owner: geteuid())
        #expect(throws: CommandFailure.self) { try write("tmp/link") }
    }

    @Test(
        "A file is synced before it gets its name, and its folder afterwards",
        arguments: [["report", "--html"], ["metrics", "--file"], ["backup", "--plain"]], [false, true])
    func synced(command: [String], exists: Bool) throws {
        let backup = #"{"lines":[{"backup":{"user":"ada"}},{"end":{"damaged":0}}],"code":"x"}"#
        let broker = try ScriptedBroker { method, _ in
            switch method {
            case "QueryAudit": .reply(#"{"records":[]}"#)
            case "BackUp": .reply(backup)
            default: .reply(#"{"text":"x 1\n","metrics":"x 1\n"}"#)
            }
        }
        if exists { try folder.write("old", to: "file") }
        let trace = broker.folder + "/trace"
        defer { unlink(trace) }
        let outcome = try RunningProgram(
            "/usr/bin/strace",
            ["-o", trace, "-e", "trace=fsync,fdatasync,linkat,rename,renameat,renameat2"]
                + [RunningProgram.folder() + "/contactctl"] + command + [path("file")], runtime: broker.folder
        ).finish()
        #expect(outcome.code == 0, "\(outcome.error)")
        var text = [UInt8](repeating: 0, count: 65_536)
        let file = try #require(fopen(trace, "re"))
        defer { fclose(file) }
        let count = fread(&text, 1, text.count, file)
        let calls = String(decoding: text[..<count], as: UTF8.self).split(separator: "\n")
            .filter { $0.hasSuffix("= 0") }.map { String($0.prefix { $0 != "(" }) }
        #expect(calls == ["fsync", "linkat"] + (exists ? ["renameat"] : []) + ["fsync"])
        #expect(folder.names == ["file"])
    }
}
