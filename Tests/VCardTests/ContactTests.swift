import BrokerModel
import BrokerVCard
import Testing

@Suite("Reading a card's properties")
struct ContactTests {
    @Test("A name is split into its parts, and lists and escapes are decoded")
    func name() {
        let read = contact(
            #"N:Public\, Sr.;John;Quinlan,Paul;Mr.;Esq.,M.D."#, "FN:Mr. John Quinlan Paul Public\\, Sr., Esq. M.D.")
        #expect(read?.familyName == "Public, Sr.")
        #expect(read?.givenName == "John")
        #expect(read?.middleName == "Quinlan Paul")
        #expect(read?.namePrefix == "Mr.")
        #expect(read?.nameSuffix == "Esq. M.D.")
        #expect(read?.extraProperties == ["N;X-CONTACTBROKER-VALUE=926d;X-CONTACTBROKER-SPLIT=2.1,4.1:"])
    }

    @Test("A formatted name without N is the name")
    func formattedNameAlone() {
        #expect(contact("FN:林美玲")?.givenName == "林美玲")
        #expect(contact("N:;;;;", "FN:Ada Lovelace")?.givenName == "Ada Lovelace")
        let company = contact("FN:Kiosk", "ORG:Kiosk", "X-ABShowAs:COMPANY")
        #expect(company?.contactType == .organization && company?.organizationName == "Kiosk")
        #expect(company?.givenName == "")
        #expect(contact("KIND:org", "FN:Kiosk", version: "4.0")?.organizationName == "Kiosk")
    }

    @Test("A formatted name that differs from the name is kept")
    func formattedNameKept() {
        for name in ["Mama", #"OKAFOR\, Ngozi"#, "Okafor Ngozi", "Ngozi", "NGOZI OKAFOR"] {
            let read = contact("N:Okafor;Ngozi;;;", "FN:\(name)")
            #expect(read?.extraProperties == ["FN;X-CONTACTBROKER-VALUE=f25f:\(name)"])
        }
        #expect(contact("N:Okafor;Ngozi;;;", "FN: Ngozi Okafor ")?.extraProperties == [])
    }

    @Test("Other names, organisation and note are read")
    func texts() {
        let read = contact(
            "FN:A", "NICKNAME:Zee,Z", "ORG:Ink & Paper;Press;Night shift", "TITLE:Setter",
            #"NOTE:one\ntwo, three\; four"#,
            "X-PHONETIC-FIRST-NAME:ah", "X-PHONETIC-MIDDLE-NAME:bee", "X-PHONETIC-LAST-NAME:sea", "X-MAIDENNAME:Old")
        #expect(read?.nickname == "Zee, Z")
        #expect(read?.organizationName == "Ink & Paper")
        #expect(read?.departmentName == "Press, Night shift")
        #expect(read?.jobTitle == "Setter")
        #expect(read?.note == "one\ntwo, three; four")
        #expect([read?.phoneticGivenName, read?.phoneticMiddleName, read?.phoneticFamilyName] == ["ah", "bee", "sea"])
        #expect(read?.previousFamilyName == "Old")
    }

    @Test(
        "A phone number's types become its label",
        arguments: [
            ("TYPE=HOME,VOICE", "_$!<Home>!$_"), ("TYPE=\"work,voice\"", "_$!<Work>!$_"),
            ("type=CELL;type=VOICE;type=pref", "_$!<Mobile>!$_"), ("type=IPHONE;type=CELL", "iPhone"),
            ("HOME;FAX", "_$!<HomeFAX>!$_"), ("TYPE=fax", "_$!<OtherFAX>!$_"), ("TYPE=main", "_$!<Main>!$_"),
            ("TYPE=pager", "_$!<Pager>!$_"), ("TYPE=x-Boat", "Boat"), ("TYPE=voice", nil), ("TYPE=", nil),
        ])
    func phoneLabels(types: String, label: String?) {
        let read = contact("FN:A", "TEL;\(types):+1 555 0100")
        #expect(read?.phoneNumbers == [LabeledString(label: label, value: "+1 555 0100")])
    }

    @Test("A custom label is found by its group, before or after the value, and overrides the type")
    func groups() {
        let read = contact(
            "FN:A", #"item1.X-ABLabel:Desk\, left"#, "ITEM1.TEL;TYPE=voice:1",
            "item2.EMAIL;type=INTERNET:a@example.org",
            "item2.X-ABLabel:_$!<Other>!$_", "item3.URL:https://example.org", "item3.X-ABLabel:",
            "item4.X-ABLabel:alone")
        #expect(read?.phoneNumbers == [LabeledString(label: "Desk, left", value: "1")])
        #expect(read?.emailAddresses == [LabeledString(label: "_$!<Other>!$_", value: "a@example.org")])
        #expect(read?.urlAddresses == [LabeledString(label: nil, value: "https://example.org")])
        #expect(read?.extraProperties == [])
    }

    @Test("Preferred values come first")
    func preference() {
        let old = contact("FN:A", "TEL:1", "TEL;TYPE=pref:2", "TEL:3")
        #expect(old?.phoneNumbers.map(\.value) == ["2", "1", "3"])
        let new = contact("FN:A", "EMAIL;PREF=50:b@x.org", "EMAIL:c@x.org", "EMAIL;PREF=1:a@x.org", version: "4.0")
        #expect(new?.emailAddresses.map(\.value) == ["a@x.org", "b@x.org", "c@x.org"])
    }

    @Test("Addresses are read from URIs")
    func uris() {
        let read = contact(
            "FN:A", "TEL;VALUE=uri:tel:+1-555-0100", "EMAIL:MAILTO:a@example.org", #"URL:http\://example.org/a"#,
            version: "4.0")
        #expect(read?.phoneNumbers.map(\.value) == ["+1-555-0100"])
        #expect(read?.emailAddresses.map(\.value) == ["a@example.org"])
        #expect(read?.urlAddresses.map(\.value) == ["http://example.org/a"])
    }

    @Test("A postal address keeps commas and line breaks")
    func address() {
        let read = contact(
            "FN:A", #"item1.ADR;type=WORK:PO 7;;Quay 2, left\nDoor 9;Bergen;Vestland;5003;Norway"#, "item1.X-ABADR:no")
        var address = PostalAddress()
        address.label = "_$!<Work>!$_"
        address.street = "PO 7\nQuay 2, left\nDoor 9"
        address.city = "Bergen"
        address.state = "Vestland"
        address.postalCode = "5003"
        address.country = "Norway"
        address.isoCountryCode = "no"
        #expect(read?.postalAddresses == [address])
        #expect(contact("FN:A", "ADR:;;;;;;")?.postalAddresses == [])
    }

    @Test(
        "Birthdays are read in all common forms",
        arguments: [
            ("BDAY:1990-01-31", "1990-01-31"), ("BDAY:19900131", "1990-01-31"),
            ("BDAY;VALUE=date-time:1990-01-31T00:00:00Z", "1990-01-31"), ("BDAY:--0229", "--02-29"),
            ("BDAY:--02-29", "--02-29"), ("BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-29", "--02-29"),
            ("BDAY:1604-03-01", "--03-01"), ("BDAY;X-APPLE-OMIT-YEAR=1900:1900-03-01", "--03-01"),
        ])
    func birthdays(line: String, birthday: String) {
        #expect(contact("FN:A", line)?.birthday == birthday)
        #expect(contact("FN:A", line)?.extraProperties == [])
    }

    @Test(
        "A birthday that is not a calendar day is kept as an extra property",
        arguments: ["BDAY:1985-04", "BDAY:1990-02-30", "BDAY;VALUE=text:circa 1800", "BDAY:---12", "BDAY:0000-01-01"])
    func noBirthday(line: String) {
        #expect(contact("FN:A", line)?.birthday == "")
        #expect(contact("FN:A", line)?.extraProperties == [line])
    }

    @Test("A birthday in another calendar is not read as a Gregorian one")
    func otherCalendar() {
        let read = contact("FN:A", "BDAY;CALSCALE=chinese:--0815", version: "4.0")
        #expect(read?.nonGregorianBirthday == "chinese:--08-15" && read?.birthday == "")
        let both = contact("FN:A", "BDAY:1990-01-31", "ALTBDAY;CALSCALE=chinese:--0815")
        #expect(both?.nonGregorianBirthday == "chinese:--08-15" && both?.birthday == "1990-01-31")
    }

    @Test("Dates and relations have their labels")
    func datesAndRelations() {
        let read = contact(
            "FN:A", "item1.X-ABDATE:2011-06-04", "item1.X-ABLabel:_$!<Anniversary>!$_", "item2.X-ABRELATEDNAMES:Bo",
            "item2.X-ABLabel:_$!<Brother>!$_", "ANNIVERSARY:20120304", "RELATED;TYPE=spouse;VALUE=text:Kim",
            "RELATED;TYPE=friend:urn:uuid:1")
        #expect(
            read?.dates == [
                LabeledDate(label: "_$!<Anniversary>!$_", value: "2011-06-04"),
                LabeledDate(label: "_$!<Anniversary>!$_", value: "2012-03-04"),
            ])
        #expect(
            read?.contactRelations == [
                LabeledString(label: "_$!<Brother>!$_", value: "Bo"),
                LabeledString(label: "_$!<Spouse>!$_", value: "Kim"),
            ])
        #expect(read?.extraProperties == ["RELATED;TYPE=friend:urn:uuid:1"])
    }

    @Test("A messenger address that is written twice is read once")
    func instantMessages() {
        let read = contact(
            "FN:A", "IMPP;X-SERVICE-TYPE=Jabber;type=HOME:xmpp:ada%40example.org", "X-JABBER;type=HOME:ada@example.org",
            "X-ICQ:12345", #"IMPP;X-SERVICE-TYPE="Our, own: chat":x-apple:ada"#)
        #expect(read?.instantMessageAddresses.map(\.service) == ["Jabber", "ICQ", "Our, own: chat"])
        #expect(read?.instantMessageAddresses.map(\.username) == ["ada@example.org", "12345", "ada"])
    }

    @Test("Social profiles keep service, name and URL")
    func socialProfiles() {
        let read = contact(
            "FN:A", "X-SOCIALPROFILE;type=mastodon;x-user=ada:https://social.example/@ada",
            "X-SOCIALPROFILE;type=chess:x-apple:ada")
        #expect(read?.socialProfiles.map(\.service) == ["mastodon", "chess"])
        #expect(read?.socialProfiles.map(\.username) == ["ada", "ada"])
        #expect(read?.socialProfiles.map(\.urlString) == ["https://social.example/@ada", ""])
    }

    @Test(
        "An embedded picture is read, however its encoding is declared",
        arguments: [
            "PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQ", "PHOTO:data:image/jpeg;base64,/9j/4AAQ",
            "PHOTO;ENCODING=b:data:image/jpeg;base64,/9j/4AAQ", "PHOTO;ENCODING=BASE64;TYPE=GIF:/9j/ 4AAQ",
            "PHOTO:/9j/4AAQ",
        ])
    func pictures(line: String) {
        #expect(contact("FN:A", line)?.imageData == "/9j/4AAQ")
    }

    @Test("Picture data is normalized: padded, without excess bits")
    func canonicalPictures() {
        #expect(contact("FN:A", "PHOTO;ENCODING=b:/9j/4AB")?.imageData == "/9j/4AA=")
        #expect(contact("FN:A", "PHOTO;ENCODING=b:/9j/4B==")?.imageData == "/9j/4A==")
    }

    @Test("Invalid picture data is left out; a picture's URI is kept and not fetched")
    func noPictures() {
        let read = cards(items("BEGIN:VCARD\nFN:A\nPHOTO;ENCODING=b:aGVsbG8=\nPHOTO;ENCODING=b:/9j/4*\nEND:VCARD"))
            .first
        #expect(read?.contact.imageData == "")
        #expect(read?.remarks.map(\.reason) == [.badPhoto, .badPhoto])
        let remote = contact("FN:A", "PHOTO;VALUE=uri:https://example.org/a.jpg")
        #expect(remote?.imageData == "" && remote?.extraProperties == ["PHOTO;VALUE=uri:https://example.org/a.jpg"])
    }

    @Test("Unrecognised properties are kept, in order, with their labels")
    func extraProperties() {
        let read = contact(
            "FN:A", "UID:urn:uuid:4fbe", "CATEGORIES:choir,work", "TITLE:One", "TITLE:Two", "item9.X-HOUSE:red",
            "item9.X-ABLabel:roof", "PRODID:x", "REV:20200101")
        #expect(
            read?.extraProperties == [
                "UID:urn:uuid:4fbe", "CATEGORIES:choir,work", "TITLE:Two", "item9.X-HOUSE:red", "item9.X-ABLabel:roof",
            ])
    }

    @Test("Every contact that is read passes the broker's validation")
    func valid() throws {
        let read = try #require(
            contact(
                "FN:A\u{1}", "BDAY:19900230", "PHOTO;ENCODING=b:/9j/4B==", "X-ABDATE:yesterday", "ADR:;;a\\nb;;;;",
                "X-Y:\u{1B}"))
        try read.validate(writing: read.present)
    }
}
