import BrokerBounds
import BrokerModel
import BrokerVCard
import Testing

@Suite("Reading a file of cards")
struct StreamTests {
    private let two = """
        BEGIN:VCARD\r
        VERSION:3.0\r
        N:Okafor;Ngozi;;;\r
        NOTE:A long note that was folded in the mid\r
         dle of a word\r
        END:VCARD\r
        \r
        BEGIN:VCARD\r
        VERSION:4.0\r
        FN:Søren Ærø\r
        END:VCARD\r

        """

    @Test("A file gives the same cards however its bytes arrive", arguments: [1, 2, 3, 7, 64])
    func pieces(size: Int) {
        let bytes = Array(two.utf8)
        #expect(items(bytes, pieces: size) == items(bytes))
        #expect(cards(items(bytes)).map(\.contact.givenName) == ["Ngozi", "Søren Ærø"])
        #expect(cards(items(bytes)).map(\.line) == [1, 8])
    }

    @Test("All line endings are read", arguments: ["\n", "\r", "\r\r\n", "\r\n\r\n"])
    func lineEnds(end: String) {
        let bytes = Array(two.utf8).split(separator: 0x0D).flatMap { line -> [UInt8] in
            line.filter { $0 != 0x0A } + Array(end.utf8)
        }
        #expect(cards(items(bytes)).map(\.contact) == cards(items(two)).map(\.contact))
    }

    @Test("Unfolding removes exactly one white space, and joins split characters")
    func folds() {
        let note = Array("BEGIN:VCARD\nFN:x\nNOTE:a".utf8) + [0xC3, 0x0A, 0x20, 0xA9]
        let card = note + Array("\n  b\n\tc\nEND:VCARD\n".utf8)
        #expect(cards(items(card)).first?.contact.note == "aé bc")
    }

    @Test("A broken card is reported with its line, and the cards around it are read")
    func brokenCard() {
        let file = items(
            """
            BEGIN:VCARD
            VERSION:3.0
            FN:Before
            END:VCARD
            BEGIN:VCARD
            VERSION:7.0
            FN:Future
            END:VCARD
            BEGIN:VCARD
            VERSION:3.0
            END:VCARD
            BEGIN:VCARD
            VERSION:4.0
            KIND:group
            FN:Choir
            END:VCARD
            BEGIN:VCARD
            VERSION:4.0
            FN:After
            END:VCARD
            """)
        #expect(cards(file).map(\.contact.givenName) == ["Before", "After"])
        #expect(problems(file).map(\.line) == [5, 9])
        #expect(problems(file).map(\.reason) == [.unknownVersion, .empty])
        #expect(groups(file).map(\.name) == ["Choir"])
        #expect(groups(file).map(\.line) == [12])
    }

    @Test(
        "A card without an end is read, and reported as truncated",
        arguments: ["", "BEGIN:VCARD\nFN:B\nEND:VCARD"])
    func missingEnd(rest: String) {
        let read = cards(items("BEGIN:VCARD\nFN:A\n" + rest))
        #expect(read.first?.contact.givenName == "A")
        #expect(read.first?.remarks.map(\.reason) == [.missingEnd])
        #expect(read.dropFirst().allSatisfy { $0.remarks.isEmpty })
    }

    @Test("An invalid content line is left out and reported; the card is read")
    func badLine() {
        let read = cards(items("BEGIN:VCARD\nFN:A\nnonsense\n:nothing\nTEL:1\nEND:VCARD")).first
        #expect(read?.contact.phoneNumbers.map(\.value) == ["1"])
        #expect(read?.remarks == [3, 4].map { CardProblem(line: $0, reason: .notAContentLine) })
    }

    @Test("A card may be as long as the limit; a property that makes it longer is left out")
    func tooLong() {
        var limits = VCardLimits()
        limits.cardSize = 64
        let next = "BEGIN:VCARD\nFN:Next\nEND:VCARD\n"
        func card(_ note: Int) -> String {
            "BEGIN:VCARD\nFN:A\nNOTE:\(String(repeating: "x", count: note))\nEND:VCARD\n" + next
        }
        #expect(cards(items(card(64 - 9), limits: limits)).count == 2)
        for size in [64 - 8, 64, 200] {
            // In one line, in lines with white space before them, and in bare base64.
            let note = String(repeating: "x", count: size)
            let folded = stride(from: 0, to: size, by: 10).map { _ in " xxxxxxxxxx\n" }.joined()
            let photo = folded.replacing(" ", with: "")
            for long in ["NOTE:\(note)\n", "NOTE:\n\(folded)", "PHOTO;BASE64:\n\(photo)\n"] {
                let text = "BEGIN:VCARD\nFN:A\n\(long)TEL:1\nEND:VCARD\n" + next
                for pieces in [1, 5, 1_000] {
                    let over = items(Array(text.utf8), pieces: pieces, limits: limits)
                    let read = cards(over)
                    #expect(read.map(\.contact.givenName) == ["A", "Next"] && problems(over).isEmpty, "\(text)")
                    #expect(read.first?.contact.phoneNumbers.map(\.value) == ["1"])
                    #expect(read.first?.remarks == [CardProblem(line: 3, reason: .propertyTooLong)])
                }
            }
        }
        // Many properties, none of them too long.
        let over = items(
            "BEGIN:VCARD\n" + String(repeating: "TEL:1234567\n", count: 6) + "END:VCARD\n" + next, limits: limits)
        #expect(problems(over) == [CardProblem(line: 1, reason: .tooLong)])
        #expect(cards(over).map(\.contact.givenName) == ["Next"])
    }

    @Test("Where a card becomes too long does not depend on how its bytes arrive")
    func tooLongInPieces() {
        var limits = VCardLimits()
        (limits.cardSize, limits.cardLines, limits.depth) = (64, 6, 2)
        let parts = [
            "BEGIN:VCARD\n", "END:VCARD\n", "FN:A\n", " x\n", "\tyyyyyyyyyyyy\n", "NOTE:xxxxxxxxxxxxxxxxxxxx",
            "PHOTO;BASE64:\n",
            "AAAAAAAAAAAAAAAA\n", "AGENT:\n", "\n", "\r\r\n", "NOTE;QUOTED-PRINTABLE:a=\n", "VERSION:2.1\n", "TEL:1\n",
            String(repeating: "x", count: 40), "=\n", "é",
        ]
        var random = SystemRandomNumberGenerator()
        for _ in 0..<3_000 {
            let text =
                "BEGIN:VCARD\n"
                + (0..<Int.random(in: 0..<25, using: &random)).map { _ in
                    parts.randomElement(using: &random) ?? ""
                }.joined()
            let whole = items(Array(text.utf8), limits: limits)
            let pieces = Int.random(in: 1...9, using: &random)
            #expect(items(Array(text.utf8), pieces: pieces, limits: limits) == whole, "\(pieces) \(text)")
        }
    }

    @Test("A card may have as many lines as the limit and no more")
    func tooManyLines() {
        var limits = VCardLimits()
        limits.cardLines = 3
        #expect(cards(items("BEGIN:VCARD\nFN:A\nTEL:1\nTEL:2\nEND:VCARD", limits: limits)).count == 1)
        let over = items("BEGIN:VCARD\nFN:A\nTEL:1\nTEL:2\nTEL:3\nEND:VCARD", limits: limits)
        #expect(problems(over).map(\.reason) == [.tooLong] && cards(over).isEmpty)
    }

    @Test("A nested card does not change the outer one")
    func nested() {
        let read = cards(
            items("BEGIN:VCARD\nFN:Outer\nAGENT:\nBEGIN:VCARD\nFN:Inner\nTEL:1\nEND:VCARD\nTEL:2\nEND:VCARD"))
        #expect(read.map(\.contact.givenName) == ["Outer"])
        #expect(read.first?.contact.phoneNumbers.map(\.value) == ["2"])
    }

    @Test("Text outside of cards is ignored")
    func outside() {
        #expect(items("").isEmpty)
        #expect(items("FN:Nobody\nEND:VCARD\n\u{0}\u{1}").isEmpty)
    }

    @Test("Byte order marks are ignored, even in concatenated files")
    func byteOrderMark() {
        let card = "\u{FEFF}BEGIN:VCARD\nFN:A\nEND:VCARD\n"
        #expect(cards(items(card + card)).map(\.contact.givenName) == ["A", "A"])
    }

    @Test(
        "UTF-16 is read with and without a byte order mark, however its bytes arrive", arguments: [1, 2, 3, 5, .max])
    func utf16(size: Int) {
        let text = "BEGIN:VCARD\r\nFN:Søren 林 🎻\r\nNOTE:a\\nb\r\nEND:VCARD\r\n"
        for isBigEndian in [true, false] {
            for mark in [[UInt16(0xFEFF)], []] {
                let bytes = (mark + Array(text.utf16)).flatMap { unit in
                    let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
                    return isBigEndian ? [high, low] : [low, high]
                }
                let read = cards(items(bytes, pieces: size))
                #expect(read.map(\.contact.givenName) == ["Søren 林 🎻"])
                #expect(read.first?.contact.note == "a\nb")
                #expect(read.first?.line == 1)
            }
        }
    }

    @Test("Invalid UTF-8 is read as Windows-1252, and reported")
    func notUTF8() {
        let read = cards(items(Array("BEGIN:VCARD\nFN:Ren".utf8) + [0xE9, 0x80] + Array("\nEND:VCARD".utf8))).first
        #expect(read?.contact.givenName == "René€")
        #expect(read?.remarks == [CardProblem(line: 2, reason: .notUTF8)])
    }

    @Test("Control characters are removed")
    func controls() {
        let read = cards(items("BEGIN:VCARD\nFN:A\u{1B}[31m\u{9B}B\u{7F}\nX-Y:\u{7}z\nEND:VCARD")).first?.contact
        #expect(read?.givenName == "A[31mB")
        #expect(read?.extraProperties == ["X-Y:z"])
    }
}
