import BrokerModel

/// The columns of Outlook in one of the languages of ``names``, in any order.
struct OutlookTable: ContactTable {
    private let columns: Columns
    private let dates: DateOrder

    var count: Int { columns.count }

    init?(header: [String], dates: DateOrder) {
        let match = Self.names.match(header)
        columns = Columns(header: header, keys: match.columns)
        // Outlook writes dates as the system does, and among these languages only English has the month first.
        self.dates = match.language == .english ? dates : .dayFirst
        let marks = ["e-mail address", "business phone", "mobile phone", "home phone", "business street"]
        guard ["first name", "last name", "company"].contains(where: columns.contains),
            marks.contains(where: columns.contains)
        else { return nil }
    }

    /// Columns whose text is the value of one contact key.
    private static let texts: [(column: String, key: ContactKey)] = [
        ("title", .namePrefix), ("first name", .givenName), ("middle name", .middleName), ("last name", .familyName),
        ("suffix", .nameSuffix), ("nickname", .nickname), ("given yomi", .phoneticGivenName),
        ("surname yomi", .phoneticFamilyName), ("company yomi", .phoneticOrganizationName),
        ("company", .organizationName), ("department", .departmentName), ("job title", .jobTitle),
    ]
    /// Phone columns, with the label that each phone number gets.
    private static let phones: [(column: String, label: String)] = [
        ("primary phone", "_$!<Main>!$_"), ("mobile phone", "_$!<Mobile>!$_"), ("mobile phone 2", "_$!<Mobile>!$_"),
        ("home phone", "_$!<Home>!$_"), ("home phone 2", "_$!<Home>!$_"), ("business phone", "_$!<Work>!$_"),
        ("business phone 2", "_$!<Work>!$_"), ("company main phone", "_$!<Main>!$_"),
        ("other phone", "_$!<Other>!$_"), ("car phone", "car"), ("radio phone", "radio"), ("callback", "callback"),
        ("pager", "_$!<Pager>!$_"), ("home fax", "_$!<HomeFAX>!$_"), ("business fax", "_$!<WorkFAX>!$_"),
        ("other fax", "_$!<OtherFAX>!$_"), ("isdn", "ISDN"), ("telex", "telex"), ("tty/tdd phone", "TTY"),
        ("assistant's phone", "assistant"),
    ]
    private static let emails = ["e-mail address", "e-mail 2 address", "e-mail 3 address"]
    private static let relations: [(column: String, label: String)] = [
        ("spouse", "_$!<Spouse>!$_"), ("children", "_$!<Child>!$_"), ("manager's name", "_$!<Manager>!$_"),
        ("assistant's name", "_$!<Assistant>!$_"),
    ]
    private static let places: [(column: String, label: String)] = [
        ("business", "_$!<Work>!$_"), ("home", "_$!<Home>!$_"), ("other", "_$!<Other>!$_"),
    ]
    /// Columns without a contact key. Their texts are added to the note under the columns' names.
    private static let noted = [
        "Office Location", "Profession", "Hobby", "Schools", "Location", "Referred By", "Account",
        "Billing Information", "Government ID Number", "Organizational ID Number", "Gender", "Language", "Mileage",
        "User 1", "User 2", "User 3", "User 4",
    ]
    private static let streets = ["street", "street 2", "street 3", "address po box"]
    /// What Outlook writes for an unknown gender, in its languages.
    private static let unspecified: Set<String> = [
        "unspecified", "keine angabe", "nicht angegeben", "non spécifié", "indéterminé", "sin especificar",
        "no especificado", "non specificato", "指定なし", "未指定",
    ]

    func read(_ row: inout RowReading) {
        for (column, key) in Self.texts { row.contact.setText(text(row, column), of: key) }
        if row.isUnnamed, !row.contact.organizationName.isEmpty { row.contact.contactType = .organization }
        row.contact.birthday = row.date(text(row, "birthday"), dates) ?? ""
        if let anniversary = row.date(text(row, "anniversary"), dates) {
            row.contact.dates.append(LabeledDate(label: "_$!<Anniversary>!$_", value: anniversary))
        }
        row.contact.phoneNumbers = strings(Self.phones, row)
        row.contact.emailAddresses = strings(Self.emails.map { ($0, "") }, row)
        row.contact.contactRelations = strings(Self.relations, row)
        row.contact.urlAddresses = strings(
            [("web page", ""), ("business home page", "_$!<Work>!$_"), ("personal web page", "_$!<HomePage>!$_")], row)
        let account = text(row, "imaddress")
        if !account.isEmpty {
            var address = InstantMessageAddress()
            address.username = account
            row.contact.instantMessageAddresses = [address]
        }
        for place in Self.places { readAddress(place.column, place.label, &row) }
        row.addNote("", text(row, "notes"))
        for name in Self.noted {
            let text = text(row, name.lowercased())
            if !Self.unspecified.contains(text.lowercased()) { row.addNote(name, text) }
        }
        // Outlook separates categories with the region's list separator.
        row.groups = text(row, "categories").split { $0 == ";" || $0 == "," }.map { RowReading.cleaned(String($0)) }
            .filter { !$0.isEmpty }
        columns.leaveOut(of: &row)
    }

    private func readAddress(_ place: String, _ label: String, _ row: inout RowReading) {
        var address = PostalAddress()
        address.label = label
        address.street = Self.streets.map { text(row, "\(place) \($0)") }.filter { !$0.isEmpty }.joined(separator: "\n")
        address.city = text(row, "\(place) city")
        address.state = text(row, "\(place) state")
        address.postalCode = text(row, "\(place) postal code")
        address.country = columns.text(row, "\(place) country/region", "\(place) country")
        let isEmpty = [address.street, address.city, address.state, address.postalCode, address.country]
            .allSatisfy(\.isEmpty)
        if !isEmpty { row.contact.postalAddresses.append(address) }
    }

    private func text(_ row: RowReading, _ name: String) -> String { columns.text(row, name) }

    private func strings(_ columns: [(column: String, label: String)], _ row: RowReading) -> [LabeledString] {
        columns.compactMap { each in
            let text = text(row, each.column)
            return text.isEmpty ? nil : LabeledString(label: each.label.isEmpty ? nil : each.label, value: text)
        }
    }
}
