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
    private static let group =
        "BEGIN:VCARD\r\nVERSION:4.0\r\nKIND:group\r\nFN:Friends\r\nUID:group-1\r\nEND:VCARD\r\n"

    @Test("Unreadable UIDs of groups stop an export with groups and nothing else; damaged ones are missing")
    func groupUIDs() throws {
        let fixture = try DaemonFixture.withContactbook()
        let path = try fixture.file("group.vcf", Self.group)
        let file = fixture.folder + "/own-state/contactbook/group-uids"
        for state in [nil] + FileState.allCases.map({ FileState?.some($0) }) {
            _ = try fixture.contactbook("import", path)
            let out = fixture.folder + "/out.vcf"
            #expect(try fixture.contactbook("export", "--output", out).end == .exited(0))
            #expect(DaemonFixture.text(of: out).contains("\r\nUID:group-1\r\n"))
            if let state { try state.make(of: file) } else { unlink(file) }
            let exported = try fixture.contactbook("export", "--output", out)
            if state == .link || state == .folder {
                #expect(
                    exported.end == .exited(2) && exported.errors.contains("group-uids: not a file"),
                    "\(exported.errors)")
                #expect(DaemonFixture.text(of: out).contains("\r\nUID:group-1\r\n"))
                #expect(try fixture.contactbook("export", "--no-groups", "--output", out).end == .exited(0))
                let imported = try fixture.contactbook("import", path)
                #expect(imported.errors.contains("exports will give the groups new UIDs"), "\(imported.errors)")
                if state == .link { unlink(file) } else { rmdir(file) }
            } else {
                #expect(exported.end == .exited(0), "\(exported.errors)")
                #expect(DaemonFixture.text(of: out).contains("\r\nUID:group-1\r\n") == (state == .ofAnotherVersion))
            }
        }
    }

    // MARK: Exports

    private func export(_ fixture: DaemonFixture, to path: String, _ flags: String...) throws -> Command {
        try Command(DaemonFixture.programs + "/contactbook", ["export", "--output", path] + flags, in: fixture)
    }

    @Test("A vdir whose list is damaged keeps its files, and an export says so", arguments: FileState.allCases)
    func list(state: FileState) throws {
        let fixture = try DaemonFixture.withContactbook()
        for name in ["Ada", "Grace"] { _ = try fixture.contactbook("add", "--given", name) }
        let folder = fixture.folder + "/vdir"
        #expect(try export(fixture, to: folder, "--format", "vdir").end == .exited(0))
        let list = folder + "/.contactbook"
        let before = DaemonFixture.contents(of: folder).filter { $0.key != list }
        try state.make(of: list)
        // If both were listed, the export would write the card again and delete the other file.
        _ = try fixture.edit("ada", "sed -i 's/^Nickname:.*/Nickname: Countess/' \"$1\"")
        _ = try fixture.contactbook("remove", "--yes", "grace")
        let exported = try export(fixture, to: folder)
        if state == .ofAnotherVersion {
            // All lines but one are whole.
            #expect(exported.end == .exited(0) && DaemonFixture.paths(below: folder).count == 2)
        } else {
            for (path, bytes) in before { #expect(DaemonFixture.bytes(of: path) == bytes) }
        }
        if state == .link || state == .folder {
            #expect(
                exported.end == .exited(2) && exported.errors.contains(".contactbook: not a file"), "\(exported.errors)"
            )
            #expect(exported.errors.contains("remove it, or export to another folder"))
        } else {
            #expect(exported.errors.contains(".contactbook is damaged"), "\(exported.errors)")
        }
    }

    @Test("An empty address book leaves a list that is not damaged, and a missing list is no error")
    func emptyList() throws {
        let fixture = try DaemonFixture.withContactbook()
        let folder = fixture.folder + "/vdir"
        for _ in 0..<2 {
            let exported = try export(fixture, to: folder, "--format", "vdir")
            #expect(exported.end == .exited(0) && !exported.errors.contains("damaged"), "\(exported.errors)")
        }
        unlink(folder + "/.contactbook")
        let exported = try export(fixture, to: folder)
        #expect(exported.end == .exited(0) && !exported.errors.contains("damaged"), "\(exported.errors)")
    }

    @Test("An export that was killed before it wrote the list is continued by the next one")
    func staleList() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("add", "--given", "Ada")
        let folder = fixture.folder + "/vdir"
        _ = try export(fixture, to: folder, "--format", "vdir")
        let list = DaemonFixture.text(of: folder + "/.contactbook")
        _ = try fixture.edit("ada", "sed -i 's/^Nickname:.*/Nickname: Countess/' \"$1\"")
        _ = try export(fixture, to: folder)
        try DaemonFixture.write(Array(list.utf8), to: folder + "/.contactbook")
        _ = try export(fixture, to: folder)
        _ = try fixture.contactbook("remove", "--yes", "ada")
        #expect(try export(fixture, to: folder).end == .exited(0))
        #expect(DaemonFixture.paths(below: folder) == [folder + "/.contactbook"])
    }

    @Test(
        "Another user's link is neither followed nor replaced by an export", .enabled(if: getuid() == 0, "needs root"))
    func links() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("add", "--given", "Ada")
        let precious = try fixture.file("precious", "precious\n")
        let shared = fixture.folder + "/shared"
        mkdir(shared, 0o700)
        chmod(shared, 0o1777)
        /// Another user's link, in a folder of that user if it is within one.
        func link(_ name: String, to target: String, within folder: String? = nil) -> String {
            if let folder {
                mkdir("\(shared)/\(folder)", 0o700)
                chown("\(shared)/\(folder)", 1, 1)
                chmod("\(shared)/\(folder)", 0o777)
            }
            let path = "\(shared)/" + (folder.map { $0 + "/" } ?? "") + name
            symlink(target, path)
            lchown(path, 1, 1)
            return path
        }
        let own = fixture.folder + "/own"
        _ = try export(fixture, to: own, "--format", "vdir")
        let before = DaemonFixture.contents(of: own)
        let absent = fixture.folder + "/absent"
        let attacks = [
            (link("a.vcf", to: precious), []), (link("b.vcf", to: absent), []),
            (link("c.vcf", to: precious), ["--overwrite"]),
            (link("vdir", to: own), ["--format", "vdir", "--no-groups"]),
        ]
        _ = link(".contactbook", to: precious, within: "theirs")
        _ = link(".contactbook", to: absent, within: "dangling")
        for (path, flags) in attacks + ["theirs", "dangling"].map({ ("\(shared)/\($0)", ["--format", "vdir"]) }) {
            let links = DaemonFixture.paths(below: shared)
            let refused = try Command(
                DaemonFixture.programs + "/contactbook", ["export", "--output", path] + flags, in: fixture)
            #expect(refused.end == .exited(2) && refused.errors.contains("link"), "\(path): \(refused.errors)")
            #expect(DaemonFixture.text(of: precious) == "precious\n" && access(absent, F_OK) != 0, "\(path)")
            #expect(DaemonFixture.paths(below: shared) == links && DaemonFixture.contents(of: own) == before, "\(path)")
        }
        // The person's own link to a folder is followed.
        symlink(own, shared + "/mine")
        #expect(try export(fixture, to: shared + "/mine").end == .exited(0))
    }

    @Test("A UID like an option gives a file whose name does not begin with a hyphen")
    func hyphen() throws {
        let fixture = try DaemonFixture.withContactbook()
        let cards = ["-rf", "--", "-"].map { "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:\($0)\r\nFN:X\($0)\r\nEND:VCARD\r\n" }
        _ = try fixture.contactbook("import", try fixture.file("x.vcf", cards.joined()))
        let folder = fixture.folder + "/vdir"
        #expect(try export(fixture, to: folder, "--format", "vdir").end == .exited(0))
        let names = DaemonFixture.paths(below: folder).map { $0.dropFirst(folder.utf8.count + 1) }
        #expect(names.count == 4 && !names.contains { $0.hasPrefix("-") }, "\(names)")
    }
}
