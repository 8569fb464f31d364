import BrokerModel
import BrokerVCard
import Testing

@Suite("Writing cards")
struct WriterTests {
    private func lines(_ contact: Contact, _ version: VCardVersion = .v3_0) -> [String] {
        String(decoding: VCardWriter(version: version).card(contact), as: UTF8.self).replacing("\r\n ", with: "")
            .split(separator: "\r\n").map(String.init)
    }

    private func written(in version: VCardVersion = .v3_0, _ change: (inout Contact) -> Void) -> [String] {
        var contact = Contact()
        change(&contact)
        return lines(contact, version).filter {
            !["BEGIN", "VERSION", "PRODID", "END", "N:;;;;", "FN:"].contains(where: $0.hasPrefix)
        }
    }

    @Test("A card has the properties that its version requires, in the required order")
    func mandatory() {
        var contact = Contact()
        contact.familyName = "Okafor"
        contact.givenName = "Ngozi"
        #expect(
            lines(contact) == [
                "BEGIN:VCARD", "VERSION:3.0", "PRODID:-//contactbroker//contactbroker//EN", "N:Okafor;Ngozi;;;",
                "FN:Ngozi Okafor", "END:VCARD",
            ])
        #expect(lines(contact, .v4_0)[1] == "VERSION:4.0")
        contact = Contact()
        contact.emailAddresses = [LabeledString(value: "a@example.org")]
        #expect(lines(contact).contains("N:;;;;") && lines(contact).contains("FN:a@example.org"))
    }

    @Test(
        "The formatted name is the one that the person sees: in the order of its script, or the organization's",
        arguments: [
            ("王", "小明", "王小明"), ("山田", "太郎", "山田太郎"), ("김", "영수", "김영수"), ("Nguyễn", "Phước", "Nguyễn Phước"),
            ("Lovelace", "Ada", "Ada Lovelace"),
        ])
    func formattedName(family: String, given: String, formatted: String) throws {
        var contact = Contact()
        (contact.familyName, contact.givenName) = (family, given)
        for version in [VCardVersion.v3_0, .v4_0] {
            #expect(lines(contact, version).contains("FN:\(formatted)"))
            // The formatted name says nothing else, so it is not kept beside the name.
            #expect(cards(items(VCardWriter(version: version).card(contact))).map(\.contact) == [contact])
        }
        contact.contactType = .organization
        contact.organizationName = "Ink & Paper"
        #expect(lines(contact).contains("FN:Ink & Paper"))
        let again = try #require(cards(items(VCardWriter(version: .v3_0).card(contact))).first)
        #expect(again.contact == contact)
    }

    @Test("An imported formatted name that says something else is written instead of the derived one")
    func ownFormattedName() throws {
        let read = try #require(contact("N:王;小明;;;", "FN:Grandpa"))
        #expect(lines(read).filter { $0.hasPrefix("FN") } == ["FN:Grandpa"])
    }

    @Test("A label is written as a type if there is one, and otherwise as Apple's grouped label")
    func labels() {
        func phones(_ label: String?, _ version: VCardVersion = .v3_0) -> [String] {
            written(in: version) { $0.phoneNumbers = [LabeledString(label: label, value: "1")] }
        }
        #expect(phones("_$!<Home>!$_") == ["TEL;TYPE=HOME:1"])
        #expect(phones("_$!<Mobile>!$_") == ["TEL;TYPE=CELL,VOICE:1"])
        #expect(phones("iPhone") == ["TEL;TYPE=IPHONE,CELL,VOICE:1"])
        #expect(phones("_$!<WorkFAX>!$_") == ["TEL;TYPE=WORK,FAX:1"])
        #expect(phones("Desk, left") == ["item1.TEL:1", #"item1.X-ABLabel:Desk\, left"#])
        #expect(phones(nil) == ["TEL:1"])
        #expect(phones("_$!<Mobile>!$_", .v4_0) == ["TEL;TYPE=cell:1"])
        #expect(phones("_$!<Other>!$_", .v4_0) == ["item1.TEL:1", "item1.X-ABLabel:_$!<Other>!$_"])
        let other = written { $0.emailAddresses = [LabeledString(label: "_$!<Other>!$_", value: "a@x.org")] }
        #expect(other == ["item1.EMAIL;TYPE=INTERNET:a@x.org", "item1.X-ABLabel:_$!<Other>!$_"])
    }

    @Test("The first of several values is the preferred one")
    func preference() {
        func change(_ contact: inout Contact) {
            contact.phoneNumbers = [LabeledString(label: "_$!<Home>!$_", value: "1"), LabeledString(value: "2")]
        }
        #expect(written(change) == ["TEL;TYPE=HOME,pref:1", "TEL:2"])
        #expect(written(in: .v4_0, change) == ["TEL;TYPE=home;PREF=1:1", "TEL:2"])
    }

    @Test("Dates are written in each version's form")
    func dates() {
        #expect(written { $0.birthday = "1990-01-31" } == ["BDAY;VALUE=date:1990-01-31"])
        #expect(written { $0.birthday = "--02-29" } == ["BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-29"])
        #expect(written(in: .v4_0) { $0.birthday = "1990-01-31" } == ["BDAY:19900131"])
        #expect(written(in: .v4_0) { $0.birthday = "--02-29" } == ["BDAY:--0229"])
        #expect(
            written(in: .v4_0) { $0.nonGregorianBirthday = "chinese:--08-15" } == ["ALTBDAY;CALSCALE=chinese:--0815"])
        func change(_ contact: inout Contact) {
            contact.dates = ["_$!<Anniversary>!$_", "Move"].map { LabeledDate(label: $0, value: "2011-06-04") }
        }
        #expect(
            written(change) == [
                "item1.X-ABDATE;VALUE=date:2011-06-04", "item1.X-ABLabel:_$!<Anniversary>!$_",
                "item2.X-ABDATE;VALUE=date:2011-06-04", "item2.X-ABLabel:Move",
            ])
        #expect(
            written(in: .v4_0, change) == ["ANNIVERSARY:20110604", "item1.X-ABDATE:20110604", "item1.X-ABLabel:Move"])
    }

    @Test("Addresses have their country code, and streets keep line breaks")
    func addresses() {
        func change(_ contact: inout Contact) {
            var address = PostalAddress()
            address.label = "_$!<Work>!$_"
            address.street = "Quay 2, left\nDoor 9"
            address.city = "Bergen"
            address.isoCountryCode = "no"
            contact.postalAddresses = [address]
        }
        #expect(
            written(change) == [#"item1.ADR;TYPE=WORK:;;Quay 2\, left\nDoor 9;Bergen;;;"#, "item1.X-ABADR:no"])
        #expect(written(in: .v4_0, change) == [#"ADR;TYPE=work;CC=NO:;;Quay 2\, left\nDoor 9;Bergen;;;"#])
    }

    @Test("Messengers, social profiles, relations and photos are written in each version's form")
    func others() {
        func change(_ contact: inout Contact) {
            var messenger = InstantMessageAddress()
            messenger.service = "Jabber"
            messenger.username = "ada@x.org"
            var profile = SocialProfile()
            profile.service = "twitter"
            profile.username = "ada"
            profile.urlString = "https://x.example/ada"
            contact.instantMessageAddresses = [messenger]
            contact.socialProfiles = [profile]
            contact.contactRelations = [LabeledString(label: "_$!<Friend>!$_", value: "Bo")]
            contact.imageData = "/9j/4AAQ"
        }
        #expect(
            written(change) == [
                "IMPP;X-SERVICE-TYPE=Jabber:xmpp:ada@x.org", "X-JABBER:ada@x.org",
                "X-SOCIALPROFILE;TYPE=twitter;X-USER=ada:https://x.example/ada", "item1.X-ABRELATEDNAMES:Bo",
                "item1.X-ABLabel:_$!<Friend>!$_", "PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQ",
            ])
        #expect(
            written(in: .v4_0, change) == [
                "IMPP;SERVICE-TYPE=Jabber:xmpp:ada@x.org",
                "SOCIALPROFILE;SERVICE-TYPE=twitter;USERNAME=ada:https://x.example/ada",
                "RELATED;TYPE=friend;VALUE=text:Bo", "PHOTO:data:image/jpeg;base64,/9j/4AAQ",
            ])
    }

    @Test("An extra property that would end the card or replace the writer's own is left out")
    func extraProperties() {
        let kept = written {
            $0.extraProperties = [
                "UID:urn:uuid:1", "END:VCARD", "begin:vcard", "X.VERSION:2.1", "no content line", "REV:1", "PRODID:x",
                "X-A:b\r\nEND:VCARD", " X-B:c",
            ]
        }
        #expect(kept == ["UID:urn:uuid:1", "X-B:c"])
    }

    @Test("A line break in a text does not break a line of the file")
    func injection() {
        var contact = Contact()
        contact.givenName = "a\r\nEND:VCARD\r\nBEGIN:VCARD"
        contact.phoneNumbers = [LabeledString(label: "x\r\nTEL:2", value: "1\r\nTEL:3")]
        contact.socialProfiles = [SocialProfile()]
        contact.socialProfiles[0].username = "u\r\nTEL:4"
        contact.socialProfiles[0].urlString = "v\r\nTEL:5"
        for version in [VCardVersion.v3_0, .v4_0] {
            let read = items(VCardWriter(version: version).card(contact))
            #expect(read.count == 1)
            #expect(cards(read).first?.contact.phoneNumbers.count == 1)
        }
    }

    @Test("A group is written and read again with its members", arguments: [VCardVersion.v3_0, .v4_0])
    func groupCards(version: VCardVersion) {
        let members = ["urn:uuid:1", "2, 3;4"]
        let card = VCardWriter(version: version).group(named: "Choir, old", uid: "urn:uuid:9", members: members)
        let group = groups(items(card)).first
        #expect(group?.name == "Choir, old" && group?.uid == "urn:uuid:9" && group?.members == members)
        #expect(group?.line == 1 && group?.remarks == [])
    }
}
