import BrokerModel
import Testing

@testable import BrokerVCard

@Suite("Forms of values, parameters and empty cards")
struct ValueFormsTests {
    private func read(_ line: String) -> ReadCard? {
        cards(items("BEGIN:VCARD\nFN:A\n\(line)\nEND:VCARD\n")).first
    }

    private func isStable(_ contact: Contact?) -> Bool {
        [VCardVersion.v3_0, .v4_0].allSatisfy { version in
            cards(items(VCardWriter(version: version).card(contact ?? Contact()))).map(\.contact) == [contact]
        }
    }

    @Test(
        "A telephone URI gives the number and its extension",
        arguments: [
            ("TEL;VALUE=uri:tel:+47-55-50-00-01;ext=12", "+47-55-50-00-01 ext. 12"),
            ("TEL;VALUE=uri:tel:+47-55-50-00-01;phone-context=x;ext=12", "+47-55-50-00-01 ext. 12"),
            ("TEL;VALUE=uri:TEL:%2B47-55%2050", "+47-55 50"), ("TEL:tel:+47", "+47"),
            ("TEL;VALUE=uri:tel:5001;phone-context=+47-55", "+47-55-5001"),
            ("TEL;VALUE=uri:tel:5001;phone-context=x.example", "5001"),
            ("TEL;VALUE=uri:sms:+47551;ext=1", "+47551 ext. 1"),
            ("TEL;VALUE=uri:sms:+4755?body=hello", "+4755"), ("TEL;VALUE=uri;TYPE=\"home\";tel:+4755", "+4755"),
            ("TEL;HOME;tel:+4755", "+4755"), ("TEL;VALUE=uri;HOME:tel:+4755;isub=14", "+4755"),
            ("TEL:+4755;12", "+4755;12"),
        ])
    func telephones(line: String, number: String) {
        let contact = read(line)?.contact
        #expect(contact?.phoneNumbers.map(\.value) == [number])
        #expect(contact?.phoneNumbers.first?.label == (line.uppercased().contains("HOME") ? "_$!<Home>!$_" : nil))
        #expect(isStable(contact))
    }

    @Test("Other parameters of a telephone URI are kept; an address of SIP is a messenger's")
    func others() throws {
        let number = try #require(read("TEL;VALUE=uri:tel:5001;phone-context=x.example;isub=14")?.contact)
        let written = String(decoding: VCardWriter(version: .v4_0).card(number), as: UTF8.self)
        #expect(written.contains("TEL;X-TEL-PHONE-CONTEXT=x.example;X-TEL-ISUB=14:5001\r\n"))
        let address = try #require(read("TEL;VALUE=uri:sip:ann@x.example")?.contact)
        #expect(address.phoneNumbers == [] && isStable(address))
        #expect(address.instantMessageAddresses.map { "\($0.service) \($0.username)" } == ["SIP ann@x.example"])
    }

    @Test("A semicolon before a URI makes its scheme no type")
    func schemes() {
        #expect(read("URL;WORK;https://x.example/a")?.contact.urlAddresses.map(\.value) == ["https://x.example/a"])
        #expect(read("EMAIL;TYPE=HOME;mailto:a@x.example")?.contact.emailAddresses.map(\.value) == ["a@x.example"])
        let chat = read("IMPP;VALUE=uri;PREF=1;irc://irc.x.example/ben,isuser")?.contact.instantMessageAddresses
        #expect(chat?.map { "\($0.service) \($0.username)" } == ["IRC //irc.x.example/ben,isuser"])
    }

    @Test("The case of a messenger's service is kept")
    func services() {
        for (line, service) in [
            ("IMPP:Matrix:u/ada", "Matrix"), ("IMPP:XMPP:ada", "Jabber"),
            ("IMPP;X-SERVICE-TYPE=MyChat:x-apple:ada", "MyChat"),
            ("X-messaging/MeanWhile-All:ada", "MeanWhile"), ("IMPP:x-APPLE:ada", ""),
        ] {
            let contact = read(line)?.contact
            #expect(contact?.instantMessageAddresses.map(\.service) == [service] && isStable(contact), "\(line)")
        }
    }

    @Test("A comma between parameters, where a semicolon belongs, loses neither")
    func commas() throws {
        let line = "TEL;TYPE=HOME,PREF=1,VALUE=uri,X-ID=7:tel:+4755"
        let contact = try #require(read(line)?.contact)
        #expect(contact.phoneNumbers == [LabeledString(label: "_$!<Home>!$_", value: "+4755")])
        #expect(
            String(decoding: VCardWriter(version: .v4_0).card(contact), as: UTF8.self).contains(
                "TYPE=home;X-ID=7:+4755"))
        #expect(read("EMAIL;INTERNET,TYPE=WORK:a@x")?.contact.emailAddresses.first?.label == "_$!<Work>!$_")
        for values in [["a", "TYPE=b"], ["X-A=1"], ["b,PREF=1"], ["="]] {
            let parameter = Parameter("X-Y", values)
            #expect(Parameter.all(in: Array(parameter.text.dropFirst().utf8)[...]).map(\.values) == [values])
        }
    }

    @Test(
        "A date that is no date is kept and reported, a part of one or a text is only kept",
        arguments: ["BDAY", "ANNIVERSARY", "X-ABDATE", "X-EVOLUTION-ANNIVERSARY", "X-MS-ANNIVERSARY"])
    func dates(name: String) {
        let wrong = [
            "12/31/1985", "31.12.1985", "0000-03-04", "-0-03-04", "-0229", "1900-02-29", "1985-13-01", "1985-00-01",
            "soon",
            "\"1985-04-12\"", "85-04-12", "1985-04-", "--13-01",
        ]
        for value in wrong {
            let card = read("\(name):\(value)")
            #expect(card?.remarks == [CardProblem(line: 3, reason: .badDate)], "\(value)")
            #expect(card?.contact.extraProperties == ["\(name):\(value)"])
        }
        for value in ["1985", "1985-04", "--04", "---12", "T1030"] {
            #expect(
                read("\(name):\(value)")?.remarks == [] && read("\(name):\(value)")?.contact.birthday == "", "\(value)")
        }
        #expect(read("\(name);VALUE=text:circa 1800")?.remarks == [])
        for value in ["1985-4-7", "1985-04-07", "19850407", "1985-0407", "1985/04/07", "1985-4-07T", "1985.4.7"] {
            let contact = read("\(name):\(value)")?.contact
            let dates = [contact?.birthday, contact?.dates.first?.value].compactMap { $0 }.joined()
            #expect(dates == "1985-04-07", "\(value)")
        }
    }

    @Test("A nameless card with nothing that a person or a standard knows is not added, and said")
    func empty() {
        for lines in [
            ["Group: ", "First name:Edwin", "E-Mail 2:edwin@x.example"], ["E-Mail:emil@x.example"], ["X-A:b"],
            ["N:;;;;", "FN:", "Vorname:Ada"], ["KIND:individual", "Notiz:x"], ["TEL:", "X-ABShowAs:COMPANY"],
            ["UID:x"], ["UID:x", "REV:20260101T000000Z", "X-A:b"],
        ] {
            let read = items((["BEGIN:VCARD"] + lines + ["END:VCARD", ""]).joined(separator: "\n"))
            #expect(cards(read).isEmpty && problems(read) == [CardProblem(line: 1, reason: .empty)], "\(lines)")
        }
        for line in ["TEL:1", "NOTE:x", "ORG:x", "FN:x", "LABEL:x", "CATEGORIES:x"] {
            #expect(cards(items("BEGIN:VCARD\n\(line)\nEND:VCARD\n")).count == 1, "\(line)")
        }
        var contact = Contact()
        contact.extraProperties = ["X-A:b"]
        #expect(isStable(contact))
    }

    @Test("An empty VERSION is read like a missing one")
    func version() {
        #expect(cards(items("BEGIN:VCARD\nVERSION:\nFN:A\nEND:VCARD\n")).map(\.contact.givenName) == ["A"])
        #expect(cards(items("BEGIN:VCARD\nVERSION: \nVERSION:4.0\nFN:A\nEND:VCARD\n")).count == 1)
    }
}
