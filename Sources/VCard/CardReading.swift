import ContactsModel

/// Makes a contact of one card. Every property goes where contacts have a place for it; the rest is kept as it stands.
struct CardReading {
    var contact = Contact()
    var remarks: [CardProblem] = []
    /// Labels by group (`item1.X-ABLabel`), wherever in the card they stand.
    var labels: [String: String] = [:]
    /// ISO country codes by group (`item1.X-ABADR`).
    var countries: [String: String] = [:]
    var formattedName = ""
    var formattedNameLine: ContentLine?
    private(set) var extra: [ContentLine] = []
    /// Properties of which a contact has only one and this card had one already.
    private var taken: Set<String> = []

    static func read(_ card: CardSplitter.Card) throws(CardProblem.Reason) -> ReadCard {
        var reading = CardReading()
        var lines: [ContentLine] = []
        lines.reserveCapacity(card.lines.count)
        for line in card.lines {
            guard let contentLine = ContentLine(line) else {
                if line.bytes.contains(where: { $0 != 0x20 && $0 != 0x09 }) {
                    reading.remark(.notAContentLine, line.number)
                }
                continue
            }
            if !contentLine.isCertain { reading.remark(.notUTF8, line.number) }
            lines.append(contentLine)
        }
        try checkVersion(lines)
        guard !lines.contains(where: isGroupMark) else { throw .group }
        reading.collectLabels(lines)
        // Preferred values first: contacts have no other mark for them.
        for line in lines.sorted(by: { ($0.preference, $0.number) < ($1.preference, $1.number) }) { reading.take(line) }
        reading.settleName()
        reading.keepExtraProperties()
        guard !reading.contact.present.isEmpty else { throw .empty }
        if card.isWithoutEnd { reading.remark(.missingEnd, card.firstLine) }
        let remarks = reading.remarks.sorted { $0.line < $1.line }
        return ReadCard(contact: reading.contact, line: card.firstLine, remarks: remarks)
    }

    /// A card without a version is read as 3.0, which forgives most.
    private static func checkVersion(_ lines: [ContentLine]) throws(CardProblem.Reason) {
        let versions = lines.filter { $0.name == "VERSION" }.map { ASCII.trimmed($0.value) }
        guard !versions.isEmpty, !versions.contains("3.0"), !versions.contains("4.0") else { return }
        throw versions.contains("2.1") ? .version21 : .unknownVersion
    }

    private static func isGroupMark(_ line: ContentLine) -> Bool {
        (line.name == "KIND" || line.name == "X-ADDRESSBOOKSERVER-KIND")
            && ASCII.equal(ASCII.trimmed(line.value), "group")
    }

    private mutating func collectLabels(_ lines: [ContentLine]) {
        for line in lines {
            guard let group = line.group else { continue }
            let value = ASCII.trimmed(TextValue.unescaped(line.value))
            if line.name == "X-ABLABEL", !value.isEmpty { labels[group] = value }
            if line.name == "X-ABADR", value.utf8.count == 2 { countries[group] = ASCII.lowercased(value) }
        }
    }

    mutating func remark(_ reason: CardProblem.Reason, _ line: Int) {
        remarks.append(CardProblem(line: line, reason: reason))
    }

    mutating func keep(_ line: ContentLine) { extra.append(line) }

    /// The label in the property's group, or else the one that its types mean.
    func label(_ line: ContentLine, orTypes: (ContentLine) -> String? = Label.ofTypes) -> String? {
        line.group.flatMap { labels[$0] } ?? orTypes(line)
    }

    /// Sets a text of which there is only one; what comes second is kept as a content line.
    mutating func setOnce(_ line: ContentLine, _ text: String, _ key: WritableKeyPath<Contact, String>) {
        guard !text.isEmpty else { return }
        if taken.insert(line.name).inserted, contact[keyPath: key].isEmpty {
            contact[keyPath: key] = text
        } else {
            keep(line)
        }
    }

    /// Whether this is the first property of its name.
    mutating func isFirst(_ line: ContentLine) -> Bool { taken.insert(line.name).inserted }

    /// In the order of the file, and with the labels of their groups.
    private mutating func keepExtraProperties() {
        for line in extra.sorted(by: { $0.number < $1.number }) {
            contact.extraProperties.append(line.text)
            if let group = line.group, let label = labels.removeValue(forKey: group) {
                contact.extraProperties.append("\(group).X-ABLabel:\(Self.escaped(label))")
            }
        }
    }

    private static func escaped(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: ";"), UInt8(ascii: ","): result += [UInt8(ascii: "\\"), byte]
            case 0x0A: result += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
