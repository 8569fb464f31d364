import BrokerModel

/// Reads properties in which other programs store what standard properties or Apple's could express. The writer
/// writes those instead.
extension CardReading {
    /// The relations of Evolution and KDE. Each property is one relation, and its value is the name.
    static let relations: [Property: String] = [
        .evolutionSpouse: "Spouse", .evolutionManager: "Manager", .evolutionAssistant: "Assistant",
        .kdeSpouse: "Spouse", .kdeManager: "Manager", .kdeAssistant: "Assistant", .outlookSpouse: "Spouse",
        .outlookManager: "Manager", .outlookAssistant: "Assistant",
    ]

    mutating func takeOtherRelation(_ line: ContentLine) {
        guard let relation = Self.relations[line.property] else { return }
        // Outlook can write a name in the parts of N: `X-MS-SPOUSE;N:Berg;Bo`.
        let parts = line.property == .outlookSpouse ? line.components : []
        let name =
            parts.count > 1 ? (parts[1...] + parts[..<1]).filter { !$0.isEmpty }.joined(separator: " ") : line.valueText
        add(relation: name, label: PredefinedLabel.relation(relation), line)
    }

    /// Reads KDE's messengers: `X-messaging/xmpp-All:ada@example.org`. U+E000 separates several names.
    mutating func takeMessengers(_ line: ContentLine) {
        let word = String(line.writtenName.dropFirst(Property.messenger.rawValue.utf8.count))
        let name = ASCII.lowercased(word).hasSuffix("-all") ? String(word.dropLast(4)) : word
        for user in line.valueText.split(separator: "\u{E000}").map({ ASCII.trimmed($0) }) where !user.isEmpty {
            var address = InstantMessageAddress()
            address.service = Self.messengers[ASCII.lowercased(name)] ?? name
            address.username = user
            add(messenger: address, line)
        }
    }

    private static let messengers = [
        "aim": "AIM", "gadu": "GaduGadu", "googletalk": "GoogleTalk", "icq": "ICQ", "irc": "IRC", "msn": "MSN",
        "qq": "QQ", "skype": "Skype", "xmpp": "Jabber", "yahoo": "Yahoo",
    ]

    // MARK: Outlook

    /// Reads Outlook's numbers for which vCard has no type: `X-MS-TEL;TYPE=VOICE;COMPANY=:+47 55 50 00 01`.
    mutating func takeOutlookPhone(_ line: ContentLine) {
        let words = line.types + line.parameters.filter { $0.name != "TYPE" }.map(\.name)
        let known = words.lazy.compactMap { Self.outlookLabels[ASCII.uppercased($0)] }.first
        let number = line.valueText
        guard !number.isEmpty, !contact.phoneNumbers.contains(where: { $0.value == number }) else { return }
        let label = kept.label(line, of: []) ?? known
        kept.note(
            line, as: .phone, at: contact.phoneNumbers.count, types: [], understood: Array(Self.outlookLabels.keys))
        contact.phoneNumbers.append(LabeledString(label: label, value: number))
    }

    /// The labels are those of the columns in Outlook's tables.
    private static let outlookLabels = [
        "ASSISTANT": "assistant", "COMPANY": PredefinedLabel.main, "CALLBACK": "callback", "RADIO": "radio",
        "TTYTDD": "TTY", "TELEX": "telex", "CAR": "car", "ISDN": "ISDN",
    ]

    // MARK: Android

    /// Reads Android's `X-ANDROID-CUSTOM:vnd.android.cursor.item/KIND;value;type;label`, followed by 12 columns of
    /// Android's database. A line with a value in one of those is kept unchanged.
    mutating func takeAndroidCustom(_ line: ContentLine) {
        let fields = line.components
        func field(_ place: Int) -> String { place < fields.count ? fields[place] : "" }
        let (value, type, label) = (field(1), Int(field(2)), field(3))
        guard fields.dropFirst(4).allSatisfy(\.isEmpty), !value.isEmpty else { return keepUnlessEmpty(line) }
        switch ASCII.lowercased(field(0)) {
        case "vnd.android.cursor.item/nickname": add(nickname: value)
        case "vnd.android.cursor.item/contact_event":
            guard let date = DateValue.gregorian(Array(value.utf8)[...]), let type, (0...2).contains(type) else {
                return keep(line)
            }
            // ContactsContract.CommonDataKinds.Event: 0 has a label, 1 is an anniversary, 2 is any other date.
            let labels = [label, PredefinedLabel.anniversary, PredefinedLabel.other]
            add(date: date, label: labels[type], line)
        case "vnd.android.cursor.item/relation":
            guard let type, let relation = type == 0 ? label : Self.androidRelation(type) else { return keep(line) }
            add(relation: value, label: relation, line)
        default: keep(line)
        }
    }

    /// Returns the label of a type (ContactsContract.CommonDataKinds.Relation).
    private static func androidRelation(_ type: Int) -> String? {
        let names = [
            "Assistant", "Brother", "Child", "Partner", "Father", "Friend", "Manager", "Mother", "Parent", "Partner",
            nil, nil, "Sister", "Spouse",
        ]
        switch type {
        case 11: return "referred by"
        case 12: return "relative"
        case 1...names.count: return names[type - 1].map(PredefinedLabel.relation)
        default: return nil
        }
    }

    // MARK: Adding values

    // Programs often write a value in a standard property too, so a value that is there already is not added. The label
    // of the property's group takes precedence, as for other properties.

    private mutating func add(nickname: String) {
        if contact.nickname == nickname { return }
        contact.nickname += contact.nickname.isEmpty ? nickname : ", " + nickname
    }

    private mutating func add(relation name: String, label: String, _ line: ContentLine) {
        guard !name.isEmpty else { return }
        let relation = LabeledString(label: kept.label(line, of: []) ?? (label.isEmpty ? nil : label), value: name)
        guard repeated(line, as: .appleRelated, where: { contact.contactRelations[$0] == relation }) == nil else {
            return
        }
        kept.note(line, as: .appleRelated, at: contact.contactRelations.count, types: [])
        contact.contactRelations.append(relation)
        sources[.appleRelated, default: []].append(line.property)
    }

    mutating func add(date: String, label: String, _ line: ContentLine) {
        let date = LabeledDate(label: kept.label(line, of: []) ?? (label.isEmpty ? nil : label), value: date)
        guard repeated(line, as: .appleDate, where: { contact.dates[$0] == date }) == nil else { return }
        kept.note(line, as: .appleDate, at: contact.dates.count, understood: ["CALSCALE"], rest: DateValue.time(line))
        contact.dates.append(date)
        sources[.appleDate, default: []].append(line.property)
    }
}
