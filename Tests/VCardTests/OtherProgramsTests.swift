import BrokerModel
import BrokerVCard
import Testing

/// A line of Android's: the kind, its values, and empty columns.
private func androidLine(_ kind: String, _ values: String...) -> String {
    "X-ANDROID-CUSTOM:vnd.android.cursor.item/\(kind);"
        + (0..<15).map { $0 < values.count ? values[$0] : "" }.joined(separator: ";")
}

@Suite("Properties of Android, Evolution and KDE")
struct OtherProgramsTests {
    private func lines(_ contact: Contact?, _ version: VCardVersion = .v3_0) -> [String] {
        String(decoding: VCardWriter(version: version).card(contact ?? Contact()), as: UTF8.self)
            .replacing("\r\n ", with: "").split(separator: "\r\n").map(String.init)
    }

    private func isStable(_ contact: Contact?) -> Bool {
        [VCardVersion.v3_0, .v4_0].allSatisfy { version in
            cards(items(VCardWriter(version: version).card(contact ?? Contact()))).map(\.contact) == [contact]
        }
    }

    @Test(
        "Android's custom label is the label of its value",
        arguments: [
            ("TEL;X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=E8=88=B9=2C=3B):1", "船,;"),
            ("TEL;X-CUSTOM(Boat, left):1", "Boat, left"), ("TEL;TYPE=X-CUSTOM(Boat):1", "Boat"),
            ("TEL;X-CUSTOM(CHARSET=ISO-8859-1,ENCODING=QUOTED-PRINTABLE,B=E5t):1", "Båt"),
            ("TEL;VOICE;x-custom(X-Boat):1", "Boat"), ("TEL;X-CUSTOM():1", nil),
        ] as [(String, String?)])
    func labels(line: String, label: String?) {
        for version in ["2.1", "3.0"] {
            let read = contact("N:Berg;Jan", line, version: version)
            #expect(read?.phoneNumbers == [LabeledString(label: label, value: "1")])
            #expect(isStable(read), "\(read?.extraProperties ?? [])")
        }
    }

    @Test("A custom label beside a type is kept as a type")
    func typesToo() {
        let read = contact("N:Berg;Jan", "TEL;CELL;X-CUSTOM(a, b):1", version: "2.1")
        #expect(read?.phoneNumbers.map(\.label) == ["_$!<Mobile>!$_"])
        #expect(lines(read).contains("TEL;TYPE=CELL,VOICE,a,b:1"))
        #expect(isStable(read))
    }

    @Test("Android's nickname, dates and relations are read, and written as properties that others read")
    func android() {
        let read = contact(
            "FN:Ada Berg", "N:Berg;Ada;;;", "NICKNAME:Addie", androidLine("nickname", "Addie", "1"),
            androidLine("contact_event", "2011-06-04", "1"),
            androidLine("contact_event", "--12-24", "0", "Sail, first"),
            androidLine("contact_event", "2020-01-02", "2"), androidLine("relation", "Bo", "14"),
            androidLine("relation", "Cy", "0", "Skipper"), androidLine("relation", "Di", "12"))
        #expect(read?.nickname == "Addie")
        #expect(
            read?.dates == [
                LabeledDate(label: "_$!<Anniversary>!$_", value: "2011-06-04"),
                LabeledDate(label: "Sail, first", value: "--12-24"),
                LabeledDate(label: "_$!<Other>!$_", value: "2020-01-02"),
            ])
        #expect(
            read?.contactRelations == [
                LabeledString(label: "_$!<Spouse>!$_", value: "Bo"), LabeledString(label: "Skipper", value: "Cy"),
                LabeledString(label: "relative", value: "Di"),
            ])
        #expect(read?.extraProperties == [])
        #expect(lines(read, .v4_0).contains("ANNIVERSARY:20110604"))
        #expect(lines(read, .v4_0).contains("RELATED;TYPE=spouse;VALUE=text:Bo"))
        #expect(isStable(read))
    }

    @Test(
        "Anything else of Android's stays as it was",
        arguments: [
            androidLine("contact_event", "spring 2011", "1"), androidLine("contact_event", "1990-01-31", "3"),
            androidLine("relation", "Bo", "15"), androidLine("relation", "Bo", "99999999999999999999"),
            androidLine("identity", "Bo", "1"), androidLine("nickname", "Bo", "1", "", "beside"),
            androidLine("nickname"),
            "X-ANDROID-CUSTOM:", "X-ANDROID-CUSTOM:Bo",
        ])
    func androidOthers(line: String) {
        let read = contact("FN:Ada Berg", "N:Berg;Ada;;;", line)
        #expect(read?.extraProperties == (line.hasSuffix(":") ? [] : [line]))
        #expect(read?.nickname == "" && read?.contactRelations == [] && read?.dates == [])
        #expect(isStable(read))
    }

    @Test("Evolution's and KDE's relations, anniversaries and messengers are read")
    func evolutionAndKDE() {
        let read = contact(
            "FN:Ada Berg", "N:Berg;Ada;;;", "X-EVOLUTION-SPOUSE:Bo Berg", "X-EVOLUTION-ANNIVERSARY:2011-06-04",
            "X-EVOLUTION-MANAGER:Cy", "X-EVOLUTION-ASSISTANT:", "X-KADDRESSBOOK-X-SpousesName:Bo Berg",
            "X-KADDRESSBOOK-X-Anniversary:20110604", "X-KADDRESSBOOK-X-AssistantsName:Di",
            "X-messaging/xmpp-All:ada@x.org\u{E000}ada@y.org", "X-messaging/gadu-All:12345", "X-JABBER:ada@x.org",
            "X-messaging/meanwhile-All:ada", "X-messaging/icq-All: ")
        #expect(
            read?.contactRelations
                == [("Spouse", "Bo Berg"), ("Manager", "Cy"), ("Assistant", "Di")].map {
                    LabeledString(label: "_$!<\($0)>!$_", value: $1)
                })
        #expect(read?.dates == [LabeledDate(label: "_$!<Anniversary>!$_", value: "2011-06-04")])
        #expect(
            read?.instantMessageAddresses.map { "\($0.service) \($0.username)" } == [
                "Jabber ada@x.org", "Jabber ada@y.org", "GaduGadu 12345", "meanwhile ada",
            ])
        #expect(read?.extraProperties == [])
        #expect(lines(read).contains("X-JABBER:ada@y.org"))
        #expect(isStable(read))
    }

    @Test("A slash is in no other property's name")
    func slash() {
        let read = items("BEGIN:VCARD\nFN:A\nX-other/xmpp-All:a\nX-messaging/:a\nEND:VCARD\n")
        #expect(cards(read).first?.remarks.map(\.line) == [3, 4])
    }
}
