import BrokerModel

/// The columns of Thunderbird. Its LDIF has the same values under other names (``LDIFReader``).
struct ThunderbirdTable: ContactTable {
    private let columns: Columns

    init?(header: [String]) {
        let match = Self.names.match(header)
        columns = Columns(header: header, keys: match.columns)
        guard ["first name", "last name", "display name", "organization"].contains(where: columns.contains),
            Self.reachable.contains(where: columns.contains)
        else { return nil }
    }

    /// A file without any of these is hardly an address book.
    private static let reachable = [
        "primary email", "secondary email", "home phone", "work phone", "mobile number", "home address",
    ]

    var count: Int { columns.count }

    func read(_ row: inout RowReading) {
        let fields = row
        row.takeThunderbird { column in
            let text = columns.text(fields, column)
            return text.isEmpty ? [] : [text]
        }
        columns.leaveOut(of: &row)
    }
}

extension RowReading {
    /// Phone columns, with the label that each phone number gets.
    static let phones: [(column: String, label: String)] = [
        ("work phone", PredefinedLabel.work), ("home phone", PredefinedLabel.home),
        ("fax number", PredefinedLabel.otherFax), ("pager number", PredefinedLabel.pager),
        ("mobile number", PredefinedLabel.mobile),
    ]
    static let urls: [(column: String, label: String)] = [
        ("web page 1", PredefinedLabel.work), ("web page 2", PredefinedLabel.home),
    ]
    private static let texts: [(column: String, key: ContactKey)] = [
        ("first name", .givenName), ("last name", .familyName), ("nickname", .nickname),
        ("organization", .organizationName), ("department", .departmentName), ("job title", .jobTitle),
    ]

    /// Reads the values that Thunderbird has.
    ///
    /// - Parameter values: returns the values in the column with this English name in lower case. In LDIF there can
    ///   be several; a key for one text gets them all.
    mutating func takeThunderbird(_ values: (String) -> [String]) {
        func text(_ column: String) -> String { values(column).joined(separator: ", ") }
        for (column, key) in Self.texts { contact.setText(text(column), of: key) }
        contact.emailAddresses += ["primary email", "secondary email"].flatMap(values).map { LabeledString(value: $0) }
        for (column, label) in Self.phones {
            contact.phoneNumbers += values(column).map { LabeledString(label: label, value: $0) }
        }
        for (column, label) in Self.urls {
            contact.urlAddresses += values(column).map { LabeledString(label: label, value: $0) }
        }
        // The column is for names in the messenger of AOL.
        for name in values("screen name") {
            var address = InstantMessageAddress()
            (address.service, address.username) = ("AIM", name)
            contact.instantMessageAddresses.append(address)
        }
        for (place, label) in [("home", PredefinedLabel.home), ("work", PredefinedLabel.work)] {
            var address = PostalAddress()
            address.street = (values("\(place) address") + values("\(place) address 2")).joined(separator: "\n")
            address.city = text("\(place) city")
            address.state = text("\(place) state")
            address.postalCode = text("\(place) zipcode")
            address.country = text("\(place) country")
            guard address != PostalAddress() else { continue }
            address.label = label
            contact.postalAddresses.append(address)
        }
        takeBirthday(["birth year", "birth month", "birth day"].map(text))
        for note in values("notes") { addNote("", note) }
        for number in 1...4 {
            for value in values("custom \(number)") { addNote("Custom \(number)", value) }
        }
        takeDisplayName(values("display name"))
    }

    /// - Parameter parts: year, month and day. Without a year it is empty or 0.
    private mutating func takeBirthday(_ parts: [String]) {
        guard parts.contains(where: { !$0.isEmpty }) else { return }
        let hasYear = Int(parts[0]).map { $0 != 0 } ?? !parts[0].isEmpty
        let date = hasYear ? parts.joined(separator: "-") : "--\(parts[1])-\(parts[2])"
        if let day = ReadDate(date, .monthFirst) {
            contact.birthday = day.text
        } else {
            // A year alone, for example, is no date that a contact can hold.
            addNote("Birthday", parts.filter { !$0.isEmpty }.joined(separator: "-"))
        }
    }

    /// Takes the formatted name. It becomes the given name if there is no other name, and is kept as FN
    /// (RFC 6350 §6.2.1) if it has words beyond those of the other names. What is between the given name and the family name
    /// is the middle name, for which Thunderbird has no field.
    private mutating func takeDisplayName(_ names: [String]) {
        for name in names {
            if let middle = middleName(in: name) { contact.middleName = middle }
            let known = [
                contact.namePrefix, contact.givenName, contact.middleName, contact.familyName, contact.nameSuffix,
                contact.nickname, contact.organizationName,
            ]
            let words = Self.words(name)
            let isRepeated =
                words.isEmpty
                ? known.contains(name) : Set(words).isSubset(of: known.flatMap(Self.words))
            if isRepeated || contact.emailAddresses.contains(where: { $0.value == name }) { continue }
            if isUnnamed {
                contact.givenName = name
            } else {
                contact.extraProperties.append("FN:\(Self.escaped(name))")
            }
        }
        if isUnnamed, !contact.organizationName.isEmpty { contact.contactType = .organization }
    }

    private func middleName(in name: String) -> String? {
        guard ![contact.givenName, contact.familyName].contains(""), contact.middleName.isEmpty else { return nil }
        let start = [contact.namePrefix, contact.givenName, ""].drop(while: \.isEmpty).joined(separator: " ")
        let end = " " + [contact.familyName, contact.nameSuffix].filter { !$0.isEmpty }.joined(separator: " ")
        guard name.hasPrefix(start), name.hasSuffix(end), name.count > start.count + end.count else { return nil }
        return String(name.dropFirst(start.count).dropLast(end.count))
    }

    private static func words(_ text: String) -> [String] {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    /// Escapes a text for a content line (RFC 6350 §3.4).
    private static func escaped(_ text: String) -> String {
        text.map { "\\,;".contains($0) ? "\\\($0)" : $0 == "\n" ? "\\n" : String($0) }.joined()
    }
}
