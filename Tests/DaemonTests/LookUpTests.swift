import Testing

@Suite("Duplicates of imported cards, in a large address book and in a small one")
struct LookUpTests {
    private static func card(_ name: String, _ rest: String...) -> String {
        "BEGIN:VCARD\r\nVERSION:3.0\r\n\(name)\r\n" + rest.map { $0 + "\r\n" }.joined() + "END:VCARD\r\n"
    }

    private static let mail = "EMAIL:x@example.org"

    /// Contacts, and for each a card that may duplicate it.
    private static let pairs: [(there: String, card: String, isDuplicate: Bool)] = [
        (card("N:Lovelace;Ada;;;", mail), card("N:LOVELACE;ada;;;", "EMAIL:X@Example.org"), true),
        (card("N:O'Brien;Pat;;;", mail), card("N:O Brien;Pat;;;", mail), true),
        (card("N:;Rock'n'Roll;;;", mail), card("N:;Rock n Roll;;;", mail), true),
        (
            card("N:M\u{FC}ller-Stra\u{DF};J\u{FC}rgen;;;", mail),
            card("N:Mu\u{308}ller Stra\u{DF};Ju\u{308}rgen;;;", mail), true
        ),
        (card("N:\u{738B};\u{5C0F}\u{660E};;;", mail), card("N:\u{738B};\u{5C0F}\u{660E};;;", mail), true),
        (
            card("N:\u{418}\u{432}\u{430}\u{43D}\u{43E}\u{432};\u{41E}\u{43B}\u{435}\u{433};;;", mail),
            card("N:\u{438}\u{432}\u{430}\u{43D}\u{43E}\u{432};\u{43E}\u{43B}\u{435}\u{433};;;", mail), true
        ),
        (
            card("N:;;;;", "ORG:Souq Ltd.", "TEL:+21671000001"), card("N:;;;;", "ORG:Souq Ltd", "TEL:0021671000001"),
            true
        ),
        (card("N:Same;Number;;;", "TEL:+1 201 555 0123"), card("N:Same;Number;;;", "TEL:+44 201 555 0123"), true),
        (card("N:Hopper;Grace;;;", "UID:grace-1"), card("N:Murray;Amazing;;;", "UID:grace-1"), true),
        (card("N:Noether;Emmy;;;", mail), card("N:Noether;Emmy;;;", "EMAIL:y@example.org"), false),
        (card("N:Noether;Emma;;;", mail), card("N:Noether;Em;;;", mail), false),
        (card("N:;;;;", "EMAIL:nobody@example.org"), card("N:;;;;", "EMAIL:nobody@example.org"), true),
    ]

    @Test("A card has the same duplicates whether its name is looked up or all contacts are read")
    func same() throws {
        let fixture = try DaemonFixture.withContactbook()
        func importing(_ cards: String, _ flags: String...) throws -> Command {
            try Command(
                DaemonFixture.programs + "/contactbook", ["import", try fixture.file("cards.vcf", cards)] + flags,
                in: fixture)
        }
        let there = Self.pairs.map(\.there).joined()
        #expect(try importing(there, "--duplicates", "keep").end == .exited(0))
        func others(_ count: Int) -> String {
            (0..<count).map { Self.card("N:Else\($0);Someone;;;", Self.mail) }.joined()
        }
        func found(_ cards: String) throws -> String {
            try importing(cards, "--dry-run", "--duplicates", "skip").output
        }
        func expectation(_ isDuplicate: Bool, of others: Int) -> String {
            let added = others + (isDuplicate ? 0 : 1)
            return "\(added == 1 ? "1 contact" : "\(added) contacts") in 1 file can be added"
                + (isDuplicate ? "; 1 was there already" : "") + "\n"
        }
        // The address book is so small that it is read at once.
        for pair in Self.pairs { #expect(try found(pair.card) == expectation(pair.isDuplicate, of: 0), "\(pair.card)") }
        #expect(try importing(others(400), "--duplicates", "keep").end == .exited(0))
        for pair in Self.pairs {
            #expect(try found(pair.card) == expectation(pair.isDuplicate, of: 0), "\(pair.card)")
            // Further cards before it use up the look-ups.
            let more = (0..<12).map { Self.card("N:New\($0);Someone;;;", Self.mail) }.joined()
            #expect(try found(more + pair.card) == expectation(pair.isDuplicate, of: 12), "\(pair.card)")
        }
    }

    @Test("With many groups, lists, exports, removals and undo keep every member")
    func manyGroups() throws {
        let fixture = try DaemonFixture.withContactbook()
        let names = (0..<60).map { "Group \($0)" }
        let cards =
            Self.card("N:Lovelace;Ada;;;", "CATEGORIES:" + names.joined(separator: ","))
            + Self.card("N:Hopper;Grace;;;", "CATEGORIES:" + names.prefix(7).joined(separator: ","))
        let path = try fixture.file("cards.vcf", cards)
        #expect(try fixture.contactbook("import", path).end == .exited(0))
        func expectAll() throws {
            let counts = try fixture.contactbook("groups").words.split(separator: "\n").dropFirst().map {
                $0.split(separator: " ")[2]
            }
            #expect(counts.count { $0 == "2" } == 7 && counts.count { $0 == "1" } == 53)
            let exported = try fixture.contactbook("export", "--format", "vcard4").output
            #expect(exported.split(separator: "\r\n").count { $0.hasPrefix("MEMBER:") } == 67)
        }
        try expectAll()
        _ = try fixture.contactbook("remove", "--yes", "ada")
        #expect(try fixture.contactbook("undo").end == .exited(0))
        try expectAll()
        // A second import adds no member again.
        #expect(try fixture.contactbook("import", path).output == "added 0 contacts of 1 file; 2 were there already\n")
        try expectAll()
        #expect(try fixture.contactbook("undo", "--yes").errors.isEmpty)
        #expect(try fixture.contactbook("groups").output.isEmpty)
    }
}
