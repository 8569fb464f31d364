import BrokerModel
import Testing

@testable import BrokerContactFiles

@Suite("LDIF files")
struct LDIFTests {
    private func items(_ text: String, chunk: Int = 7) -> [RowItem] {
        rowItems(of: Array(text.utf8), from: LDIFReader(), chunk: chunk)
    }

    private func row(_ text: String) throws -> ReadRow {
        let items = items(text)
        guard items.count == 1, case .row(let row)? = items.first else {
            Issue.record("\(items)")
            throw CancellationError()
        }
        return row
    }

    /// An entry as Thunderbird writes it.
    private static let ada = """
        dn: cn=Ada Lovelace,mail=ada@example.org
        objectclass: top
        objectclass: person
        objectclass: organizationalPerson
        objectclass: inetOrgPerson
        objectclass: mozillaAbPersonAlpha
        givenName: Ada
        sn: Lovelace
        cn: Ada Lovelace
        mozillaNickname:: R3LDpGZpbg==
        mail: ada@example.org
        mozillaSecondEmail: ada@home.example
        nsAIMid: adascreen
        modifytimestamp: 1700000000
        telephoneNumber: 1
        homePhone: 2
        facsimiletelephonenumber: 3
        pager: 4
        mobile: 5
        mozillaHomeStreet: Street 1
        mozillaHomeStreet2: Flat 2
        mozillaHomeLocalityName: London
        mozillaHomeState: Kent
        mozillaHomePostalCode: NW1
        mozillaHomeCountryName: Britain
        street: Works 3
        mozillaWorkStreet2: Floor 4
        l: Ockham
        st: Surrey
        postalCode: KT1
        c: England
        title: Analyst
        ou: Notes
        o: Engines
        mozillaWorkUrl: https://work.example
        mozillaHomeUrl: https://home.example
        birthyear: 1815
        birthmonth: 12
        birthday: 10
        mozillaCustom1: a
        description:: Zmlyc3QKc2Vjb25k

        """

    @Test("All attributes that Thunderbird writes are read", arguments: [1, 2, 76, 10_000])
    func thunderbird(chunk: Int) throws {
        let items = items("version: 1\r\n# a comment\r\n  and its second line\r\n" + Self.ada, chunk: chunk)
        guard items.count == 1, case .row(let row)? = items.first else { throw CancellationError() }
        let ada = row.contact
        #expect(row.remarks.isEmpty && row.uid == "cn=ada lovelace,mail=ada@example.org" && row.line == 1)
        #expect([ada.givenName, ada.familyName, ada.nickname] == ["Ada", "Lovelace", "Gräfin"])
        #expect(ada.emailAddresses.map(\.value) == ["ada@example.org", "ada@home.example"])
        #expect(ada.phoneNumbers.map(\.value) == ["1", "2", "3", "4", "5"])
        #expect(ada.postalAddresses.map(\.street) == ["Street 1\nFlat 2", "Works 3\nFloor 4"])
        #expect(ada.postalAddresses.map(\.country) == ["Britain", "England"])
        #expect([ada.jobTitle, ada.departmentName, ada.organizationName] == ["Analyst", "Notes", "Engines"])
        #expect(ada.birthday == "1815-12-10" && ada.note == "first\nsecond\nCustom 1: a")
        #expect(ada.urlAddresses.count == 2 && ada.instantMessageAddresses.first?.username == "adascreen")
        #expect(ada.extraProperties.isEmpty)
    }

    @Test("LDIF is detected from its first line that is no comment")
    func detected() {
        for text in ["dn: cn=A\n", "\u{FEFF}dn:: QQ==\r\n", "# by hand\r\n\r\nversion: 1\r\ndn: cn=A"] {
            #expect(FileFormat(beginning: Array(text.utf8)) == .ldif, "\(text)")
        }
        #expect(FileFormat(beginning: Array("VERSION:2.1\nBEGIN:VCARD\n".utf8)) == .vcard)
    }

    @Test("What LDIFWriter writes is read as the same contact, and it names the keys for which there is no place")
    func writing() throws {
        let ada = try row(Self.ada).contact
        var contact = ada
        contact.namePrefix = "Dr"
        contact.note = " :first\nsecond ä " + String(repeating: "long ", count: 60) + "."
        contact.imageData = "/9j/2Q=="
        contact.extraProperties = ["UID:8bf87495-a576-b43e-7ede-6a2e97165ee5"]
        contact.nickname = "<Addie"
        let entry = LDIFWriter().entry(contact, uuid: "")
        let text = String(decoding: entry.bytes, as: UTF8.self)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).allSatisfy { $0.utf8.count <= 76 })
        #expect(text.hasPrefix("dn: cn=Dr Ada Lovelace,mail=ada@example.org\n") && text.hasSuffix("\n\n"))
        var read = try row(text).contact
        #expect(read.extraProperties == ["UID:urn:uuid:8bf87495-a576-b43e-7ede-6a2e97165ee5"])
        read.extraProperties = contact.extraProperties
        contact.note = String(contact.note.dropFirst())
        #expect(read == contact && entry.leftOut == [])

        var more = contact
        more.contactRelations = [LabeledString(value: "William")]
        more.postalAddresses.append(more.postalAddresses[0])
        more.imageData = "R0lGODlhAQABAAAAACwAAAAAAQABAAAC"
        #expect(
            LDIFWriter().entry(more, uuid: "").leftOut
                == ContactKeySet([.contactRelations, .postalAddresses, .imageData]))
        for name in ["", "A,B", "#x", "ä=\"<"] {
            var odd = Contact()
            (odd.givenName, odd.note) = (name, "n")
            let entry = LDIFWriter().entry(odd, uuid: "")
            let group = LDIFWriter().group(named: "G", "cn=G", members: [entry.name])
            let items = items(String(decoding: entry.bytes + group.bytes, as: UTF8.self))
            guard items.count == 2, case .row(let row) = items[0], case .group(let group) = items[1] else {
                Issue.record("\(items)")
                continue
            }
            #expect(row.contact == odd && group.members == [row.uid])
        }
    }

    @Test("Base64 is what others write")
    func base64() {
        for (text, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            #expect(Base64Text.encode(Array(text.utf8)) == encoded)
            #expect(Base64Text.decode(Array(encoded.utf8)[...]) == Array(text.utf8))
        }
        for bad in ["Z", "Z===", "Zg==Zg==", "Zä=="] {
            #expect(Base64Text.decode(Array(bad.utf8)[...]) == nil, "\(bad)")
        }
    }

    @Test("Folded lines are joined, several values are kept, and a directory's own attributes are ignored")
    func directory() throws {
        let row = try row(
            """
            dn: uid=ada,ou=people,dc=example
            objectClass: inetOrgPerson
            cn: Ada Love
             lace
            sn: Lovelace
            mail: a@example.org
            mail: b@example.org
            mobile: 1
            mobile: 2
            postalAddress: Works 3$Ockham
            jpegPhoto:: R0lGODlhAQ
             ABAAAAACwAAAAAAQABAAAC
            uid: ada
            entryUUID: 8BF87495-a576-b43e-7ede-6a2e97165ee5
            createTimestamp: 20260101000000Z
            userPassword:: c2VjcmV0
            loginShell: /bin/sh
            audio:< file:///etc/passwd

            """)
        #expect(row.contact.givenName == "" && row.contact.extraProperties.contains("FN:Ada Lovelace"))
        #expect(row.contact.emailAddresses.count == 2 && row.contact.phoneNumbers.count == 2)
        #expect(row.contact.postalAddresses.first?.street == "Works 3\nOckham")
        #expect(row.contact.imageData == "R0lGODlhAQABAAAAACwAAAAAAQABAAAC")
        #expect(row.contact.note == "uid: ada")
        #expect(row.contact.extraProperties.contains("UID:urn:uuid:8bf87495-a576-b43e-7ede-6a2e97165ee5"))
        #expect(row.remarks.map(\.reason) == [.leftOut("audio"), .leftOut("userPassword"), .leftOut("loginShell")])
    }

    @Test("A group names its members as their entries do, whatever the spelling")
    func groups() {
        let found = items(
            Self.ada + "\ndn: cn=Friends\nobjectclass: top\nobjectclass: groupOfNames\ncn: Friends\n"
                + "member: CN=Ada Lovelace, mail=ada@example.org\n")
        guard found.count == 2, case .row(let row) = found[0], case .group(let group) = found[1] else {
            Issue.record("\(found)")
            return
        }
        #expect(group.name == "Friends" && group.members == [row.uid])
    }

    @Test("What is no entry is reported with its line, and the next entry is read")
    func problems() {
        let found = items(
            """
            dn: cn=Change
            changetype: delete

            no colon

            cn: without a name

            dn: ou=people
            objectClass: organizationalUnit
            ou: people

            dn: cn=Nobody
            objectClass: person

            dn: cn=Bad
            cn: Bad
            mail:: %%%

            dn: cn=One
            dn: cn=Two
            cn: Two

            dn: cn=Ada
            cn: Ada
            """)
        #expect(
            found.prefix(5) == [
                .unreadable(RowProblem(line: 1, reason: .changeRecord)),
                .unreadable(RowProblem(line: 4, reason: .notLDIF)), .unreadable(RowProblem(line: 6, reason: .notLDIF)),
                .unreadable(RowProblem(line: 8, reason: .noPerson)), .unreadable(RowProblem(line: 12, reason: .empty)),
            ])
        guard found.count == 8, case .row(let bad) = found[5], case .row(let ada) = found[7] else {
            Issue.record("\(found)")
            return
        }
        #expect(bad.remarks.map(\.reason) == [.leftOut("mail")])
        #expect(found[6] == .unreadable(RowProblem(line: 19, reason: .notLDIF)))
        #expect(ada.contact.givenName == "Ada" && ada.line == 23)
    }

    @Test("An entry at the limit is read, one past it is reported and does not hide the next")
    func limit() {
        let start = "dn: cn=A\ncn: A\ndescription: "
        for (extra, isReadable) in [(0, true), (1, false)] {
            let count = LDIFRecords.limit - (start.utf8.count - 2) - 7 + extra
            let found = items(
                start + String(repeating: "x", count: count) + "\nmail: a\n\ndn: cn=B\ncn: B\n", chunk: 1_048_576)
            guard found.count == 2, case .row(let last) = found[1] else {
                Issue.record("\(found.count)")
                continue
            }
            #expect(last.contact.givenName == "B")
            if case .unreadable(let problem) = found[0] {
                #expect(!isReadable && problem == RowProblem(line: 1, reason: .tooLong))
            } else {
                #expect(isReadable)
            }
        }
    }

    @Test("For any bytes the reader ends, and chunks make no difference")
    func garbage() {
        var random = SystemRandomNumberGenerator()
        let pieces = [
            "dn: cn=A", "\n", "\r\n", "\n\n", " ", "#", "cn: A", "cn:: QQ==", "cn:< x", ":", "version: 1",
            "changetype: add",
            "objectClass: groupOfNames", "member: cn=A", "é", "\u{0}", "jpegPhoto:: ", "=", ",", "birthmonth: 13",
        ]
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let whole = items(text, chunk: text.utf8.count + 1)
            #expect(items(text, chunk: Int.random(in: 1...9, using: &random)) == whole, "\(text)")
            for case .row(let row) in whole { #expect(!row.contact.present.isEmpty) }
        }
    }
}
