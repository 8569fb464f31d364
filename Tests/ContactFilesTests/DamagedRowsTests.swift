import BrokerContactFiles
import BrokerModel
import Testing

@Suite("Rows and entries with damaged characters, and Google's and Excel's marks")
struct DamagedRowsTests {
    private func rows(_ bytes: [UInt8], _ reader: any RowReader) -> [ReadRow] {
        var reader = reader
        reader.append(bytes)
        reader.finish()
        var rows: [ReadRow] = []
        while let item = reader.next() { if case .row(let row) = item { rows.append(row) } }
        return rows
    }

    /// The text in UTF-8, with one byte that is none at the `?`.
    private func damaged(_ text: String) -> [UInt8] { text.utf8.map { $0 == UInt8(ascii: "?") ? 0xFF : $0 } }

    @Test("Only the damaged character of a row or an attribute is lost", arguments: [false, true])
    func damage(hasMark: Bool) {
        let mark: [UInt8] = hasMark ? [0xEF, 0xBB, 0xBF] : []
        let name = hasMark ? "S?ren" : "S?ren Ærø Łódź"
        let expected = name.replacing("?", with: "\u{FFFD}")
        let table = rows(mark + damaged("First Name,Labels,E-mail 1 - Value\n\(name),,a@x.example\n"), CSVReader())
        #expect(table.map(\.contact.givenName) == [expected])
        #expect(table.first?.remarks.map(\.reason) == [.damagedUTF8])
        let entries = rows(mark + damaged("dn: cn=a\ngivenName: \(name)\nsn: Åberg\n"), LDIFReader())
        #expect(entries.map(\.contact.givenName) == [expected] && entries.first?.contact.familyName == "Åberg")
        #expect(entries.first?.remarks.map(\.reason) == [.damagedUTF8])
    }

    @Test("Google's starred value is the first, and its system groups are no groups")
    func stars() {
        let text = """
            Name,Given Name,Group Membership,E-mail 1 - Type,E-mail 1 - Value,E-mail 2 - Type,E-mail 2 - Value,\
            Phone 1 - Type,Phone 1 - Value,Phone 2 - Type,Phone 2 - Value
            Saga,Saga,System Group: My Contacts ::: * myContacts ::: * friends ::: Starred in Android ::: Chess,\
            Home,home@x.example,* Work,work@x.example,Home,1,* Mobile,2

            """
        let row = rows(Array(text.utf8), CSVReader()).first
        #expect(row?.groups == ["Chess"])
        #expect(row?.contact.emailAddresses.map(\.value) == ["work@x.example", "home@x.example"])
        #expect(
            row?.contact.phoneNumbers.map { "\($0.label ?? "") \($0.value)" } == ["_$!<Mobile>!$_ 2", "_$!<Home>!$_ 1"])
    }

    @Test("Excel's line with the delimiter is no header", arguments: [",", ";", "\t"])
    func delimiter(delimiter: String) {
        // The names have more of the other delimiters.
        let header = ["First Name", "Last Name", "E-mail Address", "Business Phone"].joined(separator: delimiter)
        for line in ["sep=\(delimiter)", "\"SEP=\(delimiter)\""] {
            let text = "\(line)\r\n\(header)\r\nAda\(delimiter)Berg\(delimiter)a@x.example\(delimiter)1\r\n"
            #expect(FileFormat(beginning: Array(text.utf8)) == .csv)
            #expect(rows(Array(text.utf8), CSVReader()).map(\.contact.familyName) == ["Berg"], "\(line)")
        }
    }
}
