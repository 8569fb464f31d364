import BrokerJSON
import BrokerModel
import Glibc
import Testing

@Suite("Importing and exporting an address book")
struct MovingTests {
    private static let cards = """
        BEGIN:VCARD\r
        VERSION:4.0\r
        UID:ada-1\r
        N:Lovelace;Ada;;;\r
        FN:Ada Lovelace\r
        TEL;TYPE=cell:+44 20 7946 0001\r
        EMAIL:ada@example.org\r
        NOTE:first programmer\r
        CATEGORIES:Friends\r
        X-ODD;A=b:kept as it is\r
        PHOTO:data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAAC\r
        END:VCARD\r
        BEGIN:VCARD\r
        VERSION:4.0\r
        UID:urn:uuid:8bf87495-a576-b43e-7ede-6a2e97165ee5\r
        N:Hopper;Grace;;;\r
        FN:Grace Hopper\r
        EMAIL:grace@example.org\r
        BDAY:--0229\r
        END:VCARD\r
        BEGIN:VCARD\r
        VERSION:4.0\r
        KIND:group\r
        FN:Programmers\r
        UID:group-1\r
        MEMBER:ada-1\r
        MEMBER:urn:uuid:8bf87495-a576-b43e-7ede-6a2e97165ee5\r
        END:VCARD\r

        """

    private static let google = """
        First Name,Last Name,Labels,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value,Notes
        Ada,Lovelace,* myContacts,Home,ADA@example.org,Work,+44 20 7946 9999,from Google
        Omar,Haddad,Tea ::: Friends,Work,omar@souq.example,,,

        """

    @Test("Importing vCards with groups twice adds them once, and undo removes all of it")
    func importing() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.allowContactbook(by: person)
        let path = try fixture.file("people.vcf", Self.cards)
        let tried = try fixture.contactbook("import", "--dry-run", path)
        #expect(tried.output == "2 contacts in 1 file can be added\ngroups: Friends, Programmers\n", "\(tried.errors)")
        let first = try fixture.contactbook("import", path)
        #expect(first.end == .exited(0) && first.output == "added 2 contacts of 1 file\n", "\(first.errors)")
        #expect(try fixture.contactbook("groups").words == "GROUP CONTACTS WITHIN\nFriends 1\nProgrammers 2\n")
        #expect(try fixture.contactbook("groups", "show", "programmers").output.contains("Grace Hopper"))

        let again = try fixture.contactbook("import", path)
        #expect(again.end == .exited(0) && again.output == "added 0 contacts of 1 file; 2 were there already\n")
        let dry = try fixture.contactbook("import", "--dry-run", path)
        #expect(dry.output.hasPrefix("0 contacts in 1 file can be added; 2 were there already\n"))
        let kept = try fixture.contactbook("import", "--duplicates", "keep", path)
        #expect(kept.output == "added 2 contacts of 1 file\n")
        let unasked = try fixture.contactbook("undo")
        #expect(
            unasked.end == .exited(2)
                && unasked.errors == """
                    contactbook: could not undo import \(path), just now: it would remove 2 contacts, and there is no \
                    terminal to ask on
                    add --yes

                    """,
            "\(unasked.errors)")
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 5)
        #expect(
            try fixture.contactbook("undo", "--yes").output.hasPrefix(
                "undone: import \(path), just now (2 contacts removed"))
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 3)

        let undone = try fixture.contactbook("undo", "--yes")
        #expect(undone.end == .exited(0), "\(undone.errors)")
        #expect(try fixture.contactbook("list").output.isEmpty)
        #expect(try fixture.contactbook("groups").output.isEmpty)
        #expect(try fixture.contactbook("undo").errors.contains("nothing to undo"))
        // An undo can be undone by its number.
        #expect(try fixture.contactbook("undo", "--list").words.contains("1 "))
        #expect(try fixture.contactbook("undo", "1").end == .exited(0))
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 3)
        #expect(try fixture.contactbook("groups", "show", "Programmers").output.split(separator: "\n").count == 3)
    }

    @Test("Merging a CSV file adds missing values and replaces none, and undo restores the contacts")
    func merging() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.allowContactbook(by: person)
        _ = try fixture.contactbook("import", try fixture.file("people.vcf", Self.cards))
        let before = try fixture.book()
        let path = try fixture.file("google.csv", Self.google)
        let tried = try fixture.contactbook("import", "--duplicates", "merge", "--dry-run", path)
        #expect(tried.output.hasPrefix("1 contact in 1 file can be added; 1 can be merged into what was there\n"))
        let skipped = try fixture.contactbook("import", "--dry-run", path)
        #expect(skipped.output.hasPrefix("1 contact in 1 file can be added; 1 was there already\n"))
        let merged = try fixture.contactbook("import", "--duplicates", "merge", path)
        #expect(merged.output == "added 1 contact of 1 file; 1 merged into what was there\n", "\(merged.errors)")
        let ada = try fixture.contactbook("show", "--note", "ada").words
        #expect(ada.contains("mobile +44 20 7946 0001") && ada.contains("work +44 20 7946 9999"))
        #expect(ada.contains("first programmer") && ada.contains("from Google"))
        #expect(try fixture.contactbook("groups").words.contains("Tea 1"))
        #expect(try fixture.contactbook("groups").words.contains("Friends 2"))
        #expect(try fixture.contactbook("undo").end == .exited(0))
        #expect(try fixture.book() == before)
        #expect(!(try fixture.contactbook("groups").words.contains("Tea")))
    }

    @Test(
        "Each export format preserves contacts, notes, photos and groups for an import elsewhere",
        arguments: ["vcard3", "vcard4", "vdir"])
    func exporting(format: String) throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("import", try fixture.file("people.vcf", Self.cards))
        let path = fixture.folder + "/out"
        let exported = try fixture.contactbook("export", "--notes", "--format", format, "--output", path)
        #expect(exported.output == "exported 2 contacts and 2 groups to \(path)\n", "\(exported.errors)")
        var status = stat()
        stat(path, &status)
        #expect(status.st_mode & 0o077 == 0)

        let other = try DaemonFixture.withContactbook()
        let imported = try other.contactbook("import", path)
        #expect(
            imported.output == "added 2 contacts of 1 \(format == "vdir" ? "folder" : "file")\n", "\(imported.errors)")
        #expect(try other.book() == fixture.book())
        #expect(try other.book().contains { $0.contains("R0lGODlhAQABAAAAACwAAAAAAQABAAAC") })
        #expect(try other.contactbook("groups").words == fixture.contactbook("groups").words)
    }

    @Test("If several cards of a file match one contact, all are merged, even while a save is pending")
    func mergingTwice() throws {
        let fixture = try DaemonFixture.withContactbook()
        func card(_ name: String, _ numbers: String...) -> String {
            "BEGIN:VCARD\r\nVERSION:3.0\r\nN:\(name);;;;\r\nFN:\(name)\r\nEMAIL:\(name)@example.org\r\n"
                + numbers.map { "TEL:\($0)\r\n" }.joined() + "END:VCARD\r\n"
        }
        let first = try fixture.file("first.vcf", card("Ada", "111") + card("Grace", "222"))
        #expect(try fixture.contactbook("import", first).end == .exited(0))
        // More cards than the first saves hold, so that a save is pending when the duplicates follow.
        let many = (0..<1_000).map { card("Person\($0)") }.joined()
        let second = try fixture.file(
            "second.vcf", many + card("Ada", "333") + card("Grace", "444") + card("Ada", "555"))
        let imported = try fixture.contactbook("import", "--duplicates", "merge", second)
        #expect(imported.output == "added 1,000 contacts of 1 file; 3 merged into what was there\n")
        let ada = try fixture.contactbook("show", "ada").output
        #expect(["111", "333", "555"].allSatisfy(ada.contains), "\(ada)")
        #expect(try fixture.contactbook("undo", "--yes").end == .exited(0))
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 3)
    }

    @Test("Exporting to a vdir again keeps file names and does not touch other programs' files")
    func vdir() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("import", try fixture.file("people.vcf", Self.cards))
        let folder = fixture.folder + "/vdir"
        func export(_ flags: String...) throws -> Command {
            try Command(
                DaemonFixture.programs + "/contactbook",
                ["export", "--notes", "--no-groups", "--format", "vdir", "--output", folder] + flags, in: fixture)
        }
        #expect(try export().end == .exited(0))
        let ada = folder + "/ada-1.vcf"
        let first = DaemonFixture.contents(of: folder)
        #expect(first.count == 3 && first[ada] != nil)
        // A second export changes nothing.
        #expect(try export().end == .exited(0))
        #expect(DaemonFixture.contents(of: folder) == first)

        // Another program, such as khard, changes Ada's card and adds one. Grace is removed from the book.
        let theirs = DaemonFixture.text(of: ada).replacing("Ada Lovelace", with: "Ada Byron")
        try DaemonFixture.write(Array(theirs.utf8), to: ada)
        try DaemonFixture.write(
            Array("BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Nils\r\nEND:VCARD\r\n".utf8), to: folder + "/nils.vcf")
        _ = try fixture.contactbook("remove", "--yes", "grace")
        let left = try export()
        #expect(left.end == .exited(1))
        #expect(left.errors.contains("ada-1.vcf: changed by another program; left as it is"))
        #expect(DaemonFixture.text(of: ada) == theirs)
        #expect(Set(DaemonFixture.contents(of: folder).keys) == [ada, folder + "/nils.vcf", folder + "/.contactbook"])
        #expect(try export("--overwrite").end == .exited(0))
        #expect(DaemonFixture.contents(of: folder)[ada] == first[ada])
        // A symbolic link in place of the file is not followed.
        unlink(ada)
        symlink(fixture.folder + "/people.vcf", ada)
        #expect(try export("--overwrite").errors.contains("not a file that contactbook wrote"))
        #expect(DaemonFixture.text(of: fixture.folder + "/people.vcf") == Self.cards)
        // When a contact is removed, it is not an error that its file is already gone.
        unlink(ada)
        _ = try fixture.contactbook("remove", "--yes", "ada")
        #expect(try export().end == .exited(0))
        #expect(Set(DaemonFixture.contents(of: folder).keys) == [folder + "/nils.vcf", folder + "/.contactbook"])
        #expect(!DaemonFixture.text(of: folder + "/.contactbook").contains("ada-1"))
    }

    @Test("Without notes, an export keeps each card's UID and REV, so that a synced folder gets no second copy")
    func uids() throws {
        let fixture = try DaemonFixture.withContactbook()
        let folder = fixture.folder + "/synced"
        mkdir(folder, 0o700)
        let end = try #require(Self.cards.firstRange(of: "END:VCARD\r\n"))
        let ada = try fixture.file("synced/ada-1.vcf", String(Self.cards[..<end.upperBound]))
        _ = try fixture.contactbook("import", folder)
        let exported = try fixture.contactbook("export", "--no-groups", "--format", "vdir", "--output", folder)
        #expect(exported.errors.contains("ada-1.vcf: changed by another program"), "\(exported.errors)")
        #expect(Set(DaemonFixture.contents(of: folder).keys) == [ada, folder + "/.contactbook"])
        #expect(try fixture.contactbook("export", "--no-groups", "--overwrite", "--output", folder).end == .exited(0))
        let plain = try fixture.contactbook("export").output
        for text in [DaemonFixture.text(of: ada), plain] {
            #expect(text.contains("\r\nUID:ada-1\r\n") && text.contains("\r\nREV:2"), "\(text)")
            for secret in ["NOTE", "X-ODD", "CATEGORIES"] { #expect(!text.contains(secret), "\(text)") }
        }
    }

    /// Runs `export --notes`, for which the person gives these keys.
    private func export(_ fixture: DaemonFixture, allowing keys: ContactKeySet) throws -> Command {
        let person = try fixture.person()
        return try fixture.contactbook("export", "--notes") {
            let names = quoted(keys.grantNames)
            try person.answer(
                try person.prompt(), #""level":"full","lifetime":"untilRevoked","changes":"all","keys":\#(names)"#)
        }
    }

    /// A fixture in which contactbook has these keys and has imported the cards.
    private func imported(_ keys: ContactKeySet) throws -> DaemonFixture {
        let fixture = try DaemonFixture()
        _ = try export(fixture, allowing: keys)
        let imported = try fixture.contactbook("import", try fixture.file("people.vcf", Self.cards))
        #expect(imported.end == .exited(0), "\(imported.errors)")
        return fixture
    }

    @Test("UIDs go along in every export without the grant of notes, and undo of a removal brings them back")
    func uidsWithoutNotes() throws {
        let fixture = try imported(.all.subtracting(.named))
        let removed = try fixture.contactbook("remove", "--yes", "ada")
        #expect(removed.end == .exited(0), "\(removed.errors)")
        let undone = try fixture.contactbook("undo")
        #expect(undone.output.hasPrefix("undone: remove "), "\(undone.errors)")
        let folder = fixture.folder + "/synced"
        mkdir(folder, 0o700)
        _ = try fixture.file("synced/ada-1.vcf", Self.cards)
        let exported = try fixture.contactbook("export", "--overwrite", "--output", folder)
        #expect(exported.end == .exited(0) && !exported.errors.contains("UIDs"), "\(exported.errors)")
        let file = DaemonFixture.text(of: folder + "/ada-1.vcf")
        for text in [file, try fixture.contactbook("export").output] {
            #expect(text.contains("\r\nUID:ada-1\r\n"), "\(text)")
            for secret in ["NOTE", "X-ODD", "CATEGORIES"] { #expect(!text.contains(secret), "\(text)") }
        }
        let ldif = try fixture.contactbook("export", "--format", "ldif").output
        #expect(ldif.contains("cn: Ada"), "\(ldif)")
    }

    @Test("export --notes names what it may not see", arguments: [ContactKey.note, .extraProperties])
    func missing(key: ContactKey) throws {
        let refused = try export(try DaemonFixture(), allowing: .all.subtracting(ContactKeySet(key)))
        #expect(refused.end == .exited(1) && refused.output.isEmpty)
        let names = key == .note ? "notes" : "unrecognized vCard properties"
        #expect(refused.errors.contains("contactbook may not see \(names)\n"), "\(refused.errors)")
    }

    @Test("If contactbook may not see whole cards, it adds no cards to a folder that has others, and says why")
    func unseenUIDs() throws {
        let fixture = try imported(.all.subtracting(.named).subtracting(ContactKeySet(.birthday)))
        let folder = fixture.folder + "/synced"
        mkdir(folder, 0o700)
        _ = try fixture.file("synced/ada-1.vcf", Self.cards)
        let before = DaemonFixture.contents(of: folder)
        let refused = try fixture.contactbook("export", "--format", "vdir", "--output", folder)
        #expect(refused.end == .exited(1) && refused.errors.contains("contactbook may not see the UIDs of your cards"))
        #expect(refused.errors.contains("ada-1.vcf") && DaemonFixture.contents(of: folder) == before)
        // A folder of its own is updated.
        let own = fixture.folder + "/own"
        for _ in 0..<2 {
            let exported = try fixture.contactbook("export", "--format", "vdir", "--output", own)
            #expect(exported.end == .exited(0) && exported.errors.contains("with new UIDs"), "\(exported.errors)")
        }
        #expect(DaemonFixture.contents(of: own).count == 5)
    }

    @Test("Importing a vdir reads its cards, reports other .vcf files and does not block on special files")
    func oddFolder() throws {
        let fixture = try DaemonFixture.withContactbook()
        let folder = fixture.folder + "/contacts"
        for each in [folder, folder + "/family", folder + "/empty"] { mkdir(each, 0o700) }
        func card(_ name: String) -> String { "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:\(name)\r\nEND:VCARD\r\n" }
        _ = try fixture.file("contacts/one.vcf", card("One"))
        _ = try fixture.file("contacts/family/two.vcf", card("Two"))
        _ = try fixture.file("contacts/family/displayname", "Our family\n")
        _ = try fixture.file("contacts/family/color", "#ff0000")
        _ = try fixture.file("contacts/nothing.vcf", "")
        mkfifo(folder + "/fifo.vcf", 0o600)
        mkfifo(folder + "/family/displayname.vcf", 0o600)
        symlink("/dev/zero", folder + "/link.vcf")
        symlink("/", folder + "/everything")
        truncate(try fixture.file("contacts/huge.vcf", ""), 65 * 1_048_576)
        let imported = try fixture.contactbook("import", folder)
        #expect(imported.end == .exited(1))
        #expect(imported.output == "added 2 contacts of 1 folder\n")
        for name in ["nothing.vcf: no vCard", "fifo.vcf: not a file", "link.vcf: not a file", "huge.vcf: too large"] {
            #expect(imported.errors.contains(name), "\(imported.errors)")
        }
        #expect(try fixture.contactbook("groups", "show", "Our family").output.contains("Two"))
        let empty = try fixture.contactbook("import", folder + "/empty")
        #expect(empty.end == .exited(1) && empty.errors.contains("no .vcf file in it"))
    }

    @Test("A failed export creates no file and leaves an existing file unchanged")
    func wholeOrNot() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("import", try fixture.file("people.vcf", Self.cards))
        let path = try fixture.file("there.vcf", "as it was")
        let denied = try fixture.contactbook("export", "--output", path, "nobody")
        #expect(denied.end == .exited(1) && DaemonFixture.text(of: path) == "as it was")
        let absent = try fixture.contactbook("export", "--output", fixture.folder + "/no/such/folder/x.vcf")
        #expect(absent.end == .exited(2) && absent.errors.contains("no such file or directory"))
        mkfifo(fixture.folder + "/fifo", 0o600)
        #expect(try fixture.contactbook("export", "--output", fixture.folder + "/fifo").errors.contains("not a file"))
        #expect(try fixture.contactbook("export", "--output", path).end == .exited(0))
        #expect(DaemonFixture.text(of: path).hasPrefix("BEGIN:VCARD\r\nVERSION:3.0\r\n"))
        #expect(DaemonFixture.paths(below: fixture.folder).filter { $0.hasPrefix(path + ".") }.isEmpty)
    }

    @Test("Of a card over a limit, only what is too long is left out, and each import says what")
    func bounds() throws {
        let fixture = try DaemonFixture.withContactbook()
        func card(_ name: String, _ rest: String) -> String {
            "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:\(name)\r\n\(rest)\r\nTEL:112\r\nEND:VCARD\r\n"
        }
        let note = "NOTE:" + String(repeating: "x", count: 1_048_577)
        // As many lines as a card may have.
        let emails = (0..<9_990).map { "EMAIL:a\($0)@example.org" }.joined(separator: "\r\n")
        let photo = "PHOTO;ENCODING=b:R0lGODlh" + String(repeating: "AAAA", count: 3_000_000)
        let imported = try fixture.contactbook(
            "import", try fixture.file("x.vcf", card("Long", note) + card("Many", emails) + card("Large", photo)))
        #expect(imported.output == "added 3 contacts of 1 file\n" && imported.end == .exited(0), "\(imported.errors)")
        #expect(imported.errors.contains("x.vcf:1: note left out: more than 1048576 for value"), "\(imported.errors)")
        #expect(imported.errors.contains("x.vcf:7: 8990 values of emailAddresses left out: more than 1000 for values"))
        #expect(imported.errors.contains("x.vcf:10002: imageData left out: more than 8388608 for photo"))
        for name in ["long", "many", "large"] {
            #expect(try fixture.contactbook("show", name).output.contains("112"), "\(name)")
        }
        let csv = try fixture.file(
            "x.csv", "First Name,Last Name,E-mail Address\nA,B," + String(repeating: "y", count: 1_048_577))
        let row = try fixture.contactbook("import", csv)
        #expect(row.end == .exited(0) && row.errors.contains("x.csv:2: emailAddresses left out: more than 1048576"))
        let garbage = try fixture.contactbook("import", try fixture.file("y.csv", "a,b,c\n1,2,3\n"))
        #expect(garbage.end == .exited(1) && garbage.errors.contains("y.csv:1: the first line names no columns"))
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 5)
    }
}

extension DaemonFixture {
    /// Expects that only the owner has access to a folder and to the files below it.
    func expectPrivate(_ folder: String) throws {
        for path in DaemonFixture.paths(below: folder) + [folder] {
            var status = stat()
            try #require(lstat(path, &status) == 0)
            #expect(status.st_mode & 0o077 == 0, "\(path)")
        }
        #expect(!DaemonFixture.paths(below: folder).isEmpty)
    }
}
