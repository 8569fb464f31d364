import Glibc
import PseudoTerminal
import Testing

@Suite("Cards that repeat one of the same import, or of the address book")
struct DoublesTests {
    private func card(_ lines: String...) -> String {
        (["BEGIN:VCARD", "VERSION:3.0", "N:Notes;Dora;;;"] + lines + ["END:VCARD", ""]).joined(separator: "\r\n")
    }

    private func file(_ fixture: DaemonFixture, _ cards: String...) throws -> String {
        try fixture.file("doubles.vcf", cards.joined())
    }

    /// A line for each property that a contact can have, and one with another value.
    private static let properties = [
        "NOTE:", "X-THREEMA:", "TEL:", "EMAIL:", "TITLE:", "ORG:", "NICKNAME:", "URL:", "FN:", "CATEGORIES:",
        "X-PHONETIC-FIRST-NAME:", "X-ABRELATEDNAMES:", "IMPP:x-apple:", "RELATED;TYPE=child:urn:uuid:", "X-MAIDENNAME:",
        "TEL;X-ID=", "BDAY;VALUE=text:", "ADR:;;",
    ]

    @Test("Within one import, cards with different UIDs are different contacts, whatever else they say")
    func uids() throws {
        for line in [nil, "NOTE:", "TEL:1", "EMAIL:a@x.example"] {
            let fixture = try DaemonFixture.withContactbook()
            func lines(_ number: Int) -> String { line.map { $0.hasSuffix(":") ? "\($0)\(number)" : $0 } ?? "TITLE:x" }
            let path = try file(fixture, card("UID:1", lines(1)), card("UID:2", lines(2)), card("UID:3", lines(3)))
            let once = try fixture.contactbook("import", path)
            #expect(once.output == "added 3 contacts of 1 file\n" && once.errors == "", "\(once.errors)")
            let again = try fixture.contactbook("import", path)
            #expect(again.output == "added 0 contacts of 1 file; 3 were there already\n" && again.errors == "")
            // An unknown UID is no other contact.
            let other = try fixture.contactbook("import", try fixture.file("other.vcf", card("UID:4", lines(2))))
            #expect(other.output == "added 0 contacts of 1 file; 1 was there already\n" && other.errors == "")
        }
    }

    @Test("A double that differs in any one property is added or named; a double that does not is only counted")
    func differing() throws {
        let fixture = try DaemonFixture.withContactbook()
        for (place, property) in Self.properties.enumerated() {
            func other(_ text: String) -> String {
                let line = property.hasSuffix("=") ? "\(property)\(text):5550\(place)" : property + text
                return card("N:Notes;Dora\(place);;;", "FN:Dora\(place) Notes", line)
                    .replacing("N:Notes;Dora;;;\r\n", with: "")
                    .replacing(property == "FN:" ? "FN:Dora\(place) Notes\r\n" : "\u{0}", with: "")
            }
            let path = try file(fixture, other("1"), other("2"), other("2"))
            let once = try fixture.contactbook("import", path)
            let isNamed = once.errors.contains("doubles.vcf:") && once.errors.contains("Dora\(place) Notes")
            #expect(isNamed || once.output.hasPrefix("added 2 contacts"), "\(property): \(once.output)\(once.errors)")
            let first = try fixture.contactbook("import", try fixture.file("first.vcf", other("1")))
            #expect(
                first.output == "added 0 contacts of 1 file; 1 was there already\n" && first.errors == "", "\(property)"
            )
        }
    }

    @Test("A double of a card without a UID is skipped and named, with what only it has")
    func named() throws {
        let fixture = try DaemonFixture.withContactbook()
        let path = try file(
            fixture, card("NOTE:one"), card("NOTE:two"), card("X-THREEMA:AAAA"), card("NOTE:one"),
            card("UID:7", "NOTE:one"))
        let once = try fixture.contactbook("import", path)
        #expect(once.output == "added 1 contact of 1 file; 4 were there already\n", "\(once.errors)")
        #expect(
            once.errors.split(separator: "\n").map { $0.drop { $0 != ":" } } == [
                ":6: Dora Notes seems to be there already (the same card); skipped, also its note",
                ":11: Dora Notes seems to be there already (the same card); skipped, also its more",
            ], "\(once.errors)")
    }

    @Test("Doubles of one import that differ in what contactbook may not see are named", arguments: ["skip", "merge"])
    func unseen(treatment: String) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let listed = try fixture.contactbook("list") { try person.answer(.everything) }
        #expect(listed.end == .exited(1))
        for line in ["NOTE:", "X-THREEMA:", "RELATED;TYPE=child:urn:uuid:", "BDAY;VALUE=text:"] {
            let name = "Dora\(line.prefix { $0.isLetter })"
            let cards = ["one", "two", "two"].map { card(line + $0).replacing("Dora", with: name) }
            let once = try fixture.contactbook(
                "import", "--duplicates", treatment, try fixture.file("doubles.vcf", cards.joined()))
            #expect(once.output == "added 1 contact of 1 file; 2 were there already\n", "\(once.errors)")
            for place in [6, 11] {
                #expect(
                    once.errors.contains("doubles.vcf:\(place): \(name) Notes seems to be there already"),
                    "\(line): \(once.errors)")
            }
        }
    }

    @Test("The groups of a card whose double came before it in the same import are the double's, in any format")
    func groups() throws {
        let fixture = try DaemonFixture.withContactbook()
        let cards = try file(
            fixture, card("TEL:1", "CATEGORIES:Family"), card("TEL:1", "X-GROUP-MEMBERSHIP:Work"),
            """
            BEGIN:VCARD\r
            VERSION:3.0\r
            X-ADDRESSBOOKSERVER-KIND:group\r
            FN:Team\r
            X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:aaaaaaaa-0000-4000-8000-000000000002\r
            END:VCARD\r

            """, card("TEL:1", "UID:aaaaaaaa-0000-4000-8000-000000000002"))
        let vcf = try fixture.contactbook("import", cards)
        #expect(vcf.output == "added 1 contact of 1 file; 2 were there already\n", "\(vcf.errors)")
        #expect(!vcf.errors.contains("no contacts of these files"), "\(vcf.errors)")
        let csv = try fixture.file(
            "x.csv",
            "First Name,Last Name,Labels,E-mail 1 - Value\nIda,Moe,Chess,i@x.example\nIda,Moe,Tea,i@x.example\n")
        #expect(try fixture.contactbook("import", csv).output == "added 1 contact of 1 file; 1 was there already\n")
        let ldif = try fixture.file(
            "x.ldif",
            """
            dn: cn=a
            cn: Kai Ås
            mail: k@x.example

            dn: cn=b
            cn: Kai Ås
            mail: k@x.example

            dn: cn=Choir
            objectclass: groupOfNames
            cn: Choir
            member: cn=b

            """)
        let entries = try fixture.contactbook("import", ldif)
        #expect(
            entries.output == "added 1 contact of 1 file; 1 was there already\n" && entries.errors == "",
            "\(entries.errors)")
        for (group, name) in [
            ("Family", "Dora"), ("Work", "Dora"), ("Team", "Dora"), ("Chess", "Ida"), ("Tea", "Ida"), ("Choir", "Kai"),
        ] {
            #expect(try fixture.contactbook("groups", "show", group).output.contains(name), "\(group)")
        }
    }

    @Test("A card with a known UID and another name or label is a change: named, and taken by merge")
    func changes() throws {
        let first = ["N:Moe;Ida;Liv;;", "TEL;TYPE=HOME:1", "UID:u-1", "X-PHONETIC-FIRST-NAME:ida"]
        for (line, word, shown) in [
            ("N:Moe;Eda;Liv;;", "given name", "N:Moe;Eda;Liv"), ("N:Moe;Ida;Siv;;", "middle name", "N:Moe;Ida;Siv"),
            ("N:Ås;Ida;Liv;;", "family name", "N:Ås;Ida;Liv"), ("TEL;TYPE=WORK:1", "phone", "TEL;TYPE=work:1"),
            ("X-PHONETIC-FIRST-NAME:eda", "phonetic given name", "X-PHONETIC-FIRST-NAME:eda"),
        ] {
            let fixture = try DaemonFixture.withContactbook()
            func whole(_ lines: [String]) -> String {
                (["BEGIN:VCARD", "VERSION:3.0"] + lines + ["END:VCARD", ""]).joined(separator: "\r\n")
            }
            let name = line.prefix { $0 != ":" && $0 != ";" }
            let changed = first.map { $0.hasPrefix(name) ? line : $0 }
            _ = try fixture.contactbook("import", try fixture.file("a.vcf", whole(first)))
            let path = try fixture.file("b.vcf", whole(changed))
            let skipped = try fixture.contactbook("import", path)
            #expect(skipped.output == "added 0 contacts of 1 file; 1 was there already\n")
            #expect(
                skipped.errors.contains(
                    "(the same UID); skipped, also its \(word); --duplicates merge changes the contact"),
                "\(skipped.errors)")
            let merged = try fixture.contactbook("import", "--duplicates", "merge", path)
            #expect(merged.output == "added 0 contacts of 1 file; 1 merged into what was there\n", "\(merged.errors)")
            let book = try fixture.book().joined()
            #expect(book.contains(shown), "\(book)")
            #expect(try fixture.contactbook("import", path).errors == "")
        }
    }

    @Test("At a terminal, a changed card is shown and asked about; a merge keeps one UID")
    func asked() throws {
        let fixture = try DaemonFixture.withContactbook()
        _ = try fixture.contactbook("import", try file(fixture, card("UID:u-1", "TEL:1")))
        let path = try fixture.file("b.vcf", card("UID:u-1", "TEL:1").replacing("Dora", with: "Thea"))
        let terminal = try PseudoTerminal(
            DaemonFixture.programs + "/contactbook", arguments: ["import", path],
            environment: [
                "TERM": "xterm", "CONTACTBROKER_RUNTIME_DIR": fixture.runtime, "PATH": "/usr/bin:/bin",
                "XDG_STATE_HOME": fixture.folder + "/own-state",
            ], columns: 120)
        try terminal.wait(for: "Thea Notes seems to be there already: the same UID, changed.")
        try terminal.wait(for: "merge: take the changes")
        try terminal.see("all that follow:", thenPress: "m")
        try terminal.wait(for: "added 0 contacts of 1 file; 1 merged into what was there")
        #expect(try terminal.waitForExit() == .exited(0))
        let other = try fixture.contactbook(
            "import", "--duplicates", "merge",
            try fixture.file("c.vcf", card("UID:u-2", "TEL:1", "NOTE:x").replacing("Dora", with: "Thea")))
        #expect(other.output == "added 0 contacts of 1 file; 1 merged into what was there\n", "\(other.errors)")
        let cards = try fixture.contactbook("export", "--notes").output
        #expect(cards.contains("UID:u-1") && !cards.contains("u-2") && cards.contains("NOTE:x"))
    }

    @Test("A folder's cards are read whatever the case of .vcf, and from .vcard")
    func endings() throws {
        let fixture = try DaemonFixture.withContactbook()
        mkdir(fixture.folder + "/cards", 0o700)
        for (name, person) in [
            ("a.VCF", "Ada"), ("b.vcard", "Bo"), ("c.vCard", "Cy"), ("d.vcf", "Di"), ("e.txt", "Eve"),
        ] {
            _ = try fixture.file("cards/\(name)", card().replacing("Dora", with: person))
        }
        #expect(try fixture.contactbook("import", fixture.folder + "/cards").output == "added 4 contacts of 1 folder\n")
    }
}
