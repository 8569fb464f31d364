import BrokerModel

/// A property of contacts, for tests in which two contacts differ in exactly one property, each property in turn.
public struct SampleProperty: Sendable, CustomStringConvertible {
    public let description: String
    /// How much of the property LDIF has a place for. vCard and folders of vCards carry every property whole.
    public let inLDIF: Carriage
    /// Returns ``whole`` with other values of this property: another one, and none if a contact can lack it.
    public let variants: @Sendable () -> [Contact]
    /// What a contact says in this property. Empty texts say nothing.
    public let value: @Sendable (Contact) -> [String]

    public enum Carriage: Sendable {
        /// Comes back in every contact.
        case whole
        /// Comes back in ``SampleProperty/whole`` and its variants, but not in every contact.
        case partly
        case lost
    }

    init(
        _ description: String, _ inLDIF: Carriage, _ changes: [@Sendable (inout Contact) -> Void],
        _ value: @escaping @Sendable (Contact) -> [String]
    ) {
        (self.description, self.inLDIF, self.value) = (description, inLDIF, value)
        variants = {
            changes.map { change in
                var contact = Self.whole
                change(&contact)
                return contact
            }
        }
    }

    /// A person with a value of every property, each of a kind that LDIF has a place for if it has any.
    public static let whole: Contact = {
        var contact = Contact()
        for (key, text) in texts { contact.setText(text, of: key) }
        contact.phoneNumbers = [
            LabeledString(label: PredefinedLabel.mobile, value: "+47 55 50 00 01"),
            LabeledString(label: PredefinedLabel.home, value: "+47 55 50 00 02"),
            LabeledString(label: PredefinedLabel.mobile, value: "+47 55 50 00 03"),
        ]
        contact.emailAddresses = [LabeledString(value: "dora@a.example"), LabeledString(value: "dora@b.example")]
        contact.urlAddresses = [
            LabeledString(label: PredefinedLabel.home, value: "https://a.example"),
            LabeledString(label: PredefinedLabel.work, value: "https://b.example"),
        ]
        contact.postalAddresses = [address(PredefinedLabel.work, "1"), address(PredefinedLabel.home, "2")]
        contact.dates = [
            LabeledDate(label: PredefinedLabel.anniversary, value: "2011-06-04"),
            LabeledDate(label: "graduation", value: "--12-31"),
        ]
        contact.contactRelations = [
            LabeledString(label: PredefinedLabel.relation("Mother"), value: "Eva"),
            LabeledString(label: "neighbour", value: "Ole"),
        ]
        for (label, service) in [(PredefinedLabel.home, "AIM"), (PredefinedLabel.work, "Jabber")] {
            var account = InstantMessageAddress()
            (account.label, account.service, account.username) = (label, service, "dora-\(service)")
            contact.instantMessageAddresses.append(account)
        }
        for (label, service) in [(PredefinedLabel.home, "twitter"), (PredefinedLabel.work, "Mastodon")] {
            var profile = SocialProfile()
            (profile.label, profile.service, profile.username) = (label, service, "dora-\(service)")
            (profile.userIdentifier, profile.urlString) = ("7", "https://\(service).example/dora")
            contact.socialProfiles.append(profile)
        }
        contact.extraProperties = [
            "X-THREEMA:ABCD1234", "item1.X-PET;X-KIND=cat:Mons", "LOGO;ENCODING=b;TYPE=PNG:iVBORw0KGgo=",
        ]
        return contact
    }()

    private static let texts: [(ContactKey, String)] = [
        (.namePrefix, "Dr"), (.givenName, "Dora"), (.middleName, "Liv Åse"), (.familyName, "Notes"),
        (.previousFamilyName, "Bok"), (.nameSuffix, "PhD"), (.nickname, "Dolly"), (.phoneticGivenName, "doora"),
        (.phoneticMiddleName, "leev"), (.phoneticFamilyName, "nohts"), (.organizationName, "Fjord AS"),
        (.departmentName, "Sea, Sales"), (.jobTitle, "Diver"), (.phoneticOrganizationName, "fyord"),
        (.birthday, "1990-01-31"), (.nonGregorianBirthday, "chinese:--08-15"), (.note, "one\ntwo; three"),
        (.imageData, "/9j/4AAQ"),
    ]

    private static func address(_ label: String, _ number: String) -> PostalAddress {
        var address = PostalAddress()
        address.label = label
        for field in PostalAddress.fields { field.set(&address, "\(field.name) \(number)") }
        (address.street, address.isoCountryCode) = ("Street \(number)\nFlat \(number)", "no")
        return address
    }

    // MARK: The table

    public static let all: [SampleProperty] = {
        var all = texts.map { key, text in
            SampleProperty(
                key.rawValue, textsInLDIF[key] ?? .lost,
                [{ $0.setText(other(text, of: key), of: key) }, { $0.setText("", of: key) }]
            ) { [$0.text(of: key) ?? ""] }
        }
        all += [
            SampleProperty("contactType", .lost, [{ $0.contactType = .organization }]) { [$0.contactType.rawValue] },
            SampleProperty("the birthday's year", .whole, [{ $0.birthday = "--01-31" }]) { [$0.birthday] },
            SampleProperty("a photo that is no JPEG", .lost, [{ $0.imageData = "iVBORw0KGgo=" }]) { [$0.imageData] },
            SampleProperty(
                "UID", .partly,
                [uid("8bf87495-a576-b43e-7ede-6a2e97165ee5"), uid("8bf87495-a576-b43e-7ede-6a2e97165ee6")]
            ) { $0.extraProperties.filter(isUID) },
            SampleProperty("a UID that is no UUID", .lost, [uid("dora@a.example")]) {
                $0.extraProperties.filter(isUID)
            },
            SampleProperty(
                "the formatted name", .lost,
                [
                    { $0.extraProperties.append("FN:The Diver") },
                    { $0.extraProperties.append("FN:Doctor Notes\\, sea") },
                ]
            ) { formattedNames(of: $0) },
            SampleProperty(
                "unknown properties", .lost,
                [
                    { $0.extraProperties[0] = "X-THREEMA:ABCD1235" }, { $0.extraProperties[1] = "item1.X-PET:Mons" },
                    { $0.extraProperties[2] = "LOGO;ENCODING=b;TYPE=PNG:iVBORw0KGgoA" },
                    { $0.extraProperties.remove(at: 0) }, { $0.extraProperties.swapAt(0, 1) },
                ]
            ) { $0.extraProperties.filter { !isUID($0) && !$0.hasPrefix("FN") } },
        ]
        all += list("phoneNumbers", \.phoneNumbers, .whole, order: .whole, label: .partly)
        all += list("emailAddresses", \.emailAddresses, .whole, order: .whole, label: .lost)
        all += list("urlAddresses", \.urlAddresses, .whole, order: .whole, label: .partly)
        all += list("postalAddresses", \.postalAddresses, .partly, order: .partly, label: .lost)
        all += list("dates", \.dates, .lost, order: .lost, label: .lost)
        all += list("contactRelations", \.contactRelations, .lost, order: .lost, label: .lost)
        all += list("instantMessageAddresses", \.instantMessageAddresses, .lost, order: .lost, label: .lost)
        all += list("socialProfiles", \.socialProfiles, .lost, order: .lost, label: .lost)
        return all
    }()

    private static let textsInLDIF: [ContactKey: Carriage] = [
        .namePrefix: .whole, .givenName: .partly, .middleName: .partly, .familyName: .whole, .nameSuffix: .whole,
        .nickname: .whole, .organizationName: .whole, .departmentName: .whole, .jobTitle: .whole, .birthday: .whole,
        .note: .whole, .imageData: .partly,
    ]

    /// The fields of an address for which LDIF has no attribute. Their texts join another field, or are left out.
    private static let fieldsNotInLDIF: Set<String> = [
        "subLocality", "subAdministrativeArea", "isoCountryCode", "city", "state", "country",
    ]

    /// The properties of a list: each field of its values, the number and order of the values, and their labels.
    private static func list<Value: ContactValue>(
        _ name: String, _ path: WritableKeyPath<Contact, [Value]> & Sendable, _ field: Carriage, order: Carriage,
        label: Carriage
    ) -> [SampleProperty] {
        let fields = Value.fields
        var all = fields.map { each in
            SampleProperty(
                "\(each.name) of \(name)", fieldsNotInLDIF.contains(each.name) ? .lost : field,
                [
                    {
                        let text = each.get($0[keyPath: path][0])
                        let isDate = CalendarDate(text) != nil
                        each.set(&$0[keyPath: path][0], isDate ? "2012-06-04" : text == "no" ? "se" : text + "x")
                    },
                    { contact in
                        if each.isRequired {
                            contact[keyPath: path].removeFirst()
                        } else {
                            each.set(&contact[keyPath: path][0], "")
                        }
                    },
                ]
            ) { $0[keyPath: path].map(each.get).sorted() }
        }
        all.append(
            SampleProperty("order of \(name)", order, [{ $0[keyPath: path].reverse() }]) {
                $0[keyPath: path].map(fields[0].get)
            })
        all.append(
            SampleProperty("label of \(name)", label, [{ $0[keyPath: path][0].label = PredefinedLabel.home }]) {
                $0[keyPath: path].map { "\($0.label ?? "") \(fields[0].get($0))" }.sorted()
            })
        all.append(
            SampleProperty(
                "other label of \(name)", .lost,
                [{ $0[keyPath: path][0].label = "a label" }, { $0[keyPath: path][0].label = nil }]
            ) { $0[keyPath: path].map { "\($0.label ?? "") \(fields[0].get($0))" }.sorted() })
        return all
    }

    private static func other(_ text: String, of key: ContactKey) -> String {
        switch key {
        case .birthday: "1991-01-31"
        case .nonGregorianBirthday: "chinese:--08-16"
        case .imageData: "/9j/4AAR"
        default: text + "x"
        }
    }

    // MARK: Extra properties

    private static func uid(_ uid: String) -> @Sendable (inout Contact) -> Void {
        { $0.extraProperties.append("UID:\(uid)") }
    }

    public static func isUID(_ line: String) -> Bool { line.hasPrefix("UID:") }

    /// The formatted names that are not made from the others, without the check of the names beside which they were read.
    private static func formattedNames(of contact: Contact) -> [String] {
        contact.extraProperties.compactMap { ExtraProperty.value(of: "FN", in: $0) }
    }
}
