import BrokerModel

/// What of a card has no key or field of a contact, and becomes extra properties: whole properties, the parameters and
/// groups of values, and the labels of groups.
struct KeptProperties {
    /// Labels by group (`item1.X-ABLabel`), from anywhere in the card.
    private var labels: [String: String] = [:]
    /// Groups whose label a value already uses.
    private var usedLabels: Set<String> = []
    /// ISO country codes by group (`item1.X-ABADR`), with their lines.
    private(set) var countries: [String: (code: String, line: ContentLine)] = [:]
    /// Groups whose country code an address already uses.
    private var takenCountries: Set<String> = []
    /// The properties to keep whole.
    var extra: [ContentLine] = []
    /// Parameters and groups kept for values, with the value's index among the values of its property.
    private var kept: [(place: Int, kept: KeptParameters)] = []

    /// Collects the labels and country codes of groups, before a value needs them.
    mutating func collectLabels(_ lines: [ContentLine]) {
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

    /// Adds the extra properties in file order, with the labels of their groups. Then adds the parameters
    /// kept for values.
    mutating func add(to contact: inout Contact) {
        for (group, country) in countries where !takenCountries.contains(group) { extra.append(country.line) }
        if extra.isEmpty, kept.isEmpty { return }
        extra.sort { $0.number < $1.number }
        var members: [String: Int] = [:]
        var written: Set<String> = []
        for line in extra {
            contact.extraProperties.append(line.text)
            guard let group = line.group else { continue }
            members[group, default: 0] += 1
            if written.insert(group).inserted { keepLabel(of: group, in: &contact) }
        }
        for each in kept {
            guard let group = each.kept.group else { continue }
            members[group, default: 0] += 1
            // No value uses the group's label, so it is kept separately.
            if !usedLabels.contains(group), labels[group] != nil, written.insert(group).inserted {
                keepLabel(of: group, in: &contact)
                members[group, default: 0] += 1
            }
        }
        for index in kept.indices {
            // Apple's programs create a numbered group only to attach one label. Such a group is not kept.
            guard let group = kept[index].kept.group, members[group] == 1, Self.isNumbered(group) else { continue }
            kept[index].kept.group = nil
        }
        keepParameters(in: &contact)
    }

    private func keepLabel(of group: String, in contact: inout Contact) {
        guard let label = labels[group] else { return }
        var output = ContentLineOutput()
        output.text(label)
        contact.extraProperties.append("\(group).X-ABLabel:" + String(decoding: output.bytes, as: UTF8.self))
    }

    private static func isNumbered(_ group: String) -> Bool {
        group.hasPrefix("item") && group.utf8.dropFirst(4).allSatisfy { (0x30...0x39).contains($0) }
    }

    private func keepParameters(in contact: inout Contact) {
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
