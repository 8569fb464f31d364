import BrokerBounds
import BrokerModel

/// Converts one card to a contact. Properties without a contact key are kept as extra properties, unchanged.
struct CardReading {
    var contact = Contact()
    private(set) var remarks: [CardProblem] = []
    /// Labels by group (`item1.X-ABLabel`), from anywhere in the card.
    private var labels: [String: String] = [:]
    /// Groups whose label a value already uses.
    private var usedLabels: Set<String> = []
    /// ISO country codes by group (`item1.X-ABADR`), with their lines.
    private var countries: [String: (code: String, line: ContentLine)] = [:]
    var formattedNames: [ContentLine] = []
    /// N with PHONETIC (RFC 9554 §4.6).
    var phoneticName: ContentLine?
    private var extra: [ContentLine] = []
    /// The property from which each date, relation or social profile was read.
    var sources: [Property: [Property]] = [:]
    /// Single-valued properties that were already read from this card.
    private var taken: Set<Property> = []
    /// Parameters and groups kept for values, with the value's index among the values of its property.
    private var kept: [(place: Int, kept: KeptParameters)] = []
    /// The addresses, in the contact's order.
    var addresses: [DeliveryLabel.Address] = []
    /// The LABEL properties of vCard 2.1 and 3.0.
    var deliveryLabels: [ContentLine] = []
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
        reading.collectLabels(lines)
        // Preferred values come first, because a contact stores preference only as order.
        if hasPreferences { lines.sort { ($0.preference, $0.number) < ($1.preference, $1.number) } }
        // Other programs' properties often repeat a standard one, in any order.
        for line in lines where !line.property.isLast { reading.take(line) }
        for line in lines where line.property.isLast { reading.take(line) }
        reading.settleName()
        reading.settleDeliveryLabels()
        reading.keepExtraProperties()
        guard reading.isReadable(lines) else { throw .empty }
        return .card(
            ReadCard(contact: reading.contact, line: card.firstLine, remarks: reading.sortedRemarks))
    }

    /// Whether the card says anything to a person, or to a program that follows a standard, other than which card it is. A card
    /// that we wrote always does.
    private func isReadable(_ lines: [ContentLine]) -> Bool {
        let values = ContactKeySet.all.subtracting(ContactKeySet([.contactType, .extraProperties]))
        if !contact.present(of: values).isEmpty { return true }
        return extra.contains { !$0.isValueEmpty && Property.isStandard($0) && $0.property != .uid }
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

    private mutating func collectLabels(_ lines: [ContentLine]) {
        for line in lines {
            switch line.property {
            case .label:
                let label = line.valueText
                if let group = line.group, !label.isEmpty, labels[group] == nil { labels[group] = label }
            case .country:
                let code = line.valueText
                if let group = line.group, code.utf8.count == 2, countries[group] == nil {
                    countries[group] = (ASCII.lowercased(code), line)
                }
            default: break
            }
        }
    }

    mutating func remark(_ reason: CardProblem.Reason, _ line: Int) {
        remarks.append(CardProblem(line: line, reason: reason))
    }

    // MARK: Kept properties

    mutating func keep(_ line: ContentLine) {
        let line = BinaryValue.kept(line)
        guard line.size <= limits.keptSize else { return remark(.propertyTooLong, line.number) }
        extra.append(line)
    }

    mutating func keepUnlessEmpty(_ line: ContentLine) {
        if !line.isValueEmpty { keep(line) }
    }

    /// Returns the country code of the property's group. Marks the code as used, because its X-ABADR must not
    /// be kept as well.
    mutating func country(_ line: ContentLine) -> String? {
        line.group.flatMap { group in
            countries[group].map {
                takenCountries.insert(group)
                return $0.code
            }
        }
    }
    private var takenCountries: Set<String> = []

    /// Keeps an X-ABADR that differs from the code found for its group.
    mutating func takeCountry(_ line: ContentLine) {
        // An X-ABADR that repeats the group's code, for a second address of the group, adds nothing.
        if let group = line.group, let country = countries[group], ASCII.equal(line.valueText, country.code) { return }
        keepUnlessEmpty(line)
    }

    /// Returns the label of the property's group or, if there is none, the label that the types express.
    mutating func label(_ line: ContentLine, _ kind: Label.Kind = .other, of types: [String]? = nil) -> String? {
        if let group = line.group, let label = labels[group] {
            usedLabels.insert(group)
            return label
        }
        return Label.of(types ?? line.types, kind)
    }

    /// Keeps the parameters, group and remaining value text of a property whose value is stored.
    ///
    /// - Parameters:
    ///   - property: the property under which they are kept; it can differ from the line's.
    ///   - place: the value's index among the values of its property.
    ///   - types: the types that the label does not express.
    ///   - understood: the parameters that the value already expresses.
    ///   - rest: the part of the value for which the contact has no field.
    ///   - breaks: how to divide the value when it is written.
    ///   - further: parameters that were in the value.
    mutating func note(
        _ line: ContentLine, as property: Property, at place: Int, types: [String]? = nil, understood: [String] = [],
        rest: String = "", breaks: ListBreaks = ListBreaks(), further: [Parameter] = []
    ) {
        if line.parameters.isEmpty, further.isEmpty, rest.isEmpty, breaks.isEmpty, line.group == nil { return }
        var new = KeptParameters(property)
        new.group = line.group
        // Another program's property is read last, so its preference says nothing about the order.
        if place > 0, line.preference != ContentLine.noPreference, !line.property.isLast {
            new.preference = line.preference
        }
        new.types = types ?? Label.leftOver(line.types, label: nil, .other)
        for parameter in line.parameters {
            switch parameter.name {
            case "TYPE", "PREF", "CHARSET", "ENCODING", "VALUE", "X-APPLE-OMIT-YEAR": continue
            default: break
            }
            if understood.contains(parameter.name) || KeptParameters.ownNames.contains(parameter.name) { continue }
            new.parameters.append(parameter)
        }
        new.parameters += further
        new.rest = rest
        new.breaks = breaks
        if !new.isEmpty { kept.append((place, new)) }
    }

    /// Keeps an address's text for envelopes, after its other parameters.
    mutating func keep(deliveryLabel text: String, ofAddressAt place: Int) {
        let parameter = Parameter(DeliveryLabel.name, [text])
        if let index = kept.firstIndex(where: { $0.place == place && $0.kept.property == .address }) {
            kept[index].kept.parameters.append(parameter)
        } else {
            var new = KeptParameters(.address)
            new.parameters = [parameter]
            kept.append((place, new))
        }
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
            note(line, as: line.property, at: 0)
        } else {
            keep(line)
        }
    }

    /// Whether this is the first line of its property in the card. Records the property as taken.
    mutating func isFirst(_ line: ContentLine) -> Bool { taken.insert(line.property).inserted }

    /// Adds the extra properties in file order, with the labels of their groups. Then adds the parameters
    /// kept for values.
    private mutating func keepExtraProperties() {
        for (group, country) in countries where !takenCountries.contains(group) { extra.append(country.line) }
        if extra.isEmpty, kept.isEmpty { return }
        extra.sort { $0.number < $1.number }
        var members: [String: Int] = [:]
        var written: Set<String> = []
        for line in extra {
            contact.extraProperties.append(line.text)
            guard let group = line.group else { continue }
            members[group, default: 0] += 1
            if written.insert(group).inserted { keepLabel(of: group) }
        }
        for each in kept {
            guard let group = each.kept.group else { continue }
            members[group, default: 0] += 1
            // No value uses the group's label, so it is kept separately.
            if !usedLabels.contains(group), labels[group] != nil, written.insert(group).inserted {
                keepLabel(of: group)
                members[group, default: 0] += 1
            }
        }
        for index in kept.indices {
            // Apple's programs create a numbered group only to attach one label. Such a group is not kept.
            guard let group = kept[index].kept.group, members[group] == 1, Self.isNumbered(group) else { continue }
            kept[index].kept.group = nil
        }
        keepParameters()
    }

    private mutating func keepLabel(of group: String) {
        guard let label = labels[group] else { return }
        var output = ContentLineOutput()
        output.text(label)
        contact.extraProperties.append("\(group).X-ABLabel:" + String(decoding: output.bytes, as: UTF8.self))
    }

    private static func isNumbered(_ group: String) -> Bool {
        group.hasPrefix("item") && group.utf8.dropFirst(4).allSatisfy { (0x30...0x39).contains($0) }
    }

    private mutating func keepParameters() {
        let byProperty = Dictionary(grouping: kept.filter { !$0.kept.isEmpty }, by: \.kept.property)
        for property in Property.allCases {
            guard let own = byProperty[property] else { continue }
            let checks = KeptParameters.checks(of: contact.texts(of: property))
            for (place, each) in own.sorted(by: { $0.place < $1.place }) where place < checks.count {
                var each = each
                each.check = checks[place]
                contact.extraProperties.append(each.text)
            }
        }
    }
}
