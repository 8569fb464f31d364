import BrokerModel
import BrokerVCard
import Testing

@Suite("Reading vCard 2.1")
struct Version21Tests {
    private func contact21(_ lines: String...) -> Contact? {
        let card = ["BEGIN:VCARD", "VERSION:2.1"] + lines + ["END:VCARD", ""]
        return cards(items(card.joined(separator: "\r\n"))).first?.contact
    }

    @Test("Types without a parameter name are read")
    func bareTypes() {
        let read = contact21("N:Berg;Jan", "TEL;HOME;VOICE:1", "TEL;WORK;FAX;PREF:2", "EMAIL;INTERNET:a@x.org")
        #expect(read?.familyName == "Berg" && read?.givenName == "Jan")
        #expect(
            read?.phoneNumbers == [
                LabeledString(label: "_$!<WorkFAX>!$_", value: "2"), LabeledString(label: "_$!<Home>!$_", value: "1"),
            ])
        #expect(read?.emailAddresses == [LabeledString(value: "a@x.org")])
        #expect(read?.extraProperties == [])
    }

    @Test("Commas are text, and only backslashes of escapes are removed")
    func escapes() {
        let read = contact21(#"N:Public, Jr.;A\;B\\;x\:y"#, "NICKNAME:a,b", #"NOTE:C:\dir, or so"#)
        #expect(read?.familyName == "Public, Jr." && read?.givenName == #"A;B\"# && read?.middleName == #"x\:y"#)
        #expect(read?.nickname == "a,b")
        #expect(read?.note == #"C:\dir, or so"#)
    }

    @Test("Each property has its own character set")
    func characterSets() {
        var bytes = Array("BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=windows-1251:".utf8) + [0xC6]
        bytes += Array("\r\nTITLE;CHARSET=ISO-8859-1:".utf8) + [0xE9]
        bytes += Array("\r\nNOTE;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=C3=A9=0D=0A=E6=97=\r\n=A5\r\nEND:VCARD".utf8)
        let read = cards(items(bytes)).first
        #expect(read?.contact.familyName == "Ж" && read?.contact.jobTitle == "é")
        #expect(read?.contact.note == "é\n日")
        #expect(read?.remarks == [])
    }

    @Test("Unfolding removes the line break and keeps the white space")
    func folds() {
        #expect(contact21("N:A", "NOTE:one", " two", "\tthree")?.note == "one two\tthree")
    }

    @Test(
        "A picture ends at the first line that is not base64, with or without indentation",
        arguments: [
            "PHOTO;JPEG;BASE64:|  /9j/|  4AAQ||", "PHOTO;BASE64;JPEG:/9j/|4AAQ||", "PHOTO;ENCODING=BASE64:/9j/|4AAQ",
            "PHOTO;TYPE=JPEG;ENCODING=BASE64:|/9j/4AA=|", "PHOTO;ENCODING=BASE64;TYPE=JPEG: /9j/| 4AAQ| |",
        ])
    func pictures(lines: String) {
        let read = contact21("N:A", lines.replacing("|", with: "\r\n"), "TEL:1")
        #expect(read?.imageData == "/9j/4AAQ" || read?.imageData == "/9j/4AA=")
        #expect(read?.phoneNumbers.map(\.value) == ["1"])
    }

    @Test("An agent's card is kept in vCard 3.0's form, and does not change the outer card")
    func agent() {
        let read = contact21(
            "N:A", "AGENT:", "BEGIN:VCARD", "VERSION:2.1", "N:Inner;B", "TEL:2", "END:VCARD", "TEL:1")
        #expect(read?.phoneNumbers.map(\.value) == ["1"])
        #expect(read?.extraProperties == [#"AGENT:BEGIN:VCARD\nVERSION:2.1\nN:Inner\;B\nTEL:2\nEND:VCARD"#])
    }

    @Test("Kept properties get parameter names, and lose their encoding")
    func kept() {
        let read = contact21("N:A", "X-FOO;HOME;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:=C3=A9", "LOGO;GIF;BASE64:R0lG")
        #expect(read?.extraProperties == ["X-FOO;TYPE=HOME:é", "LOGO;TYPE=GIF;ENCODING=BASE64:R0lG"])
    }
}
