import Glibc
import Testing

/// `make interop` installs these programs. Without them the tests say so and try nothing.
@Suite("Our files in vdirsyncer, khard and abook")
struct ProgramsInteropTests {
    private static let cards = """
        BEGIN:VCARD\r
        VERSION:3.0\r
        UID:ada-1\r
        N:Lovelace;Ada;Augusta,Byron;;\r
        FN:Ada Lovelace\r
        ORG:Fjord AS;Ships;Sails\r
        TEL;TYPE=CELL:+44 20 7946 0001\r
        EMAIL:ada@example.org\r
        ADR;TYPE=HOME:;;Quay 2;Bergen;;;Norway\r
        LABEL;TYPE=HOME:Ada\\nQuay 2\r
        LOGO;ENCODING=b;TYPE=GIF:R0lGODlhAQABAAAAACwAAAAAAQABAAAC\r
        X-ODD;A=b:kept as it is\r
        END:VCARD\r
        BEGIN:VCARD\r
        VERSION:3.0\r
        N:Haddad;Émile;;;\r
        FN:Émile Haddad\r
        EMAIL:emile@example.org\r
        BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-29\r
        END:VCARD\r
        BEGIN:VCARD\r
        VERSION:4.0\r
        KIND:group\r
        FN:Programmers\r
        UID:group-1\r
        MEMBER:ada-1\r
        END:VCARD\r

        """

    private func fixture() throws -> DaemonFixture {
        let fixture = try DaemonFixture.withContactbook()
        let imported = try fixture.contactbook("import", try fixture.file("people.vcf", Self.cards))
        #expect(imported.end == .exited(0), "\(imported.errors)")
        return fixture
    }

    private func areInstalled(_ programs: String...) -> Bool {
        let missing = programs.filter { access("/usr/bin/" + $0, X_OK) != 0 }
        if !missing.isEmpty { print("not installed: \(missing.joined(separator: ", ")); not tried (make interop)") }
        return missing.isEmpty
    }

    private func run(_ program: String, _ arguments: String..., in fixture: DaemonFixture) throws -> Command {
        let done = try Command(
            "/usr/bin/" + program, arguments, in: fixture,
            environment: [
                "HOME": fixture.folder, "XDG_CONFIG_HOME": fixture.folder, "XDG_CACHE_HOME": fixture.folder,
                "LC_ALL": "C.UTF-8",
            ])
        #expect(done.end == .exited(0), "\(program) \(arguments): \(done.output) \(done.errors)")
        return done
    }

    /// The cards of a folder, by file name.
    private func contents(_ folder: String) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: DaemonFixture.contents(of: folder).map { path, bytes in
                (String(path.dropFirst(folder.utf8.count + 1)), "\(bytes)")
            }
        ).filter { $0.key.hasSuffix(".vcf") }
    }

    @Test("A folder that vdirsyncer and khard share with contactbook comes to rest, and loses nothing")
    func vdir() throws {
        guard areInstalled("vdirsyncer", "khard") else { return }
        let fixture = try fixture()
        let (ours, theirs) = (fixture.folder + "/ours", fixture.folder + "/theirs")
        for folder in [ours, theirs] { mkdir(folder, 0o700) }
        let storages = [("ours", ours), ("theirs", theirs)].map {
            "[storage \($0)]\ntype = \"filesystem\"\npath = \"\($1)\"\nfileext = \".vcf\"\n"
        }
        let settings = try fixture.file(
            "vdirsyncer.conf",
            """
            [general]
            status_path = "\(fixture.folder)/status"
            [pair book]
            a = "ours"
            b = "theirs"
            collections = null
            \(storages.joined())
            """)
        let khard = try fixture.file(
            "khard.conf", "[addressbooks]\n[[theirs]]\npath = \(theirs)\n[general]\neditor = /bin/true\n")
        func sync() throws {
            _ = try run("vdirsyncer", "-c", settings, "discover", "book", in: fixture)
            _ = try run("vdirsyncer", "-c", settings, "sync", in: fixture)
        }
        func export() throws {
            let done = try fixture.contactbook(
                "export", "--notes", "--format", "vdir", "--overwrite", "--output", ours)
            #expect(done.end == .exited(0), "\(done.errors)")
        }

        try export()
        try sync()
        #expect(contents(ours).count == 3 && contents(theirs) == contents(ours))
        let listed = try run("khard", "-c", khard, "list", "--parsable", in: fixture).output
        #expect(listed.contains("ada-1\tAda Augusta Byron Lovelace") && listed.contains("Émile"), "\(listed)")
        let shown = try run("khard", "-c", khard, "show", "lovelace", in: fixture).output
        for text in ["+44 20 7946 0001", "ada@example.org", "Quay 2", "Bergen", "Fjord AS"] {
            #expect(shown.contains(text), "\(shown)")
        }

        // khard adds a contact. It reaches the book, and the group still has its card and its member.
        let new = try fixture.file(
            "new.yaml", "First name: Nils\nLast name: Berg\nEmail:\n    home: nils@example.org\n")
        _ = try run("khard", "-c", khard, "new", "-a", "theirs", "-i", new, in: fixture)
        try sync()
        let imported = try fixture.contactbook("import", ours)
        #expect(imported.output.hasPrefix("added 1 contact of 1 folder"), "\(imported.output) \(imported.errors)")
        try export()
        try sync()
        #expect(contents(ours).count == 4 && contents(theirs) == contents(ours))
        #expect(DaemonFixture.text(of: theirs + "/group-1.vcf").contains("X-ADDRESSBOOKSERVER-MEMBER:ada-1\r\n"))

        // The second time no file changes, on either side.
        let before = contents(ours)
        #expect(try fixture.contactbook("import", ours).output.hasPrefix("added 0 contacts"))
        try export()
        try sync()
        #expect(contents(ours) == before && contents(theirs) == before)
    }

    @Test("abook reads names, e-mail addresses and numbers from our LDIF")
    func ldif() throws {
        guard areInstalled("abook") else { return }
        let fixture = try fixture()
        let path = fixture.folder + "/people.ldif"
        let exported = try fixture.contactbook("export", "--no-groups", "--format", "ldif", "--output", path)
        #expect(exported.end == .exited(0), "\(exported.errors)")
        let read = try run(
            "abook", "--convert", "--informat", "ldif", "--infile", path, "--outformat", "abook", "--outfile", "-",
            in: fixture
        ).output
        for line in [
            "name=Ada Augusta Byron Lovelace", "email=ada@example.org", "mobile=+44 20 7946 0001", "name=Émile Haddad",
            "email=emile@example.org",
        ] { #expect(read.contains(line + "\n"), "\(read)") }
    }
}
