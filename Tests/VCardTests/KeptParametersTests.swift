import BrokerModel
import BrokerVCard
import Testing

@Suite("Kept parameters")
struct KeptParametersTests {
    private func lines(_ contact: Contact?, _ version: VCardVersion = .v3_0) -> [String] {
        guard let contact else { return [] }
        return String(decoding: VCardWriter(version: version).card(contact), as: UTF8.self)
            .replacing("\r\n ", with: "").split(separator: "\r\n").map(String.init)
    }

    @Test(
        "An unrecognised parameter is written again, on the same value",
        arguments: [VCardVersion.v3_0, .v4_0])
    func parameters(version: VCardVersion) {
        let read = contact(
            "FN:A", "TEL;TYPE=home:1", #"TEL;TYPE=home,x-ship;X-ID=7;LABEL="a,b^nc":2"#, "EMAIL;LANGUAGE=nb:a@x.org",
            "NOTE;LANGUAGE=nb;ALTID=1:hei")
        let written = lines(read, version)
        #expect(written.contains { $0.contains("x-ship") && $0.contains(#";X-ID=7;LABEL="a,b^nc":2"#) })
        #expect(written.contains { $0.hasPrefix("EMAIL") && $0.hasSuffix(";LANGUAGE=nb:a@x.org") })
        #expect(written.contains("NOTE;LANGUAGE=nb;ALTID=1:hei"))
        #expect(!written.contains { $0.contains("CONTACTBROKER") })
    }

    @Test("Kept parameters do not contain the value, and are dropped when it changes")
    func changes() {
        var read = contact("FN:A", "TEL;X-ID=7:+1 555 0100", "TEL;X-ID=8:+1 555 0101") ?? Contact()
        #expect(!read.extraProperties.contains { $0.contains("555") })
        #expect(read.extraProperties.allSatisfy { $0.hasSuffix(":") })
        read.phoneNumbers[0].value = "+1 555 0199"
        #expect(lines(read).contains("TEL;TYPE=pref:+1 555 0199"))
        #expect(lines(read).contains("TEL;X-ID=8:+1 555 0101"))
        read.phoneNumbers.swapAt(0, 1)
        #expect(lines(read).contains("TEL;TYPE=pref;X-ID=8:+1 555 0101"))
    }

    @Test("Two equal numbers keep their own parameters")
    func twice() {
        let read = contact("FN:A", "TEL;X-ID=7:1", "TEL;X-ID=8:1")
        #expect(lines(read).filter { $0.hasPrefix("TEL") } == ["TEL;TYPE=pref;X-ID=7:1", "TEL;X-ID=8:1"])
    }

    @Test("Groups of properties are kept")
    func groups() {
        let read = contact(
            "FN:A", "item1.TEL;TYPE=work:1", "item1.X-FLOOR:3", "item2.EMAIL:a@x.org", "item2.X-ABLabel:Boat",
            "desk.ADR:;;Quay 2;;;;", "item1.X-ABLabel:Front desk")
        let written = lines(read)
        #expect(written.contains("item1.TEL;TYPE=work:1") && written.contains("item1.X-FLOOR:3"))
        #expect(written.count { $0.hasPrefix("item1.X-ABLabel") } == 1)
        #expect(written.contains { $0.hasPrefix("desk.ADR") })
        #expect(cards(items(VCardWriter(version: .v3_0).card(read ?? Contact()))).first?.contact == read)
    }

    @Test("Changing a label removes its value from a group with another label")
    func relabelled() {
        var read = contact("FN:A", "item1.TEL:1", "item1.X-FLOOR:3", "item1.X-ABLabel:Desk") ?? Contact()
        read.phoneNumbers[0].label = "Boat"
        let again = cards(items(VCardWriter(version: .v3_0).card(read))).first?.contact
        #expect(again?.phoneNumbers == read.phoneNumbers)
        #expect(again?.extraProperties.contains("item1.X-ABLabel:Desk") == true)
    }

    @Test("Further PREF values keep their order and number")
    func preferences() {
        let read = contact("FN:A", "EMAIL;PREF=50:b@x.org", "EMAIL:c@x.org", "EMAIL;PREF=2:a@x.org", version: "4.0")
        #expect(
            lines(read, .v4_0).filter { $0.hasPrefix("EMAIL") } == [
                "EMAIL;PREF=1:a@x.org", "EMAIL;PREF=50:b@x.org", "EMAIL:c@x.org",
            ])
        var moved = read ?? Contact()
        moved.emailAddresses.swapAt(1, 2)
        #expect(
            lines(moved).filter { $0.hasPrefix("EMAIL") } == [
                "EMAIL;TYPE=INTERNET,pref:a@x.org", "EMAIL;TYPE=INTERNET:c@x.org", "EMAIL;TYPE=INTERNET:b@x.org",
            ])
    }

    @Test("Alternative names are kept, and the preferred one is the name")
    func alternatives() {
        let read = contact(
            "N;ALTID=1;LANGUAGE=ja:山田;太郎;;;", "N;ALTID=1;LANGUAGE=en;PREF=1:Yamada;Taro;;;", "FN:Taro Yamada",
            "TITLE;ALTID=2;LANGUAGE=fr:Patron", "TITLE;ALTID=2;LANGUAGE=en:Boss", version: "4.0")
        #expect(read?.familyName == "Yamada" && read?.jobTitle == "Patron")
        #expect(read?.extraProperties.contains("N;ALTID=1;LANGUAGE=ja:山田;太郎;;;") == true)
        #expect(lines(read, .v4_0).contains("N;ALTID=1;LANGUAGE=en:Yamada;Taro;;;"))
        #expect(cards(items(VCardWriter(version: .v3_0).card(read ?? Contact()))).first?.contact == read)
    }

    @Test("Components from later RFCs, and the time of a birthday, are written again")
    func rests() {
        let read = contact(
            "FN:A", "N:Soto;Luz;;;;Gallo;Jr.", "ADR:;;Quay 2;Bergen;;;;room 3;;;2;Quay;;;;;;",
            "BDAY:1990-01-31T23:30:00Z", version: "4.0")
        #expect(lines(read, .v4_0).contains("N:Soto;Luz;;;;Gallo;Jr."))
        #expect(lines(read).contains("ADR:;;Quay 2;Bergen;;;;room 3;;;2;Quay;;;;;;"))
        #expect(lines(read).contains("BDAY:1990-01-31T23:30:00Z"))
        #expect(read?.birthday == "1990-01-31")
    }

    @Test("Lists in a name, and the units of an organisation, are written again as lists")
    func lists() {
        let name = #"N:Stevenson;John;Philip\, Jay,Paul  Q;Dr.,Prof.;Jr.,M.D.,A.C.P."#
        let units = #"ORG:Fjord AS;Ships\, boats;Sails;Dinghies"#
        let read = contact("FN:John Stevenson", name, units) ?? Contact()
        #expect(read.middleName == "Philip, Jay Paul  Q" && read.nameSuffix == "Jr. M.D. A.C.P.")
        #expect(read.departmentName == "Ships, boats, Sails, Dinghies")
        for version in [VCardVersion.v3_0, .v4_0] {
            #expect(lines(read, version).filter { $0.hasPrefix("N:") || $0.hasPrefix("ORG:") } == [name, units])
            #expect(cards(items(VCardWriter(version: version).card(read))).first?.contact == read)
        }
        #expect(!read.extraProperties.contains { $0.contains("Paul") || $0.contains("Sails") })
        var changed = read
        changed.middleName = "Philip"
        changed.departmentName = "Sails"
        #expect(lines(changed).contains("N:Stevenson;John;Philip;Dr. Prof.;Jr. M.D. A.C.P."))
        #expect(lines(changed).contains("ORG:Fjord AS;Sails"))
    }

    @Test("A list that no reader would read as the same text is written as one text")
    func brokenLists() {
        var contact = contact("FN:Luz Ana Soto", "N:Soto;Luz,Ana;;;") ?? Contact()
        #expect(contact.extraProperties.map { $0.contains(";X-CONTACTBROKER-SPLIT=1.1:") } == [true])
        for forged in ["1.0", "1.1,1.2", "1.-1", "1", "x.y", "99999999999999999999.1", "1.9223372036854775807"] {
            contact.extraProperties = contact.extraProperties.map {
                $0.replacing(/X-CONTACTBROKER-SPLIT=[^;:]*/, with: "X-CONTACTBROKER-SPLIT=\(forged)")
            }
            let again = cards(items(VCardWriter(version: .v3_0).card(contact))).first?.contact
            #expect(again?.givenName == "Luz Ana" && again?.familyName == "Soto")
        }
    }

    @Test("A phonetic name is also read from RFC 9554's parameter, and stays there")
    func phonetic() {
        let line = "N;ALTID=1;PHONETIC=jyut;SCRIPT=Latn:Sun;Yat-sen;;;"
        let read = contact("N;ALTID=1;LANGUAGE=zh-Hant:孫;逸仙;;;", line, "FN:孫逸仙", version: "4.0")
        #expect(read?.familyName == "孫" && read?.phoneticFamilyName == "Sun" && read?.phoneticGivenName == "Yat-sen")
        #expect(read?.extraProperties.contains(line) == true)
    }

    @Test("A property that only looks like kept parameters is not read as such")
    func lookalikes() {
        let read = contact("FN:A", "TEL;X-CONTACTBROKER-VALUE=98b5;X-ID=6:", "TEL:1", "X-CONTACTBROKER-VALUE:x")
        #expect(read?.phoneNumbers.map(\.value) == ["1"])
        #expect(read?.extraProperties == ["X-CONTACTBROKER-VALUE:x"])
    }

    /// Reading a written card must give the same contact as the original.
    @Test(
        "Cards that fuzzing found are read back unchanged",
        arguments: [
            ["item2.ADR;TYPE=HOME:;;a;b;;;", "item2.X-ABADR:no", "item2.ADR;TYPE=HOME:;;c;b;;;", "item2.X-ABADR:no"],
            ["item2.ADR:;;a;b;;;", "item2.X-ABADR:no", "item2.X-ABADR:SE", "item2.ADR;CC=dk:;;c;b;;;"],
            ["NOTE:" + String(repeating: "x", count: 69) + "END:VCARD", "TEL:1"], ["TEL:tel:tel:5", "NICKNAME:\\, a"],
            ["X-SOCIALPROFILE;x-user=a^nb:x-apple:"], [" X-A:b", "TEL:1"],
            ["item1.TEL;TYPE=x-boat,sail;X-ID=7:1", "item1.X-FLOOR:3"],
            ["item2.ADR;TYPE=boat:;;a;;;;", "item2.ADR;TYPE=home:;;b;;;;"],
            ["N:Sun;Yat-sen;;;", "FN;LANGUAGE=en:Yat-sen Sun", "FN;LANGUAGE=zh:孫逸仙"],
            ["item1.X-SOCIALPROFILE;TYPE=twitter,boat:https://x.example/b", "item1.X-FLOOR:3"],
        ])
    func findings(lines: [String]) throws {
        let text = (["BEGIN:VCARD", "FN:A"] + lines + ["END:VCARD", ""]).joined(separator: "\r\n")
        let read = try #require(cards(items(text)).first).contact
        for version in [VCardVersion.v3_0, .v4_0] {
            #expect(cards(items(VCardWriter(version: version).card(read))).map(\.contact) == [read])
        }
    }
}
