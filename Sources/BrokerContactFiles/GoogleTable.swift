import BrokerModel

/// The columns of Google Contacts, both before 2023 (`Given Name`, `E-mail 1 - Type`, `Group Membership`) and
/// since 2023 (`First Name`, `E-mail 1 - Label`, `Labels`). Several values with the same label share a field,
/// separated by ` ::: `.
struct GoogleTable: ContactTable {
    private let columns: Columns
    /// The numbers of each kind of column, in ascending order: 1 and 2 for `Phone 1` and `Phone 2`.
    private let numbered: [String: [Int]]
    private let dates: DateOrder

    var count: Int { columns.count }

    init?(header: [String], dates: DateOrder) {
        var numbered: [String: Set<Int>] = [:]
        let keys = header.map { field -> String? in
            let name = ColumnNames.comparable(field)
            guard let dash = name.utf8.firstRange(of: " - ".utf8),
                let space = name[..<dash.lowerBound].lastIndex(of: " "),
                let number = Int(name[name.index(after: space)..<dash.lowerBound]), number > 0
            else { return Self.known.contains(name) ? name : nil }
            let kind = String(name[..<space])
            guard let parts = Self.kinds[kind], parts.contains(String(name[dash.upperBound...])) else { return nil }
            numbered[kind, default: []].insert(number)
            return name
        }
        columns = Columns(header: header, keys: keys)
        self.dates = dates
        let isGoogles =
            ["e-mail", "phone", "address", "organization", "website", "event"].contains { numbered[$0] != nil }
            || columns.contains("group membership") || columns.contains("labels") && columns.contains("first name")
        guard isGoogles else { return nil }
        self.numbered = numbered.mapValues { $0.sorted() }
    }

    /// The parts of each kind of numbered column.
    private static let kinds: [String: Set<String>] = [
        "e-mail": ["type", "label", "value"], "phone": ["type", "label", "value"],
        "address": [
            "type", "label", "formatted", "street", "city", "po box", "region", "postal code", "country",
            "extended address",
        ],
        "organization": ["type", "name", "yomi name", "title", "department", "symbol", "location", "job description"],
        "website": ["type", "label", "value"], "event": ["type", "label", "value"],
        "relation": ["type", "label", "value"], "im": ["type", "label", "service", "value"],
        "custom field": ["type", "label", "value"],
    ]
    /// Columns whose text is the value of one contact key, by their old and new names.
    private static let texts: [(key: ContactKey, columns: [String])] = [
        (.namePrefix, ["name prefix"]), (.givenName, ["given name", "first name"]),
        (.middleName, ["additional name", "middle name"]), (.familyName, ["family name", "last name"]),
        (.nameSuffix, ["name suffix"]), (.nickname, ["nickname", "short name"]), (.previousFamilyName, ["maiden name"]),
        (.phoneticGivenName, ["given name yomi", "phonetic first name"]),
        (.phoneticMiddleName, ["additional name yomi", "phonetic middle name"]),
        (.phoneticFamilyName, ["family name yomi", "phonetic last name"]),
        (.organizationName, ["organization 1 - name", "organization name"]),
        (.jobTitle, ["organization 1 - title", "organization title"]),
        (.departmentName, ["organization 1 - department", "organization department"]),
        (.phoneticOrganizationName, ["organization 1 - yomi name"]),
    ]
    /// Columns without a contact key. Their texts are added to the note under the columns' names.
    private static let noted = [
        "Occupation", "Hobby", "Location", "Billing Information", "Mileage", "Subject", "Gender", "Language",
    ]
    /// All known columns apart from the numbered kinds. Some of them are ignored.
    private static let known = Set(texts.flatMap(\.columns) + noted.map { $0.lowercased() }).union([
        "name", "yomi name", "file as", "birthday", "notes", "labels", "group membership", "photo", "initials",
        "directory server", "sensitivity", "priority",
    ])

    func read(_ row: inout RowReading) {
        readNames(&row)
        row.contact.phoneNumbers = strings("phone", row)
        row.contact.emailAddresses = strings("e-mail", row)
        row.contact.urlAddresses = strings("website", row)
        row.contact.contactRelations = strings("relation", row)
        for value in strings("event", row) {
            guard let date = row.date(value.value, dates) else { continue }
            row.contact.dates.append(LabeledDate(label: value.label, value: date))
        }
        readAddresses(&row)
        for (label, texts) in values("im", ["service", "value"], row) where !texts[1].isEmpty {
            var address = InstantMessageAddress()
            (address.label, address.service, address.username) = (label, texts[0], texts[1])
            row.contact.instantMessageAddresses.append(address)
        }
        row.addNote("", text(row, "notes"))
        for name in Self.noted { row.addNote(name, text(row, name.lowercased())) }
        for (label, texts) in values("custom field", ["value"], row) {
            row.addNote(LabelWord.word(label) ?? "", texts[0])
        }
        readGroups(&row)
        columns.leaveOut(of: &row)
        if !text(row, "photo").isEmpty { row.remarks.append(.leftOut("Photo (a web address)")) }
    }

    private func readNames(_ row: inout RowReading) {
        for (key, names) in Self.texts { row.contact.setText(columns.text(row, names), of: key) }
        row.contact.birthday = row.date(text(row, "birthday"), dates) ?? ""
        for number in numbered["organization"] ?? [] {
            let isFirst = number == 1
            let parts = (isFirst ? [] : ["name", "department", "title"]) + ["symbol", "location", "job description"]
            let texts = parts.map { text(row, "organization \(number) - \($0)") }.filter { !$0.isEmpty }
            row.addNote("Organization", texts.joined(separator: ", "))
        }
        let fileAs = text(row, "file as")
        guard row.isUnnamed else {
            // The name under which a person files a contact differs from the name only if the person typed it.
            return row.addNote("File As", fileAs)
        }
        let whole = columns.text(row, "name", "file as")
        if !row.contact.organizationName.isEmpty, whole.isEmpty || whole == row.contact.organizationName {
            row.contact.contactType = .organization
        } else {
            row.contact.givenName = whole
        }
        if fileAs != whole { row.addNote("File As", fileAs) }
    }

    private func readAddresses(_ row: inout RowReading) {
        let parts = [
            "street", "extended address", "po box", "city", "region", "postal code", "country", "formatted",
        ]
        for (label, texts) in values("address", parts, row) {
            var address = PostalAddress()
            address.label = label
            address.street = texts[0...2].filter { !$0.isEmpty }.joined(separator: "\n")
            (address.city, address.state, address.postalCode) = (texts[3], texts[4], texts[5])
            // Google sometimes writes a country code instead of the country's name.
            if texts[6].utf8.count == 2 {
                address.isoCountryCode = texts[6].lowercased()
            } else {
                address.country = texts[6]
            }
            // An address that was typed as one text becomes the street.
            if texts[..<7].allSatisfy(\.isEmpty) { address.street = texts[7] }
            row.contact.postalAddresses.append(address)
        }
    }

    private func readGroups(_ row: inout RowReading) {
        row.groups = Self.split(columns.text(row, "labels", "group membership")).filter {
            !$0.isEmpty && !Self.isSystemGroup($0)
        }
    }

    /// Whether a group is one of Google's own, to which Google adds contacts without being asked. Google marks them with a
    /// star, and marked them with words in early exports.
    static func isSystemGroup(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("*") || name.hasPrefix("system group:")
            || ["mycontacts", "my contacts", "starred", "starred in android"].contains(name)
    }

    // MARK: Columns

    private func text(_ row: RowReading, _ name: String) -> String { columns.text(row, name) }

    private func strings(_ kind: String, _ row: RowReading) -> [LabeledString] {
        values(kind, ["value"], row).map { LabeledString(label: $0.label, value: $0.texts[0]) }
    }

    /// Returns the values in the numbered columns of one kind. If a field contains several values, all fields
    /// with the same number are split, and parts at the same position form one value. Preferred values come first.
    private func values(
        _ kind: String, _ parts: [String], _ row: RowReading
    ) -> [(label: String?, texts: [String])] {
        var (preferred, others): ([(label: String?, texts: [String])], [(label: String?, texts: [String])]) = ([], [])
        for number in numbered[kind] ?? [] {
            let word = columns.text(row, "\(kind) \(number) - label", "\(kind) \(number) - type")
            let label = LabelWord.stored(ofCSV: word)
            var found: [(label: String?, texts: [String])] = []
            let fields = parts.map { Self.split(text(row, "\(kind) \(number) - \($0)")) }
            for place in 0..<(fields.map(\.count).max() ?? 0) {
                let texts = fields.map { place < $0.count ? $0[place] : "" }
                if texts.contains(where: { !$0.isEmpty }) { found.append((label, texts)) }
            }
            // Google marks the preferred value with a star.
            if word.hasPrefix("*") { preferred += found } else { others += found }
        }
        return preferred + others
    }

    private static func split(_ text: String) -> [String] {
        let parts = text.utf8.split(separator: ":::".utf8, omittingEmptySubsequences: false).map {
            RowReading.cleaned(String(Substring($0)))
        }
        return parts == [""] ? [] : parts
    }
}
