import BrokerModel
import Testing

@testable import BrokerVCard

@Suite("Files that are damaged, or that programs put together")
struct DamagedFilesTests {
    private let separators = [
        "", " ", "\t", ",", ";", "\u{0}", "\u{FEFF}", "-", "\\n", "<br>", "  |  ", "\u{A0}", "; x-mailer: none ",
        String(repeating: "=", count: 300),
    ]
    private let ends = ["END:VCARD", "end:vcard", "End : VCard", "END:\tVCARD ", "END:", "END:V"]
    private let beginnings = ["BEGIN:VCARD", "begin:vcard", "Begin :  vCard"]

    @Test("A card ends at END, whatever stands between it and the next card", arguments: [1, 7, 1_000])
    func glued(pieces: Int) {
        for separator in separators {
            for end in ends {
                for beginning in beginnings {
                    let text =
                        "BEGIN:VCARD\nN:Vik;Ola;;;\nTEL:1\n\(end)\(separator)\(beginning)\nN:Ås;Siv;;;\nNOTE:hers\nEND:VCARD"
                    let read = cards(items(Array(text.utf8), pieces: pieces))
                    #expect(read.map(\.contact.givenName) == ["Ola", "Siv"], "\(text)")
                    #expect(read.map(\.contact.note) == ["", "hers"] && read.map(\.line) == [1, 4])
                    #expect(read.first?.remarks == [CardProblem(line: 4, reason: .oddEnd)], "\(text)")
                    #expect(read.last?.contact.phoneNumbers == [] && read.last?.remarks == [])
                }
            }
        }
    }

    @Test("Many cards in one line are all read, in linear time")
    func oneLine() {
        let count = 20_000
        let text = "BEGIN:VCARD\n" + String(repeating: "END:VCARDBEGIN:VCARD", count: count) + "FN:Last\nEND:VCARD"
        let read = items(text)
        #expect(cards(read).map(\.contact.givenName) == ["Last"] && problems(read).count == count)
    }

    @Test("Lost line ends beside BEGIN and END cost no card and no value")
    func lostEnds() {
        let text = """
            BEGIN:VCARDVERSION:3.0
            FN:One
            NOTE:teaEND:VCARD
            BEGIN:VCARD
            FN:Two
            END:VCARD.
            BEGIN:VCARD
            FN:Three
            AGENT:
            BEGIN:VCARD
            FN:Inner
            END:VCARDEND:VCARDBEGIN:VCARD
            FN:Four
            NOTE:endEND:VCARD
            """
        let read = cards(items(text))
        #expect(read.map(\.contact.givenName) == ["One", "Two", "Three", "Four"])
        #expect(read.map(\.contact.note) == ["tea", "", "", "end"])
        #expect(
            read.map { $0.remarks.map(\.reason) } == [[.missingEnd], [.oddEnd], [.oddEnd], [.missingEnd]])
        let odd = cards(items("BEGIN:VCARD\nFN:A\nEND:VCRD\nTEL:1\nEND:VCARD"))
        #expect(odd.first?.remarks == [CardProblem(line: 3, reason: .oddEnd)])
        #expect(odd.first?.contact.phoneNumbers.map(\.value) == ["1"])
    }

    @Test("A text that contains the words of a boundary stays whole")
    func words() {
        var contact = Contact()
        contact.givenName = "END:VCARDBEGIN:VCARD"
        contact.note = "END:VCARDBEGIN:VCARD\nEND:VCARD\nBEGIN:VCARD"
        for version in [VCardVersion.v3_0, .v4_0] {
            #expect(cards(items(VCardWriter(version: version).card(contact))).map(\.contact) == [contact])
        }
    }

    // MARK: UTF-8

    private func note(_ bytes: [UInt8], head: String = "NOTE", mark: Bool = false) -> (String?, [CardProblem.Reason]) {
        let start = mark ? StreamDecoder.byteOrderMark : []
        let read = cards(
            items(start + Array("BEGIN:VCARD\nFN:A\n\(head):".utf8) + bytes + Array("\nEND:VCARD".utf8))
        ).first
        return (read?.contact.note, read?.remarks.map(\.reason) ?? [])
    }

    @Test("Of damaged UTF-8, only the damaged character is lost, wherever the damage is")
    func damaged() {
        let text = Array("Grüße aus Łódź, 林さん 🎻 и всё".utf8)
        for index in text.indices where text[index] >= 0x80 {
            for change in [0xFF, 0x41, nil] as [UInt8?] {
                var bytes = text
                if let change { bytes[index] = change } else { bytes.remove(at: index) }
                let (read, reasons) = note(bytes)
                #expect(read == String(decoding: bytes, as: UTF8.self) && reasons == [.notUTF8], "\(index)")
            }
        }
    }

    @Test("A declaration is enough: CHARSET, quoted-printable, or a byte order mark")
    func declared() {
        let bytes = Array("J".utf8) + [0xFC] + Array("rg".utf8)
        #expect(note(bytes).0 == "Jürg")
        for head in ["NOTE;CHARSET=UTF-8", "NOTE;CHARSET=utf8"] { #expect(note(bytes, head: head).0 == "J\u{FFFD}rg") }
        #expect(note(bytes, mark: true).0 == "J\u{FFFD}rg")
        #expect(note(bytes, head: "NOTE;CHARSET=iso-8859-1", mark: true).0 == "Jürg")
        let encoded = Array("J=FCrg =C3=A9".utf8)
        #expect(note(encoded, head: "NOTE;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE").0 == "J\u{FFFD}rg é")
    }

    @Test(
        "Windows-1252 stays right",
        arguments: [
            "Müller, Köln, Straße, größer", "«CAFÉ» «CLICHÉ»", "naïve façade déjà", "“Ærø” – ‘Å’ … 5 €",
            "SÃO PAULO, Ñandú",
        ])
    func western(text: String) {
        let bytes = text.unicodeScalars.map { scalar in
            (UInt8(0x80)...0xFF).first { Windows1252.decode([$0]).unicodeScalars.first == scalar }
                ?? UInt8(truncatingIfNeeded: scalar.value)
        }
        #expect(note(bytes).0 == text)
    }

    @Test("Surrogate pairs in UTF-8 are the characters that Java meant")
    func surrogates() {
        let violin: [UInt8] = [0xED, 0xA0, 0xBC, 0xED, 0xBE, 0xBB]
        let (read, reasons) = note(Array("a ".utf8) + violin)
        #expect(read == "a 🎻" && reasons == [])
        let (half, said) = note(Array("ä ö ü ".utf8) + violin.prefix(3) + Array("!".utf8))
        #expect(half == "ä ö ü \u{FFFD}!" && said == [.notUTF8])
    }

    @Test("A soft line break with a space within a character is only a fold")
    func softBreaks() {
        let text = "Ærø 林 🎻"
        let encoded = text.utf8.map {
            "=" + String($0 >> 4, radix: 16).uppercased() + String($0 & 15, radix: 16).uppercased()
        }
        var places: [Int] = []
        for scalar in text.unicodeScalars { places.append((places.last ?? 0) + String(scalar).utf8.count) }
        for place in 1..<encoded.count {
            let lines = encoded[..<place].joined() + "=\n " + encoded[place...].joined()
            let read = cards(
                items(
                    "BEGIN:VCARD\nVERSION:2.1\nFN:A\nNOTE;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:\(lines)\nEND:VCARD"))
            var expected = text.unicodeScalars.map(String.init)
            // Between two characters the space is part of the text.
            if let index = places.firstIndex(of: place) { expected.insert(" ", at: index + 1) }
            #expect(read.first?.contact.note == expected.joined() && read.first?.remarks == [], "\(place)")
        }
    }
}
