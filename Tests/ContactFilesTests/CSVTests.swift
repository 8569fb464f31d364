import BrokerModel
import Testing

@testable import BrokerContactFiles

@Suite("CSV files of other address books")
struct CSVTests {
    private func items(_ bytes: [UInt8], chunk: Int = 7, dates: DateOrder = .monthFirst) -> [RowItem] {
        rowItems(of: bytes, from: CSVReader(dates: dates), chunk: chunk)
    }

    private func rows(_ text: String, dates: DateOrder = .monthFirst) -> [ReadRow] {
        items(Array(text.utf8), dates: dates).compactMap {
            if case .row(let row) = $0 { return row }
            return nil
        }
    }

    static let google = """
        First Name,Middle Name,Last Name,Phonetic First Name,Phonetic Middle Name,Phonetic Last Name,Name Prefix,\
        Name Suffix,Nickname,File As,Organization Name,Organization Title,Organization Department,Birthday,Notes,Photo,\
        Labels,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value,Address 1 - Label,Address 1 - Street,\
        Address 1 - City,Address 1 - Country,Event 1 - Label,Event 1 - Value\r
        Ada,King,Lovelace,,,,Lady,,Countess,,Analytical Engines,Programmer,Notes,1815-12-10,"first
        line, and ""second"\"\",,Friends ::: * starred ::: * myContacts,* Work,ada@example.org ::: ada@example.com,Mobile,\
        +44 20 7946 0001,Home,"12 St James's Square
        2nd floor",London,GB,Anniversary,1835-07-08\r
        ,,,,,,,,,,Engines Ltd,,,,,,* myContacts,,,,,,,,,,\r

        """

    @Test("Google's current columns: line breaks and quotes in fields, several values in one field, labels as groups")
    func googleNow() throws {
        let rows = rows(Self.google)
        try #require(rows.count == 2)
        let ada = rows[0].contact
        #expect(
            [ada.namePrefix, ada.givenName, ada.middleName, ada.familyName] == ["Lady", "Ada", "King", "Lovelace"])
        #expect(ada.nickname == "Countess" && ada.organizationName == "Analytical Engines")
        #expect(ada.birthday == "1815-12-10" && ada.note == "first\nline, and \"second\"")
        #expect(ada.emailAddresses.map(\.value) == ["ada@example.org", "ada@example.com"])
        #expect(ada.emailAddresses.allSatisfy { $0.label == "_$!<Work>!$_" })
        #expect(ada.phoneNumbers == [LabeledString(label: "_$!<Mobile>!$_", value: "+44 20 7946 0001")])
        #expect(ada.postalAddresses.first?.street == "12 St James's Square\n2nd floor")
        #expect(ada.postalAddresses.first?.isoCountryCode == "gb")
        #expect(ada.dates == [LabeledDate(label: "_$!<Anniversary>!$_", value: "1835-07-08")])
        #expect(rows[0].groups == ["Friends"])
        #expect(rows[0].line == 2 && rows[1].line == 5)
        #expect(rows[1].contact.contactType == .organization && rows[1].groups.isEmpty)
    }

    @Test("Google's former columns: types, group membership, custom fields and several organizations")
    func googleBefore() throws {
        let row = try #require(
            rows(
                """
                Name,Given Name,Family Name,Given Name Yomi,Birthday,Notes,Group Membership,E-mail 1 - Type,\
                E-mail 1 - Value,Phone 1 - Type,Phone 1 - Value,Phone 2 - Type,Phone 2 - Value,Address 1 - Type,\
                Address 1 - Formatted,Organization 1 - Name,Organization 1 - Title,Organization 2 - Name,\
                Relation 1 - Type,Relation 1 - Value,Website 1 - Type,Website 1 - Value,Custom Field 1 - Type,\
                Custom Field 1 - Value,Favourite Colour
                Saga Lindqvist,Saga,Lindqvist,サガ, --02-29,hello,* myContacts ::: Chess Club,* Home,saga@fjord.example,\
                Home Fax,0701 ::: 0702,Boat,0703,Other,"Storgatan 1
                Kiruna",Fjord AB,Skipper,Old AB,Spouse,Nils,Home Page,https://fjord.example,Locker,12,blue

                """
            ).first)
        let saga = row.contact
        #expect(saga.givenName == "Saga" && saga.phoneticGivenName == "サガ" && saga.birthday == "--02-29")
        #expect(
            saga.phoneNumbers == [
                LabeledString(label: "_$!<HomeFAX>!$_", value: "0701"),
                LabeledString(label: "_$!<HomeFAX>!$_", value: "0702"), LabeledString(label: "Boat", value: "0703"),
            ])
        #expect(saga.postalAddresses.first?.street == "Storgatan 1\nKiruna")
        #expect(saga.organizationName == "Fjord AB" && saga.note == "Organization: Old AB\nhello\nLocker: 12")
        #expect(saga.contactRelations == [LabeledString(label: "_$!<Spouse>!$_", value: "Nils")])
        #expect(saga.urlAddresses.first?.label == "_$!<HomePage>!$_")
        #expect(row.groups == ["Chess Club"])
        #expect(row.remarks.map(\.reason) == [.leftOut("Favourite Colour")])
    }

    private static let outlook = """
        "Title","First Name","Middle Name","Last Name","Suffix","Company","Department","Job Title","Business Street",\
        "Business Street 2","Business City","Business Postal Code","Business Country/Region","Business Phone",\
        "Mobile Phone","Home Fax","Birthday","Anniversary","Categories","E-mail Address","E-mail Type",\
        "E-mail 2 Address","Notes","Spouse","User 1","Web Page","Gender"\r
        "Dr","Omar","","Haddad","","Souq & Co","Sales","Buyer","1 Rue A","Étage 2","Tunis","1000","Tunisia",\
        "+216 71 000 001","+216 20 000 002","","12/31/1970","0/0/00","Blue Category;VIP","omar@souq.example","SMTP","",\
        "likes tea","Lina","x","https://souq.example","Unspecified"\r

        """

    @Test("Outlook's classic columns in UTF-8, UTF-16 and Windows-1252")
    func outlookClassic() throws {
        var utf16: [UInt8] = [0xFF, 0xFE]
        for unit in Self.outlook.utf16 { utf16 += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        let windows = Self.outlook.unicodeScalars.map { UInt8($0.value) }
        for (bytes, isCertain) in [
            ([0xEF, 0xBB, 0xBF] + Array(Self.outlook.utf8), true), (utf16, true), (windows, false),
        ] {
            for chunk in [1, 2, 5, 4_096] {
                guard case .row(let row) = items(bytes, chunk: chunk).first else {
                    Issue.record("no row was read")
                    continue
                }
                let omar = row.contact
                #expect(omar.namePrefix == "Dr" && omar.givenName == "Omar" && omar.familyName == "Haddad")
                #expect(omar.postalAddresses.first?.street == "1 Rue A\nÉtage 2")
                #expect(omar.postalAddresses.first?.label == "_$!<Work>!$_")
                #expect(omar.phoneNumbers.map(\.value) == ["+216 20 000 002", "+216 71 000 001"])
                #expect(omar.birthday == "1970-12-31" && omar.dates.isEmpty)
                #expect(omar.note == "likes tea\nUser 1: x")
                #expect(omar.contactRelations.first?.value == "Lina")
                #expect(row.groups == ["Blue Category", "VIP"])
                #expect(row.remarks.map(\.reason) == (isCertain ? [] : [.notUTF8]))
            }
        }
    }

    @Test("Outlook's new columns, with other regions' separators")
    func outlookNew() throws {
        let row = try #require(
            rows(
                """
                First Name;Middle Name;Last Name;Title;Suffix;Nickname;Given Yomi;Surname Yomi;E-mail Address;\
                E-mail 2 Address;Home Phone;Business Phone;Mobile Phone;IMAddress;Job Title;Department;Company;\
                Personal Web Page;Home Street;Home City;Birthday
                Jörg;;Groß;;;Jo;;;joerg@example.de;j@example.com;+49 30 1;;;jo@chat.example;;;;https://gross.example;\
                Weg 1;Berlin;24.12.1980

                """
            ).first)
        #expect(row.contact.familyName == "Groß" && row.contact.nickname == "Jo")
        #expect(row.contact.emailAddresses.map(\.value) == ["joerg@example.de", "j@example.com"])
        #expect(row.contact.birthday == "1980-12-24" && row.remarks.isEmpty)
        #expect(row.contact.instantMessageAddresses.first?.username == "jo@chat.example")
        #expect(row.contact.postalAddresses.first?.city == "Berlin")
    }

    @Test(
        "Dates are read in the forms that programs write",
        arguments: [
            ("1990-01-02", "1990-01-02", false), ("--02-29", "--02-29", false), ("2/1/1990", "1990-02-01", true),
            ("31/1/1990", "1990-01-31", false), ("1/31/1990", "1990-01-31", false), ("1.2.1990", "1990-02-01", false),
            ("5/5/1990", "1990-05-05", false), ("1604-02-03", "--02-03", false), ("1990-1-2", "1990-01-02", false),
            ("1990-01-02 00:00:00", "1990-01-02", false),
        ])
    func dates(text: String, day: String, ambiguous: Bool) {
        let date = ReadDate(text, .monthFirst)
        #expect(date?.text == day && date?.isAmbiguous == ambiguous)
    }

    @Test(
        "Invalid dates are ignored",
        arguments: ["1990-02-30", "30/2/1990", "soon", "1/2/90", "", "99999-1-1", "-", "1990"])
    func noDates(text: String) { #expect(ReadDate(text, .dayFirst) == nil) }

    @Test("Day-first dates are read on request")
    func dayFirst() {
        #expect(ReadDate("2/1/1990", .dayFirst)?.text == "1990-01-02")
        #expect(ReadDate("1/31/1990", .dayFirst)?.text == "1990-01-31")
    }

    @Test("A file of no known program is reported once, and not read")
    func unknown() {
        for text in ["Vorname,Nachname\nAda,Lovelace\n", "a,b,c\n1,2,3\n", ",,,\n,,\n"] {
            let items = items(Array(text.utf8))
            #expect(items.count == 1)
            #expect(items == [.unreadable(RowProblem(line: 1, reason: .unknownColumns))])
        }
        #expect(items([]).isEmpty)
    }

    @Test("A row with misplaced quotes is reported with its line, and the next one is read")
    func quotes() {
        let head = "First Name,Last Name,E-mail Address\n"
        let found = items(Array((head + "A\"x\"b,c,d\n\"A\"b,c,d\nAda,,\n").utf8))
        #expect(found.count == 3)
        #expect(found.first == .unreadable(RowProblem(line: 2, reason: .quotes)))
        #expect(found.dropFirst().first == .unreadable(RowProblem(line: 3, reason: .quotes)))
        if case .row(let row) = found.last {
            #expect(row.contact.givenName == "Ada")
        } else {
            Issue.record("no row was read")
        }
    }

    @Test("White space around quotes is no part of a field, and a character that delimits other files is text")
    func aroundQuotes() {
        let rows = rows("First Name,Last Name,E-mail Address\n\t \"Ada, A\" ,Berg;\"\"x\"\",a@x.example\n")
        #expect(rows.first?.contact.givenName == "Ada, A" && rows.first?.contact.familyName == "Berg;\"x\"")
    }

    @Test("An unclosed quote ends reading, and buffers at most one row's bytes")
    func endless() {
        let head = "First Name,Last Name,E-mail Address\n"
        let found = items(Array((head + "\"Ada,,\nEve,,\n").utf8))
        #expect(found == [.unreadable(RowProblem(line: 2, reason: .endless))])
        let long = items(
            Array(head.utf8) + [UInt8(ascii: "\"")] + [UInt8](repeating: 0x61, count: CSVReader.rowSize), chunk: 65_536)
        #expect(long == [.unreadable(RowProblem(line: 2, reason: .endless))])
    }

    @Test("For any bytes the reader ends, and gives valid contacts or errors")
    func garbage() {
        var random = SystemRandomNumberGenerator()
        let pieces = [
            "\"", ",", ";", "\n", "\r\n", "\r", "Ada", "E-mail 1 - Value", "First Name", "Phone 1 - Label", " ::: ",
            "\u{FEFF}",
            "*", "\u{0}", "é", "e\u{301}", "\u{2028}", "\u{85}", "1/2/1990", "👩‍👩‍👧", "\u{301}", "|",
        ].map { Array($0.utf8) }
        let heads = [
            CSVTests.google.utf8.prefix(500).split(separator: 0x0D).first.map(Array.init) ?? [],
            Array("First Name,Last Name,E-mail Address,Notes".utf8), [],
        ]
        for _ in 0..<2_000 {
            var bytes = heads.randomElement(using: &random).map { $0 + [0x0A] } ?? []
            for _ in 0..<Int.random(in: 0..<40, using: &random) {
                bytes += pieces.randomElement(using: &random) ?? []
                if Int.random(in: 0..<8, using: &random) == 0 {
                    bytes.append(UInt8.random(in: 0...255, using: &random))
                }
            }
            let whole = items(bytes, chunk: bytes.count + 1)
            #expect(items(bytes, chunk: Int.random(in: 1...9, using: &random)) == whole, "\(bytes)")
            for case .row(let row) in whole { #expect(!row.contact.present.isEmpty) }
        }
    }
}
