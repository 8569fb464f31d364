import Glibc
import Testing

/// A file of contactbook after a kill, a power cut or another program.
enum FileState: CaseIterable, CustomTestStringConvertible {
    case empty, torn, overwritten, ofAnotherVersion, link, folder

    var testDescription: String { "\(self)" }

    func make(of path: String) throws {
        let bytes = DaemonFixture.bytes(of: path) ?? []
        switch self {
        case .empty: try DaemonFixture.write([], to: path)
        case .torn: try DaemonFixture.write(Array(bytes.prefix((bytes.firstIndex(of: 10) ?? 40) / 2)), to: path)
        case .overwritten: try DaemonFixture.write(Array(repeating: 0, count: bytes.count), to: path)
        case .ofAnotherVersion: try DaemonFixture.write(Array("{\"version\":2}\n".utf8) + bytes, to: path)
        case .link:
            rename(path, path + ".away")
            symlink(path + ".away", path)
        case .folder:
            unlink(path)
            mkdir(path, 0o700)
        }
    }
}

@Suite("The files that contactbook writes, as a kill, a power cut or another user leaves them")
struct OwnFilesTests {
    // MARK: The undo journal

    private func steps(_ fixture: DaemonFixture) -> [String] {
        DaemonFixture.paths(below: fixture.folder + "/own-state/contactbook/undo").sorted()
    }

    private func addTwo(_ fixture: DaemonFixture) throws -> String {
        _ = try fixture.contactbook("add", "--given", "Ada")
        _ = try fixture.contactbook("add", "--given", "Grace")
        return try #require(steps(fixture).last)
    }

    private func expectNothingButTheNamed(_ fixture: DaemonFixture, _ reason: String) throws {
        let before = try fixture.book()
        for arguments in [["undo"], ["undo", "--force"], ["undo", "--dry-run"], ["undo", "1"]] {
            let refused = try Command(DaemonFixture.programs + "/contactbook", arguments, in: fixture)
            #expect(refused.end == .exited(1) && refused.output.isEmpty, "\(arguments): \(refused.output)")
            #expect(refused.errors.contains("could not undo") && refused.errors.contains(reason), "\(refused.errors)")
            #expect(refused.errors.contains("nothing was changed; to undo an earlier command, add its number"))
        }
        #expect(try fixture.book() == before)
        let listed = try fixture.contactbook("undo", "--list")
        #expect(listed.words.contains("unknown") && listed.words.contains("1 add Ada"), "\(listed.output)")
        // The number says which command the person means.
        #expect(try fixture.contactbook("undo", "2").output.hasPrefix("undone: add Ada"))
        #expect(try fixture.book().count == before.count - 1)
    }

    @Test(
        "If the last command's undo file is unusable, undo does nothing without a number", arguments: FileState.allCases
    )
    func unusable(state: FileState) throws {
        let fixture = try DaemonFixture.withContactbook()
        try state.make(of: try addTwo(fixture))
        let isRead = state != .link && state != .folder
        try expectNothingButTheNamed(fixture, isRead ? "its file is damaged" : "its file cannot be read (not a file")
    }

    @Test("If the last command was killed before it noted a step, undo names it and does nothing without a number")
    func killed() throws {
        let fixture = try DaemonFixture.withContactbook()
        let file = try addTwo(fixture)
        let bytes = try #require(DaemonFixture.bytes(of: file))
        let end = try #require(bytes.firstIndex(of: 10))
        // A step that was not written completely is none.
        for rest in [0, 1, 20] {
            try DaemonFixture.write(Array(bytes.prefix(end + 1 + rest)), to: file)
            #expect(try fixture.contactbook("undo").errors.contains("could not undo add Grace: it was interrupted"))
        }
        try expectNothingButTheNamed(fixture, "it was interrupted, and what it changed is not recorded")
    }

    @Test("A missing undo folder means that nothing can be undone; an unreadable one is an error")
    func folder() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try addTwo(fixture)
        let folder = fixture.folder + "/own-state/contactbook/undo"
        rename(folder, folder + ".away")
        #expect(try fixture.contactbook("undo").errors.contains("there is nothing to undo"))
        _ = try fixture.file("own-state/contactbook/undo", "")
        let refused = try fixture.contactbook("undo")
        #expect(refused.end == .exited(2) && refused.errors.contains("undo: not a directory"), "\(refused.errors)")
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 3)
    }

    @Test("If the disk is full, undo advises to free space; other commands name their option")
    func full() throws {
        let fixture = try DaemonFixture.withContactbook()
        // The command is in the undo file's first line, so this file is larger than the limit of one block.
        let name = String(repeating: "a", count: 700)
        _ = try fixture.contactbook("add", "--given", name)
        for (arguments, advice) in [
            (["undo"], "free some space"), (["remove", "--yes", "aaaa"], "add --no-undo"),
        ] {
            let refused = try Command(
                "/bin/sh",
                ["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", DaemonFixture.programs + "/contactbook"]
                    + arguments,
                in: fixture)
            #expect(refused.end == .exited(2) && refused.errors.contains("file too large"), "\(refused.errors)")
            #expect(refused.errors.contains(advice), "\(refused.errors)")
            #expect(arguments == ["undo"] ? !refused.errors.contains("--no-undo") : true, "\(refused.errors)")
            #expect(try fixture.book().count == 1)
        }
    }
}
