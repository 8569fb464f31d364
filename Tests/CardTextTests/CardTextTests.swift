import BrokerBounds
import BrokerCardText
import Testing

@Suite("The text of a card")
struct CardTextTests {
    @Test(
        "The text keeps every byte",
        arguments: [
            "BEGIN:VCARD\r\nFN:x\r\nEND:VCARD\r\n", "begin:vcard\nFN:x\nend:vcard",
            "\u{FEFF}BEGIN:VCARD\rFN:x\rEND:VCARD\r",
            "BEGIN:VCARD\r\r\nFN:x\r\r\n y\r\r\nEND:VCARD\r\r\n",
            "\n\nBEGIN:VCARD\n\nFN:x\n\n y\n\nEND:VCARD\nmore\n\n",
            "BEGIN:VCARD\n odd\nFN:x\nEND:VCARD\n", "BEGIN:VCARD\nFN:x\0\u{1}\nEND:VCARD", "BEGIN:VCARD\nEND:VCARD",
            "BEGIN:VCARD\nNOTE;ENCODING=QUOTED-PRINTABLE:a=\nb:c\nFN:x\nEND:VCARD\n",
        ])
    func identity(_ text: String) throws {
        let card = try CardText(Array(text.utf8))
        #expect(card.bytes == Array(text.utf8))
        #expect(card.units.filter { $0.name == "FN" }.count == (text.contains("FN") ? 1 : 0))
        #expect(try card.applying([]).bytes == card.bytes)
        let removed = try card.applying(card.units.indices.map { .remove($0) })
        #expect(removed.units.isEmpty)
        let added = try removed.applying(card.units.map { .add($0) })
        #expect(added.units.map(\.canonical) == card.units.map(\.canonical))
    }

    @Test(
        "What is not one card is an error",
        arguments: [
            ("", CardTextError.noCard), ("FN:x", .noCard), ("BEGIN:VCARD\nFN:x\n", .noCard),
            ("BEGIN:VCARD\nNOTE:xEND:VCARD", .noCard), ("BEGIN:VCARD FN:x\nEND:VCARD", .noCard),
            ("BEGIN:VCARDEND:VCARD", .noCard), ("BEGIN:VCARDEND:VCARD\nFN:x\nEND:VCARD", .noCard),
            ("BEGIN:VCARD\nEND:VCARD\nBEGIN:VCARD\nEND:VCARD", .severalCards),
            ("BEGIN:VCARD\nEND:VCARDBEGIN:VCARD\nEND:VCARD", .severalCards),
            ("BEGIN:VCARD\nFN:x\rBEGIN:VCARD\nEND:VCARD", .severalCards),
            ("BEGIN:VCARD\nFN:x\nEND:VCARD\nBEGIN:VCARD\n", .severalCards),
            ("BEGIN:VCARD\nAGENT:\nBEGIN:VCARD\nEND:VCARD\nEND:VCARD", .severalCards),
            ("BEGIN:VCARD\nVERSION:2.1\nEND:VCARD", .unsupportedVersion),
            ("BEGIN:VCARD\nVERSION:5.0\nEND:VCARD", .unsupportedVersion),
        ])
    func noCard(_ text: String, _ error: CardTextError) {
        #expect(throws: error) { try CardText(Array(text.utf8)) }
    }

    @Test("A folded line that looks like a card's beginning is text, as for an AGENT of vCard 3.0")
    func foldedCard() throws {
        #expect(try card("AGENT:", " BEGIN:VCARD\\nFN:x\\nEND:VCARD\\n", "FN:y").units.count == 2)
    }

    @Test("Each limit holds at its value and one past it")
    func limits() throws {
        let text = Array("BEGIN:VCARD\nFN:x\nNOTE:y\nEND:VCARD\n".utf8)
        var limits = VCardLimits()
        (limits.cardSize, limits.cardLines) = (text.count, 2)
        let card = try CardText(text, limits: limits)
        #expect(throws: CardTextError.tooLarge) { try card.applying([.add(card.units[0])]) }
        limits.cardSize -= 1
        #expect(throws: CardTextError.tooLarge) { try CardText(text, limits: limits) }
        (limits.cardSize, limits.cardLines) = (text.count, 1)
        #expect(throws: CardTextError.tooLarge) { try CardText(text, limits: limits) }
    }

    @Test("New lines are folded at 75 octets between characters")
    func folding() throws {
        let note = String(repeating: "Ærø 東京 ", count: 40)
        let folded = try card("FN:x").applying([.add(try card("NOTE:" + note).units[0])])
        #expect(folded.text.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 75 })
        #expect(folded.text.split(separator: "\r\n").count > 5)
        #expect(folded.units.last?.canonical == (try card("NOTE:" + note).units[0].canonical))
    }

    @Test("An added unit gets a group that the card does not use; the last of a name comes before it")
    func newGroup() throws {
        let old = try card("TEL:1", "ITEM1.X-ODD:x", "item2.X-ABLabel:of nothing", "NOTE:x")
        let new = try card("item1.TEL:2", "item1.X-ABLabel:Boat")
        #expect(
            try old.applying([.add(new.units[0])]).content
                == [
                    "TEL:1", "item3.TEL:2", "item3.X-ABLabel:Boat", "ITEM1.X-ODD:x", "item2.X-ABLabel:of nothing",
                    "NOTE:x",
                ])
    }

    @Test("A label stays while a member of its group needs it")
    func sharedLabel() throws {
        let old = try card("a.TEL:1", "a.X-ABLabel:Boat", "a.EMAIL:x@y")
        let one = try old.applying([.remove(0)])
        #expect(one.content == ["a.X-ABLabel:Boat", "a.EMAIL:x@y"])
        #expect(try one.applying([.remove(0)]).content.isEmpty)
        let yacht = try card("b.TEL:1", "b.X-ABLabel:Yacht").units[0]
        #expect(
            try old.applying([.replace(0, with: yacht)]).content
                == ["item1.TEL:1", "item1.X-ABLabel:Yacht", "a.X-ABLabel:Boat", "a.EMAIL:x@y"])
    }

    @Test("A replaced unit keeps the lines of its group that did not change")
    func replacedInGroup() throws {
        let old = try card("A.X-ABLABEL:Boat", "A.tel;type=home:1")
        let value = try card("b.TEL;TYPE=home:2", "b.X-ABLabel:Boat").units[0]
        #expect(try old.applying([.replace(0, with: value)]).content == ["A.X-ABLABEL:Boat", "A.TEL;TYPE=home:2"])
        let label = try card("b.TEL;TYPE=home:1", "b.X-ABLabel:Yacht").units[0]
        #expect(try old.applying([.replace(0, with: label)]).content == ["A.tel;type=home:1", "A.X-ABLabel:Yacht"])
    }

    @Test("A line does not join an open value that a change puts before it")
    func openValue() throws {
        let photo = try card("PHOTO;ENCODING=b:/9j/4AAQ").units[0]
        let odd = try card("PHOTO;ENCODING=b:/9j/4AAR", "", "iVBORw0K")
        #expect(try odd.applying([.replace(0, with: photo)]).units.map(\.canonical) == [photo.canonical])
        let old = try card("NOTE;ENCODING=QUOTED-PRINTABLE:a=")
        #expect(try old.applying([.add(try card("TEL:1").units[0])]).units.map(\.name) == ["NOTE", "TEL"])
    }

    /// Makes a text in which the given piece is repeated.
    struct Hostile: Sendable, CustomTestStringConvertible {
        let name: String
        var before = "NOTE:"
        let piece: String
        var after = ""
        var testDescription: String { name }

        func text(_ size: Int) -> [UInt8] {
            let count = size / piece.utf8.count
            return Array(
                "BEGIN:VCARD\nFN:x\n\(before)\(String(repeating: piece, count: count))\(after)\nEND:VCARD".utf8)
        }
    }

    @Test(
        "Hostile text takes time in proportion to its size",
        arguments: [
            Hostile(name: "one line", piece: "x"), Hostile(name: "folds", piece: "x\r\n "),
            Hostile(name: "lines", piece: "NOTE:x\n"), Hostile(name: "blank lines", piece: "\n"),
            Hostile(name: "NUL", piece: "\0"), Hostile(name: "CR", piece: "x:\r"),
            Hostile(name: "no end", piece: "x\n", after: "\nBEGIN"),
            Hostile(name: "parameters", before: "NOTE", piece: ";a=b,c", after: ":x"),
            Hostile(name: "quotes", before: "NOTE;A=", piece: "\"", after: ":x"),
            Hostile(
                name: "spaces after parameters", before: "TEL;A" + String(repeating: ",X-B=", count: 20_000),
                piece: " ", after: ":x"),
            Hostile(name: "components", before: "N:", piece: ";,"),
            Hostile(name: "schemes", before: "TEL:", piece: "tel:"),
            Hostile(name: "escapes", piece: "\\"), Hostile(name: "dates", before: "BDAY:", piece: "1-"),
            Hostile(name: "photo", before: "PHOTO;ENCODING=b:", piece: "/9j/\n "),
            Hostile(name: "groups", before: "", piece: "a.TEL:1\na.X-ABLabel:x\n"),
            Hostile(name: "cards", before: "", piece: "\nBEGIN:VCARD\n BEGIN:VCARD"),
            Hostile(name: "soft breaks", before: "NOTE;ENCODING=QUOTED-PRINTABLE:", piece: "a=\n"),
        ])
    func hostile(_ each: Hostile) throws {
        var limits = VCardLimits()
        limits.cardLines = 1_000_000
        func time(_ size: Int) -> Duration {
            let text = each.text(size)
            return ContinuousClock().measure {
                guard let card = try? CardText(text, limits: limits) else { return }
                _ = try? CardText.merge(base: nil, mine: card, theirs: card)
            }
        }
        let (small, large) = (time(131_072), time(1_048_576))
        #expect(large < small * 24 + .milliseconds(500), "\(small), then \(large) for eight times as much")
    }

    @Test("A long label that many members share is refused before it is copied")
    func repeatedLabel() {
        let lines = (0..<5_000).map { "a.TEL:\($0)" } + ["a.X-ABLabel:" + String(repeating: "x", count: 10_000)]
        #expect(throws: CardTextError.tooLarge) { try card(lines) }
    }
}
