import BrokerModel

/// Google Contacts' columns: those of before 2023 (`Given Name`, `E-mail 1 - Type`, `Group Membership`), and those since
/// (`First Name`, `E-mail 1 - Label`, `Labels`). Several values of one label stand in one field, with ` ::: ` between.
struct GoogleTable: ContactTable {
    private let columns: [String: Int]
    /// Numbered columns by what they are: for `Phone` the numbers 1, 2…, in order.
    private let numbered: [String: [Int]]
    /// Columns that have no place, and the names by which the file has them.
    private let others: [(name: String, column: Int)]

    init?(header: [String]) {
        var columns: [String: Int] = [:]
        var numbered: [String: Set<Int>] = [:]
        var others: [(name: String, column: Int)] = []
        for (index, field) in header.enumerated() {
            let title = RowReading.cleaned(field)
            let name = title.lowercased()
            // Of two columns of one name the first counts.
            if columns[name] == nil { columns[name] = index }
            if let dash = name.range(of: " - "), let space = name[..<dash.lowerBound].lastIndex(of: " "),
                let number = Int(name[name.index(after: space)..<dash.lowerBound]), number > 0
            {
                numbered[String(name[..<space]), default: []].insert(number)
                if !Self.kinds.contains(String(name[..<space])) { others.append((title, index)) }
            } else if !Self.known.contains(name) {
                others.append((title, index))
            }
        }
        let isGoogles =
            ["e-mail", "phone", "address", "organization", "website", "event"].contains { numbered[$0] != nil }
            || columns["group membership"] != nil || columns["labels"] != nil && columns["first name"] != nil
        guard isGoogles else { return nil }
        self.columns = columns
        self.numbered = numbered.mapValues { $0.sorted() }
        self.others = others
    }

    private static let kinds: Set<String> = [
        "e-mail", "phone", "address", "organization", "website", "event", "relation", "im", "custom field",
    ]
    /// Columns of one value each that are read, and those that say nothing about a person.
    private static let known: Set<String> = [
        "name", "given name", "first name", "additional name", "middle name", "family name", "last name", "yomi name",
        "given name yomi", "phonetic first name", "additional name yomi", "phonetic middle name", "family name yomi",
        "phonetic last name", "name prefix", "name suffix", "nickname", "short name", "maiden name", "file as",
        "birthday", "notes", "labels", "group membership", "organization name", "organization title",
        "organization department", "photo", "language", "occupation", "hobby", "location", "initials", "gender",
        "billing information", "directory server", "mileage", "sensitivity", "priority", "subject",
    ]

    func read(_ row: inout RowReading) {
        readNames(&row)
        row.contact.phoneNumbers = strings("phone", row)
        row.contact.emailAddresses = strings("e-mail", row)
        row.contact.urlAddresses = strings("website", row)
        row.contact.contactRelations = strings("relation", row)
        for value in strings("event", row) {
            guard let date = row.date(value.value) else { continue }
            row.contact.dates.append(LabeledDate(label: value.label, value: date))
        }
        readAddresses(&row)
        for (label, texts) in values("im", ["service", "value"], row) where !texts[1].isEmpty {
            var address = InstantMessageAddress()
            (address.label, address.service, address.username) = (label, texts[0], texts[1])
            row.contact.instantMessageAddresses.append(address)
        }
        row.addNote("", text(row, "notes"))
        for name in ["Occupation", "Hobby", "Location", "Billing Information", "Mileage", "Subject", "Gender"] {
            row.addNote(name, text(row, name.lowercased()))
        }
        for (label, texts) in values("custom field", ["value"], row) {
            row.addNote(LabelWord.word(label) ?? "", texts[0])
        }
        readGroups(&row)
        for other in others where !row.text(other.column).isEmpty { row.remarks.append(.leftOut(other.name)) }
        if !text(row, "photo").isEmpty { row.remarks.append(.leftOut("Photo, an address on the net,")) }
    }

    private func readNames(_ row: inout RowReading) {
        row.contact.namePrefix = text(row, "name prefix")
        row.contact.givenName = text(row, "given name", "first name")
        row.contact.middleName = text(row, "additional name", "middle name")
        row.contact.familyName = text(row, "family name", "last name")
        row.contact.nameSuffix = text(row, "name suffix")
        row.contact.nickname = text(row, "nickname", "short name")
        row.contact.previousFamilyName = text(row, "maiden name")
        row.contact.phoneticGivenName = text(row, "given name yomi", "phonetic first name")
        row.contact.phoneticMiddleName = text(row, "additional name yomi", "phonetic middle name")
        row.contact.phoneticFamilyName = text(row, "family name yomi", "phonetic last name")
        row.contact.organizationName = text(row, "organization 1 - name", "organization name")
        row.contact.jobTitle = text(row, "organization 1 - title", "organization title")
        row.contact.departmentName = text(row, "organization 1 - department", "organization department")
        row.contact.phoneticOrganizationName = text(row, "organization 1 - yomi name")
        row.contact.birthday = row.date(text(row, "birthday")) ?? ""
        for number in (numbered["organization"] ?? []).dropFirst() {
            let parts = ["name", "department", "title"].map { text(row, "organization \(number) - \($0)") }
            row.addNote("Organization", parts.filter { !$0.isEmpty }.joined(separator: ", "))
        }
        let isUnnamed = [
            row.contact.givenName, row.contact.middleName, row.contact.familyName, row.contact.nickname,
        ].allSatisfy(\.isEmpty)
        guard isUnnamed else { return }
        let whole = text(row, "name", "file as")
        if !row.contact.organizationName.isEmpty, whole.isEmpty || whole == row.contact.organizationName {
            row.contact.contactType = .organization
        } else {
            row.contact.givenName = whole
        }
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
            // Google writes countries as codes too.
            if texts[6].utf8.count == 2 {
                address.isoCountryCode = texts[6].lowercased()
            } else {
                address.country = texts[6]
            }
            // Whoever typed one text gets it back as one.
            if texts[..<7].allSatisfy(\.isEmpty) { address.street = texts[7] }
            row.contact.postalAddresses.append(address)
        }
    }

    private func readGroups(_ row: inout RowReading) {
        for part in Self.split(text(row, "labels", "group membership")) {
            // Google's own groups have a star: everybody is in myContacts.
            let name = part.hasPrefix("*") ? RowReading.cleaned(String(part.dropFirst())) : part
            guard !name.isEmpty, name.lowercased() != "mycontacts" else { continue }
            let isOwn = part.hasPrefix("*")
            row.groups.append(isOwn ? name.prefix(1).uppercased() + name.dropFirst() : name)
        }
    }

    // MARK: Columns

    private func text(_ row: RowReading, _ names: String...) -> String {
        for name in names {
            let text = row.text(columns[name])
            if !text.isEmpty { return text }
        }
        return ""
    }

    private func strings(_ kind: String, _ row: RowReading) -> [LabeledString] {
        values(kind, ["value"], row).map { LabeledString(label: $0.label, value: $0.texts[0]) }
    }

    /// The values of numbered columns. Where a field holds several, the others of the same number are parted with it.
    private func values(
        _ kind: String, _ parts: [String], _ row: RowReading
    ) -> [(label: String?, texts: [String])] {
        var found: [(label: String?, texts: [String])] = []
        for number in numbered[kind] ?? [] {
            let label = LabelWord.stored(ofCSV: text(row, "\(kind) \(number) - label", "\(kind) \(number) - type"))
            let fields = parts.map { Self.split(text(row, "\(kind) \(number) - \($0)")) }
            for place in 0..<(fields.map(\.count).max() ?? 0) {
                let texts = fields.map { place < $0.count ? $0[place] : "" }
                if texts.contains(where: { !$0.isEmpty }) { found.append((label, texts)) }
            }
        }
        return found
    }

    private static func split(_ text: String) -> [String] {
        var parts: [String] = []
        var rest = text[...]
        while let separator = rest.range(of: ":::") {
            parts.append(RowReading.cleaned(String(rest[..<separator.lowerBound])))
            rest = rest[separator.upperBound...]
        }
        return (parts + [RowReading.cleaned(String(rest))]).filter { !$0.isEmpty || parts.count > 0 }
    }
}

extension StringProtocol {
    /// Where a text stands, byte for byte.
    func range(of text: String) -> Range<Index>? {
        guard let first = text.utf8.first else { return nil }
        var start = utf8.startIndex
        while let found = utf8[start...].firstIndex(of: first) {
            if utf8[found...].starts(with: text.utf8) {
                return found..<utf8.index(found, offsetBy: text.utf8.count)
            }
            start = utf8.index(after: found)
        }
        return nil
    }
}
