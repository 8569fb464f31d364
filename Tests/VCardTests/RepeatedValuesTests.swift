import BrokerModel
import Testing

@testable import BrokerVCard

@Suite("One value in several properties, and properties that a card has once")
struct RepeatedValuesTests {
    private func read(_ lines: [String]) -> Contact? {
        cards(
            items(
                (["BEGIN:VCARD", "VERSION:3.0", "N:Moe;Ragna;;;"] + lines + ["END:VCARD", ""]).joined(separator: "\n"))
        )
        .first?.contact
    }

    private func isStable(_ contact: Contact) -> Bool {
        [VCardVersion.v3_0, .v4_0].allSatisfy { version in
            cards(items(VCardWriter(version: version).card(contact))).map(\.contact) == [contact]
        }
    }

    private static func orders(_ lines: [[String]]) -> [[[String]]] {
        guard lines.count > 1 else { return [lines] }
        return lines.indices.flatMap { place in
            var rest = lines
            let first = rest.remove(at: place)
            return orders(rest).map { [first] + $0 }
        }
    }

    @Test("The same anniversary in any two or three properties is one date, in any order")
    func anniversaries() throws {
        let all = [
            ["ANNIVERSARY:20100508"], ["item1.X-ABDATE:2010-05-08", "item1.X-ABLabel:_$!<Anniversary>!$_"],
            ["X-ANNIVERSARY:2010-05-08"], ["X-EVOLUTION-ANNIVERSARY:2010-05-08"],
            ["X-KADDRESSBOOK-X-Anniversary:20100508"], ["X-MS-ANNIVERSARY:20100508"],
            ["X-ANDROID-CUSTOM:vnd.android.cursor.item/contact_event;2010-05-08;1;;;;;;;;;;;;;"],
        ]
        let date = LabeledDate(label: "_$!<Anniversary>!$_", value: "2010-05-08")
        for one in all.indices {
            for two in all.indices where two > one {
                for three in all.indices where three > two {
                    for lines in Self.orders([all[one], all[two], all[three]]) {
                        let contact = try #require(read(lines.flatMap { $0 }))
                        #expect(contact.dates == [date] && contact.extraProperties == [], "\(lines)")
                    }
                }
            }
        }
        let other = try #require(read(["X-ANNIVERSARY:2011-05-08", "ANNIVERSARY:20100508"]))
        #expect(other.dates.map(\.value) == ["2010-05-08", "2011-05-08"] && isStable(other))
    }

    @Test("The same relation, profile or messenger in two properties is one, in any order")
    func others() throws {
        let relations = [
            ["RELATED;TYPE=spouse;VALUE=text:Bo"], ["item1.X-ABRELATEDNAMES:Bo", "item1.X-ABLabel:_$!<Spouse>!$_"],
            ["X-EVOLUTION-SPOUSE:Bo"], ["X-KADDRESSBOOK-X-SpousesName:Bo"], ["X-MS-SPOUSE;N:Bo"],
        ]
        let profiles = [
            ["X-SOCIALPROFILE;TYPE=Mastodon;X-USER=bo:https://x.example/@bo"],
            ["SOCIALPROFILE;SERVICE-TYPE=Mastodon:https://x.example/@bo"],
        ]
        let messengers = [["IMPP:sip:bo@x.example"], ["X-MS-IMADDRESS:sip:bo@x.example"]]
        let bare = [["IMPP:sip:bo@x.example"], ["X-MS-IMADDRESS:bo@x.example"]]
        for kind in [relations, profiles, messengers, bare] {
            for one in kind.indices {
                for two in kind.indices where one != two {
                    let contact = try #require(read(kind[one] + kind[two]))
                    let count =
                        contact.contactRelations.count + contact.socialProfiles.count
                        + contact.instantMessageAddresses.count
                    #expect(count == 1 && contact.extraProperties == [], "\(kind[one]) \(kind[two])")
                    #expect(contact.socialProfiles.allSatisfy { $0.username == "bo" })
                    #expect(isStable(contact))
                }
            }
        }
    }

    @Test("A value that a contact has twice is written and read twice")
    func twice() {
        var contact = Contact()
        contact.givenName = "A"
        let date = LabeledDate(label: "_$!<Anniversary>!$_", value: "2010-05-08")
        contact.dates = [date, LabeledDate(label: "x", value: "2010-05-08"), date]
        contact.contactRelations = [
            LabeledString(label: "_$!<Spouse>!$_", value: "Bo"), LabeledString(label: "_$!<Spouse>!$_", value: "Bo"),
        ]
        #expect(isStable(contact))
    }

    @Test("Outlook's and Samsung's properties are read where contacts have a place")
    func outlook() throws {
        let contact = try #require(
            read([
                "TEL;TYPE=WORK:+47 1", "X-MS-TEL;TYPE=VOICE;ASSISTANT=:+47 2", "X-MS-TEL;TYPE=VOICE;COMPANY=:+47 3",
                "X-MS-TEL;TTYTDD=:+47 4", "X-MS-TEL;CALLBACK;VOICE:+47 5", "X-MS-TEL:+47 1",
                "X-MS-IMADDRESS:bo@x.example",
                "X-MS-ANNIVERSARY:20010203", "X-MS-SPOUSE;N:Berg;Bo", "X-MS-MANAGER:Cy", "X-MS-ASSISTANT:Di",
            ]))
        #expect(
            contact.phoneNumbers.map { "\($0.label ?? "") \($0.value)" } == [
                "_$!<Work>!$_ +47 1", "assistant +47 2", "_$!<Main>!$_ +47 3", "TTY +47 4", "callback +47 5",
            ])
        #expect(contact.contactRelations.map(\.value) == ["Bo Berg", "Cy", "Di"])
        #expect(contact.dates.map(\.value) == ["2001-02-03"])
        #expect(contact.instantMessageAddresses.map(\.username) == ["bo@x.example"])
        #expect(contact.extraProperties == [] && isStable(contact))
    }

    @Test("A card of vCard 4.0 has each property as often as RFC 6350 allows, and nothing is lost")
    func cardinalities() throws {
        let pool = [
            "BDAY:19900131", "BDAY:1991-01-31", "BDAY;VALUE=text:circa 1800", "BDAY;ALTID=1:19900131",
            "BDAY;ALTID=1;LANGUAGE=nb;VALUE=text:da", "ANNIVERSARY:20100508", "ANNIVERSARY:20110509",
            "ANNIVERSARY;VALUE=text:spring", "X-ABDATE:2010-05-08", "GENDER:F", "GENDER:O;x", "UID:1", "UID:2",
            "KIND:org",
            "KIND:application", "KIND:x-a", "X-ABShowAs:COMPANY", "N:A;B;;;", "N;ALTID=1:C;D;;;",
            "N;ALTID=1;PHONETIC=ipa:c;d;;;", "item1.UID:3", "X-CONTACTBROKER-BDAY:19990101", "TITLE:a", "TITLE:b",
        ]
        var state: UInt64 = 7
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<1_500 {
            let lines = (0...next(7)).map { _ in pool[next(pool.count)] }
            let contact = try #require(read(lines))
            let written = WrittenProperty.all(VCardWriter(version: .v4_0).card(contact))
            for name in ["BDAY", "ANNIVERSARY", "GENDER", "KIND", "N", "UID", "REV", "PRODID", "VERSION"] {
                let own = written.filter { $0.name == name }
                let alternatives = Set(own.map { $0.parameters.first { $0.hasPrefix("altid=") } ?? "" })
                #expect(own.count < 2 || alternatives == ["altid=1"], "\(lines): \(own)")
            }
            #expect(isStable(contact), "\(lines) \(contact.extraProperties)")
        }
    }
}
