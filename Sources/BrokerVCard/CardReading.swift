import BrokerBounds
import BrokerModel

/// Converts one card to a contact. Properties without a contact key are kept as extra properties, unchanged.
struct CardReading {
    var contact = Contact()
    private(set) var remarks: [CardProblem] = []
    var formattedNames: [ContentLine] = []
    /// N with PHONETIC (RFC 9554 §4.6).
    var phoneticName: ContentLine?
    /// The property from which each date, relation or social profile was read.
    var sources: [Property: [Property]] = [:]
    /// Single-valued properties that were already read from this card.
    private var taken: Set<Property> = []
    /// The addresses, in the contact's order.
    var addresses: [DeliveryLabel.Address] = []
    /// The LABEL properties of vCard 2.1 and 3.0.
    var deliveryLabels: [ContentLine] = []
    var kept = KeptProperties()
    let limits: VCardLimits

    private init(_ limits: VCardLimits) { self.limits = limits }

    static func read(_ card: CardSplitter.Card, _ limits: VCardLimits) throws(CardProblem.Reason) -> VCardReader.Item {
        var reading = CardReading(limits)
        var lines: [ContentLine] = []
        lines.reserveCapacity(card.lines.count)
        var isGroup = false
        var hasPreferences = false
        for line in card.lines {
            guard let contentLine = ContentLine(line, of: card) else {
                if !card.bytes[line.range].allSatisfy(ASCII.isSpace) { reading.remark(.notAContentLine, line.number) }
                continue
            }
            if !contentLine.isCertain { reading.remark(.notUTF8, line.number) }
            switch contentLine.property {
            case .end: reading.remark(.oddEnd, line.number)
            case .kind, .appleKind: if ASCII.equal(contentLine.valueText, "group") { isGroup = true }
            default: break
            }
            if contentLine.preference != ContentLine.noPreference { hasPreferences = true }
            lines.append(contentLine)
        }
        try checkVersion(lines)
        if card.isWithoutEnd { reading.remark(.missingEnd, card.firstLine) }
        if let line = card.oddEnd { reading.remark(.oddEnd, line) }
        for line in card.tooLong { reading.remark(.propertyTooLong, line) }
        if isGroup { return .group(reading.group(lines, card.firstLine)) }
        reading.kept.collectLabels(lines)
        // Preferred values come first, because a contact stores preference only as order.
        if hasPreferences { lines.sort { ($0.preference, $0.number) < ($1.preference, $1.number) } }
        // Other programs' properties often repeat a standard one, in any order.
        for line in lines where !line.property.isLast { reading.take(line) }
        for line in lines where line.property.isLast { reading.take(line) }
        reading.settleName()
        reading.settleDeliveryLabels()
        reading.kept.add(to: &reading.contact)
        guard reading.isReadable(lines) else { throw .empty }
        return .card(
            ReadCard(contact: reading.contact, line: card.firstLine, remarks: reading.sortedRemarks))
    }

    /// Whether the card says anything to a person, or to a program that follows a standard, other than which card it is. A card
    /// that we wrote always does.
    private func isReadable(_ lines: [ContentLine]) -> Bool {
        let values = ContactKeySet.all.subtracting(ContactKeySet([.contactType, .extraProperties]))
        if !contact.present(of: values).isEmpty { return true }
        return kept.extra.contains { !$0.isValueEmpty && Property.isStandard($0) && $0.property != .uid }
            || lines.contains {
                $0.property == .prodID && $0.valueText == VCardWriter.product && !contact.present.isEmpty
            }
    }

    private var sortedRemarks: [CardProblem] { remarks.sorted { $0.line < $1.line } }

    /// Throws if VERSION is unknown. A card without VERSION is read as 3.0, the most lenient version.
    private static func checkVersion(_ lines: [ContentLine]) throws(CardProblem.Reason) {
        var isUnknown = false
        for line in lines where line.property == .version && !line.isValueEmpty {
            if VCardVersion(rawValue: line.valueText) != nil { return }
            isUnknown = true
        }
        if isUnknown { throw .unknownVersion }
    }

    private func group(_ lines: [ContentLine], _ firstLine: Int) -> ReadGroup {
        func first(_ property: Property) -> ContentLine? { lines.first { $0.property == property && !$0.isValueEmpty } }
        let name = first(.formattedName)?.valueText ?? first(.name)?.joinedComponents.first { !$0.isEmpty }
        return ReadGroup(
            name: name ?? "", uid: first(.uid)?.valueText ?? "",
            members: lines.filter { $0.property == .member || $0.property == .appleMember }.map(\.valueText)
                .filter { !$0.isEmpty },
            line: firstLine, remarks: sortedRemarks)
    }

    mutating func remark(_ reason: CardProblem.Reason, _ line: Int) {
        remarks.append(CardProblem(line: line, reason: reason))
    }

    // MARK: Kept properties

    mutating func keep(_ line: ContentLine) {
        let line = BinaryValue.kept(line)
        guard line.size <= limits.keptSize else { return remark(.propertyTooLong, line.number) }
        kept.extra.append(line)
    }

    mutating func keepUnlessEmpty(_ line: ContentLine) {
        if !line.isValueEmpty { keep(line) }
    }

    /// Keeps an X-ABADR that differs from the code found for its group.
    mutating func takeCountry(_ line: ContentLine) {
        // An X-ABADR that repeats the group's code, for a second address of the group, adds nothing.
        if let group = line.group, let country = kept.countries[group], ASCII.equal(line.valueText, country.code) {
            return
        }
        keepUnlessEmpty(line)
    }

    /// Returns the index of a value that this line repeats and that was read from another property. A property can have a
    /// value twice, but two properties often have one value for different programs.
    func repeated(_ line: ContentLine, as property: Property, where isSame: (Int) -> Bool) -> Int? {
        let sources = sources[property] ?? []
        return sources.indices.first {
            (sources[$0] != line.property || line.property.isOfProgram) && isSame($0)
        }
    }

    /// Sets a single-valued text. A second one is kept as an extra property.
    mutating func setOnce(_ line: ContentLine, _ key: WritableKeyPath<Contact, String>) {
        let text = line.valueText
        guard !text.isEmpty else { return }
        if isFirst(line), contact[keyPath: key].isEmpty {
            contact[keyPath: key] = text
            kept.note(line, as: line.property, at: 0)
        } else {
            keep(line)
        }
    }

    /// Whether this is the first line of its property in the card. Records the property as taken.
    mutating func isFirst(_ line: ContentLine) -> Bool { taken.insert(line.property).inserted }
}
