import Glibc
import Testing

@Suite("Groups of imported and exported cards")
struct GroupCardTests {
    private static let cards = """
        BEGIN:VCARD\r
        VERSION:4.0\r
        UID:ada-1\r
        N:Lovelace;Ada;;;\r
        FN:Ada Lovelace\r
        END:VCARD\r
        BEGIN:VCARD\r
        VERSION:4.0\r
        KIND:group\r
        FN:Programmers\r
        UID:group-1\r
        MEMBER:ada-1\r
        MEMBER:urn:uuid:03a0e51f-d1aa-4385-8a53-e29025acd8af\r
        END:VCARD\r
        BEGIN:VCARD\r
        VERSION:4.0\r
        KIND:group\r
        FN:Nobody\r
        UID:urn:uuid:03a0e51f-d1aa-4385-8a53-e29025acd8af\r
        END:VCARD\r

        """

    /// The lines of the exported group cards that say what they are, without those of the writer.
    private func groups(_ cards: String) -> Set<[String]> {
        let cards = cards.split(separator: "BEGIN:VCARD\r\n").filter { $0.contains("KIND:group") }
        return Set(
            cards.map { card in
                card.split(separator: "\r\n").map(String.init).filter { line in
                    ["FN:", "UID:", "MEMBER:", "X-ADDRESSBOOKSERVER-MEMBER:"].contains(where: line.hasPrefix)
                }
            })
    }

    private static let uuid = "urn:uuid:03a0e51f-d1aa-4385-8a53-e29025acd8af"

    @Test("Groups keep their UIDs over import and export, also those without members")
    func uids() throws {
        let fixture = try DaemonFixture.withContactbook()
        let path = try fixture.file("people.vcf", Self.cards)
        #expect(try fixture.contactbook("import", path).end == .exited(0))
        let expected: Set = [
            ["FN:Programmers", "UID:group-1", "MEMBER:ada-1", "MEMBER:\(Self.uuid)"],
            ["FN:Nobody", "UID:\(Self.uuid)"],
        ]
        let exported = try fixture.contactbook("export", "--format", "vcard4").output
        #expect(groups(exported) == expected)
        let old = try fixture.contactbook("export").output
        #expect(old.contains("\r\nUID:group-1\r\nX-ADDRESSBOOKSERVER-MEMBER:ada-1\r\n"))
        try fixture.expectPrivate(fixture.folder + "/own-state/contactbook")

        // The export of another address book is the same.
        let other = try DaemonFixture.withContactbook()
        #expect(try other.contactbook("import", try other.file("again.vcf", exported)).end == .exited(0))
        #expect(groups(try other.contactbook("export", "--format", "vcard4").output) == expected)

        // In a folder, the file of a group is named after its UID, and a second export changes nothing.
        let folder = fixture.folder + "/vdir"
        for _ in 0..<2 {
            #expect(try fixture.contactbook("export", "--format", "vdir", "--output", folder).end == .exited(0))
        }
        #expect(
            Set(DaemonFixture.contents(of: folder).keys.map { $0.dropFirst(folder.utf8.count + 1) }) == [
                "ada-1.vcf", "group-1.vcf", "uid-\(Self.digest(of: folder)).vcf", ".contactbook",
            ])
    }

    /// The part of the name of the file that has the UID with colons.
    private static func digest(of folder: String) -> String {
        let names = DaemonFixture.contents(of: folder).keys.map { String($0.dropFirst(folder.utf8.count + 1)) }
        return names.first { $0.hasPrefix("uid-") }.map { String($0.dropFirst(4).dropLast(4)) } ?? ""
    }

    @Test("An imported group is found again by its UID after it was renamed, and keeps the UID over undo")
    func renamed() throws {
        let fixture = try DaemonFixture.withContactbook()
        let path = try fixture.file("people.vcf", Self.cards)
        _ = try fixture.contactbook("import", path)
        _ = try fixture.contactbook("groups", "rename", "Programmers", "Engineers")
        let again = try fixture.contactbook("import", path)
        #expect(again.errors.contains(":7: the group is called Engineers in your address book"), "\(again.errors)")
        #expect(try fixture.contactbook("groups").words == "GROUP CONTACTS WITHIN\nEngineers 1\nNobody 0 Engineers\n")
        let before = groups(try fixture.contactbook("export", "--format", "vcard4").output)
        #expect(before.contains(["FN:Engineers", "UID:group-1", "MEMBER:ada-1", "MEMBER:\(Self.uuid)"]))
        _ = try fixture.contactbook("groups", "delete", "Engineers")
        #expect(groups(try fixture.contactbook("export", "--format", "vcard4").output).count == 1)
        #expect(try fixture.contactbook("undo").end == .exited(0))
        #expect(groups(try fixture.contactbook("export", "--format", "vcard4").output) == before)
    }

    @Test("Groups with one name become one group, which keeps the first UID")
    func sameName() throws {
        let fixture = try DaemonFixture.withContactbook()
        let path = try fixture.file("people.vcf", Self.cards.replacing("FN:Nobody", with: "FN:Programmers"))
        for _ in 0..<2 {
            #expect(try fixture.contactbook("import", path).end == .exited(0))
            #expect(try fixture.contactbook("groups").words == "GROUP CONTACTS WITHIN\nProgrammers 1\n")
            let exported = try fixture.contactbook("export", "--format", "vcard4").output
            #expect(groups(exported) == [["FN:Programmers", "UID:group-1", "MEMBER:ada-1"]])
        }
    }

    @Test("If the UIDs of groups cannot be noted, the groups are added, and import says so")
    func unwritable() throws {
        let fixture = try DaemonFixture.withContactbook()
        let imported = try Command(
            DaemonFixture.programs + "/contactbook", ["import", try fixture.file("a.vcf", Self.cards)],
            in: fixture, environment: ["XDG_STATE_HOME": try fixture.file("file", "")])
        #expect(imported.end == .exited(0))
        #expect(imported.errors.contains("could not note the UIDs of the groups"), "\(imported.errors)")
        #expect(try fixture.contactbook("groups").words.contains("Nobody 0"))
        // A damaged list is not an error, and a line that is incomplete names no group.
        let before = groups(try fixture.contactbook("export", "--format", "vcard4").output)
        let made = before.joined().filter { $0.hasPrefix("UID:") }.map { $0.dropFirst(13).filter { $0 != "-" } }
        for each in ["/own-state", "/own-state/contactbook"] { mkdir(fixture.folder + each, 0o700) }
        _ = try fixture.file("own-state/contactbook/group-uids", "x\n\t\n\u{0}\tgroup\tmore\n\(made[0])\thal")
        let exported = try fixture.contactbook("export", "--format", "vcard4")
        #expect(exported.end == .exited(0) && groups(exported.output) == before && made.count == 2)
    }

    @Test("A folder with a name but no cards in a vdir becomes an empty group")
    func emptyCollection() throws {
        let fixture = try DaemonFixture.withContactbook()
        let folder = fixture.folder + "/contacts"
        for each in [folder, folder + "/later", folder + "/photos"] { mkdir(each, 0o700) }
        let end = try #require(Self.cards.firstRange(of: "END:VCARD\r\n"))
        _ = try fixture.file("contacts/ada.vcf", String(Self.cards[..<end.upperBound]))
        _ = try fixture.file("contacts/later/displayname", "For later\n")
        #expect(try fixture.contactbook("import", folder).end == .exited(0))
        #expect(try fixture.contactbook("groups").words == "GROUP CONTACTS WITHIN\nFor later 0\n")
    }
}
