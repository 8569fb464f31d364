import Testing

@Suite("Importing cards of persons with one name, and LDIF")
struct ImportingTests {
    private func card(_ rest: String...) -> String {
        "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Haddad;Omar;;;\r\nFN:Omar Haddad\r\nTEL:+21671000001\r\n"
            + rest.map { $0 + "\r\n" }.joined() + "END:VCARD\r\n"
    }

    @Test("Without a terminal, import keeps a contact with another birthday and names each one that it skips")
    func differing() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("import", try fixture.file("father.vcf", card("BDAY:1950-01-31")))
        let son = try fixture.contactbook("import", try fixture.file("son.vcf", card("BDAY:1980-05-01")))
        #expect(son.output == "added 1 contact of 1 file\n" && son.end == .exited(0))
        #expect(
            son.errors.contains(
                "son.vcf:1: Omar Haddad differs from the contact that is there in birthday; added as another one"),
            "\(son.errors)")
        // The same card again says nothing new, so it is only counted.
        let again = try fixture.contactbook("import", fixture.folder + "/son.vcf")
        #expect(again.output == "added 0 contacts of 1 file; 1 was there already\n" && again.errors.isEmpty)
        let changed = try fixture.contactbook(
            "import", try fixture.file("changed.vcf", card("BDAY:1980-05-01", "EMAIL:son@souq.example")))
        #expect(changed.output == "added 0 contacts of 1 file; 1 was there already\n")
        #expect(changed.errors.hasSuffix("skipped, also its e-mail\n"), "\(changed.errors)")
        let more = try fixture.contactbook(
            "import", try fixture.file("more.vcf", card("EMAIL:omar@souq.example", "NOTE:likes tea")))
        #expect(more.output == "added 0 contacts of 1 file; 1 was there already\n")
        #expect(
            more.errors.contains(
                "more.vcf:1: Omar Haddad seems to be there already (the same name and a common phone number); skipped, "
                    + "also its e-mail, note"), "\(more.errors)")
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 3)
    }

    @Test("Without a terminal, import skips and names a card that differs in anything but the birthday")
    func changed() throws {
        let properties = ["TITLE:", "ORG:", "NICKNAME:", "NOTE:", "X-MAIDENNAME:", "URL:", "X-THREEMA:", "EMAIL:"]
        for property in properties {
            let fixture = try DaemonFixture.withContactbook()
            _ = try fixture.contactbook("import", try fixture.file("a.vcf", card(property + "one")))
            let other = try fixture.contactbook("import", try fixture.file("b.vcf", card(property + "two")))
            #expect(other.output == "added 0 contacts of 1 file; 1 was there already\n", "\(property)")
            #expect(other.errors.contains("b.vcf:1: Omar Haddad seems to be there already"), "\(property)")
            #expect(other.errors.contains("skipped, also its "), "\(property): \(other.errors)")
        }
    }

    @Test("--duplicates merge does not mix persons with other birthdays, and names values that it does not replace")
    func merging() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("import", try fixture.file("a.vcf", card("BDAY:1950-01-31", "TITLE:Baker")))
        let other = try fixture.contactbook(
            "import", "--duplicates", "merge", try fixture.file("b.vcf", card("BDAY:1980-05-01")))
        #expect(other.output == "added 1 contact of 1 file\n", "\(other.errors)")
        let same = try fixture.contactbook(
            "import", "--duplicates", "merge",
            try fixture.file("c.vcf", card("BDAY:1950-01-31", "TITLE:Buyer", "EMAIL:o@souq.example")))
        #expect(same.output == "added 0 contacts of 1 file; 1 merged into what was there\n")
        #expect(
            same.errors.contains("Omar Haddad: the contact that is there keeps its own job title"), "\(same.errors)")
        // With the same UID it is the same person.
        _ = try fixture.contactbook(
            "import", "--duplicates", "keep", try fixture.file("d.vcf", card("UID:o-1", "BDAY:1960-01-01")))
        let renewed = try fixture.contactbook("import", try fixture.file("e.vcf", card("UID:o-1", "BDAY:1961-01-01")))
        #expect(renewed.output == "added 0 contacts of 1 file; 1 was there already\n")
        #expect(renewed.errors.contains("(the same UID); skipped, also its birthday"), "\(renewed.errors)")
    }

    @Test("LDIF gives contacts and groups, and refuses changes")
    func ldif() throws {
        let fixture = try DaemonFixture.withContactbook()
        let path = try fixture.file(
            "book.ldif",
            """
            dn: cn=Ada Lovelace,mail=ada@example.org
            objectclass: mozillaAbPersonAlpha
            givenName: Ada
            sn: Lovelace
            cn: Ada Lovelace
            mail: ada@example.org

            dn: cn=Friends
            objectclass: groupOfNames
            cn: Friends
            member: cn=Ada Lovelace,mail=ada@example.org

            dn: cn=Eve
            changetype: delete

            """)
        let imported = try fixture.contactbook("import", path)
        #expect(imported.output == "added 1 contact of 1 file\n" && imported.end == .exited(1))
        #expect(imported.errors.contains("book.ldif:13: a change of a directory (changetype)"), "\(imported.errors)")
        #expect(try fixture.contactbook("groups", "show", "Friends").output.contains("Ada Lovelace"))

        // Another book gets the same contact and group from an export.
        let out = fixture.folder + "/out.ldif"
        _ = try fixture.contactbook(
            "add", "--given", "Ngozi", "--email", "n@example.org", "--url", "boat:https://n.example")
        let exported = try fixture.contactbook("export", "--format", "ldif", "--output", out)
        #expect(exported.output == "exported 2 contacts and 1 group to \(out)\n", "\(exported.errors)")
        let other = try DaemonFixture.withContactbook()
        let again = try other.contactbook("import", out)
        #expect(again.output == "added 2 contacts of 1 file\n" && again.end == .exited(0), "\(again.errors)")
        #expect(try other.contactbook("groups", "show", "Friends").output.contains("Ada Lovelace"))
        #expect(try other.contactbook("import", out).output == "added 0 contacts of 1 file; 2 were there already\n")
    }
}
