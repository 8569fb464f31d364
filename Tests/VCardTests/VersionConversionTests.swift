import BrokerModel
import BrokerVCard
import Testing

@Suite("Properties that one version of vCard does not have")
struct VersionConversionTests {
    private func lines(_ contact: Contact?, _ version: VCardVersion) -> [String] {
        String(decoding: VCardWriter(version: version).card(contact ?? Contact()), as: UTF8.self)
            .replacing("\r\n ", with: "").split(separator: "\r\n").map(String.init)
    }

    /// The contact after an export to each version and back must be the same.
    private func isStable(_ contact: Contact?) -> Bool {
        [VCardVersion.v3_0, .v4_0].allSatisfy { version in
            cards(items(VCardWriter(version: version).card(contact ?? Contact()))).map(\.contact) == [contact]
        }
    }

    @Test("An address's LABEL is a property in vCard 3.0 and a parameter in 4.0")
    func labels() {
        let address = "ADR;TYPE=HOME,pref:;;Quay 2;Bergen;;;"
        let label = #"LABEL;TYPE=HOME:Ada\, Quay 2\n"Bergen""#
        let read = contact("FN:Ada", "N:;Ada;;;", label, address, "ADR;TYPE=WORK:;;Dock 1;;;;")
        #expect(read?.extraProperties.count == 1 && read?.postalAddresses.count == 2)
        #expect(
            lines(read, .v4_0).contains(#"ADR;TYPE=home;PREF=1;LABEL="Ada, Quay 2^n^'Bergen^'":;;Quay 2;Bergen;;;"#))
        #expect(!lines(read, .v4_0).contains { $0.hasPrefix("LABEL") })
        #expect(lines(read, .v3_0).filter { $0.hasPrefix("LABEL") || $0.hasSuffix("Bergen;;;") } == [address, label])
        #expect(isStable(read))
    }

    @Test(
        "Every label stays with its address, or alone",
        arguments: [
            ["ADR;TYPE=HOME:;;a;;;;", "ADR;TYPE=HOME:;;b;;;;", "LABEL;TYPE=HOME:A", "LABEL;TYPE=HOME:B"],
            ["ADR;TYPE=HOME:;;a;;;;", "ADR;TYPE=HOME;LABEL=B;X-ID=7:;;b;;;;", "ADR;TYPE=WORK:;;c;;;;"],
            ["ADR;TYPE=HOME:;;a;;;;", "LABEL;TYPE=HOME,pref:A", "LABEL;TYPE=HOME,pref:B", "LABEL;TYPE=WORK:C"],
            ["item1.ADR:;;a;;;;", "item1.X-ABLabel:Boat", "item2.ADR:;;b;;;;", "item2.LABEL:B", "LABEL;LANGUAGE=nb:C"],
            ["ADR;TYPE=x-boat:;;a;;;;", "ADR;TYPE=HOME:;;b;;;;", "LABEL:A", "LABEL;TYPE=x-boat:B"],
            ["X-CONTACTBROKER-LABEL;TYPE=HOME:A", "ADR;TYPE=HOME:;;a;;;;", "LABEL:"],
            ["ADR;TYPE=HOME:;;a;;;;", "LABEL:A"], ["ADR;LABEL=A:;;;;;;", "label;type=HOME;x-y=z:A", "TEL:1"],
        ])
    func placement(lines given: [String]) throws {
        let text = (["BEGIN:VCARD", "VERSION:3.0", "FN:A"] + given + ["END:VCARD", ""]).joined(separator: "\r\n")
        let read = try #require(cards(items(text)).first).contact
        #expect(isStable(read), "\(read.extraProperties)")
        let written = lines(read, .v4_0)
        #expect(!written.contains { $0.hasPrefix("LABEL") || $0.contains(".LABEL") }, "\(written)")
        let labels = given.filter { $0.uppercased().contains("LABEL") && !$0.hasSuffix(":") && !$0.contains("X-AB") }
        #expect(written.count { $0.contains("LABEL") && !$0.contains("X-AB") } == labels.count, "\(written)")
    }

    @Test("Base64 of other properties is a data URI in vCard 4.0, and the same property again in 3.0")
    func binary() {
        let given = [
            "LOGO;TYPE=GIF;ENCODING=b:R0lG", "SOUND;ENCODING=b;TYPE=WAVE:UklG", "KEY;TYPE=PGP;ENCODING=BASE64:mQEN",
            "item3.X-SCAN;ENCODING=b:AAAA",
        ]
        let read = contact("FN:A", "N:;A;;;", given[0], given[1], given[2], given[3], "TEL:1")
        #expect(read?.extraProperties == given)
        let written = lines(read, .v4_0)
        #expect(written.contains("LOGO;TYPE=GIF;X-CONTACTBROKER-ENCODING=b:data:image/gif;base64,R0lG"))
        #expect(written.contains("SOUND;X-CONTACTBROKER-ENCODING=b;TYPE=WAVE:data:audio/wave;base64,UklG"))
        #expect(written.contains { $0.hasPrefix("KEY") && $0.hasSuffix(":data:application/pgp-keys;base64,mQEN") })
        #expect(written.contains { $0.hasSuffix(":data:application/octet-stream;base64,AAAA") })
        #expect(!written.contains { $0.contains(";ENCODING=") })
        #expect(given.allSatisfy(lines(read, .v3_0).contains))
        #expect(isStable(read))
    }

    @Test("ENCODING and VALUE of what is not base64 are not kept, and a changed data URI is not base64 any more")
    func notBinary() {
        let read = contact(
            "FN:A", "N:;A;;;", "LOGO;ENCODING=b:https://x.example/a.gif", "X-A;ENCODING=8BIT:a",
            "SOUND;VALUE=binary;ENCODING=b:Ukl G", "KEY;X-CONTACTBROKER-ENCODING=b:https://x.example/key",
            "KEY;X-CONTACTBROKER-ENCODING=quoted-printable:data:a/b;base64,AAAA")
        #expect(
            read?.extraProperties == [
                "LOGO:https://x.example/a.gif", "X-A:a", "SOUND;ENCODING=b:UklG", "KEY:https://x.example/key",
                "KEY:data:a/b;base64,AAAA",
            ])
        #expect(isStable(read))
    }

    private static let mixture = [
        "ADR;TYPE=HOME:;;a;;;;", "ADR;TYPE=HOME:;;b;;;;", "ADR;TYPE=WORK,pref:;;c;;;;", "ADR:;;d;;;;",
        "ADR;TYPE=x-boat:;;e;;;;", "item1.ADR:;;f;;;;", "item1.X-ABLabel:Boat", "item1.LABEL:A", "ADR;LABEL=B:;;g;;;;",
        "ADR;LABEL=C:;;;;;;", "LABEL;TYPE=HOME:D", "LABEL;TYPE=HOME,pref:E", "LABEL;TYPE=WORK:F", "LABEL:G",
        "LABEL;TYPE=x-boat;LANGUAGE=nb:H", "X-CONTACTBROKER-LABEL:I", "X-CONTACTBROKER-LABEL;TYPE=HOME:J",
        "ADR;PREF=3;LABEL=K;TYPE=HOME;X-ID=7:;;h;;;;", "LOGO;ENCODING=b;TYPE=GIF:R0lG",
        "item2.LOGO;ENCODING=BASE64:R0lG",
        "KEY;ENCODING=b;VALUE=binary:R0 lG", "KEY;X-CONTACTBROKER-ENCODING=b;ENCODING=b:data:;base64,R0lG",
        "KEY;ENCODING=7BIT;X-CONTACTBROKER-ENCODING=b;TYPE=a:data:x;base64,R0lG", "LABEL;ENCODING=b:R0lG",
        "N:Soto;Luz,Ana;;;Jr.,,M.D.", "N;X-CONTACTBROKER-SPLIT=1.1:Soto;Luz Ana;;;", "ORG:A;B;;C\\, D",
        "item2.ORG:;B;C",
        "TEL;X-CUSTOM(a, b):1", "TEL;CELL;X-CUSTOM(a,,A):2", "item1.TEL;X-CUSTOM(Boat):3", "ADR;X-CUSTOM(Boat):;;i;;;;",
        "X-ANDROID-CUSTOM:vnd.android.cursor.item/nickname;Addie;1", "NICKNAME:Addie", "NICKNAME:Addie,Ad",
        "X-ANDROID-CUSTOM:vnd.android.cursor.item/contact_event;2011-06-04;1", "ANNIVERSARY:20110604",
        "X-EVOLUTION-ANNIVERSARY:2011-06-04T10:00:00", "item1.X-EVOLUTION-SPOUSE;X-ID=7:Bo",
        "RELATED;TYPE=spouse;VALUE=text:Bo",
        "X-KADDRESSBOOK-X-SpousesName;PREF=2:Bo", "X-messaging/xmpp-All;TYPE=home:ada\u{E000}bo", "X-JABBER:ada",
        "item1.X-messaging/x-All:ada",
        "FN:B", "FN;LANGUAGE=nb:C", "item2.FN;PREF=2:b", "N:B;;;;", "ORG:a", "TEL;VALUE=uri:tel:+1;ext=2;isub=3",
        "item1.TEL;TYPE=x-b:sip:a@x.example", "TEL;TYPE=a,PREF=1:4", "TEL;VALUE=uri;TYPE=home;tel:5;phone-context=x",
        "BDAY:1985-4-7", "BDAY:soon", "BDAY;ALTID=1:19900101", "X-CONTACTBROKER-BDAY:1990-01-01",
        "X-CONTACTBROKER-KIND:org",
        "X-MS-TEL;COMPANY=:5", "item1.X-MS-SPOUSE;N:B;C", "X-ABDATE:2011-06-04", "item2.X-ABDATE:2011-06-04",
        "SOCIALPROFILE;SERVICE-TYPE=a:https://x.example", "item1.X-SOCIALPROFILE;TYPE=a,b;X-USER=u:https://x.example",
        "SOCIALPROFILE;SERVICE-TYPE=A;USERNAME=v;X-ID=1:https://x.example", "IMPP:Matrix:a", "X-MS-IMADDRESS:a",
        "UID:1",
        "UID:2", "KIND:x", "GENDER:F", "X-ABRELATEDNAMES:Bo", "X-Y;Z=\"a=b\",TYPE=c:d",
    ]

    @Test("Any mixture of such properties is read back unchanged", arguments: [1, 2, 3, 4])
    func mixtures(seed: UInt64) throws {
        var state = seed
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<1_000 {
            let given = (0...next(9)).map { _ in Self.mixture[next(Self.mixture.count)] }
            let text = (["BEGIN:VCARD", "VERSION:3.0", "FN:A"] + given + ["END:VCARD", ""]).joined(separator: "\r\n")
            let read = try #require(cards(items(text)).first).contact
            let written = lines(read, .v4_0)
            #expect(isStable(read), "\(given) \(read.extraProperties)")
            #expect(!written.contains { $0.contains(";ENCODING=") || $0.hasPrefix("LABEL") }, "\(written)")
        }
    }
}
