import BrokerModel

/// Writes one contact as a card.
struct CardWriting {
    let contact: Contact
    let version: VCardVersion
    var output: ContentLineOutput
    /// The extra properties that are written as they stand.
    private var extra: [(text: String, line: ContentLine)] = []
    /// What belongs to values, by the property and the value's place; empty where it belongs to none any more.
    private(set) var kept: [Property: [Int: KeptParameters]] = [:]
    /// Groups that are taken.
    private var groups: Set<String> = []
    /// Groups that extra properties are in.
    private var extraGroups: Set<String> = []
    /// The labels of groups, by X-ABLabel.
    private var groupLabels: [String: String] = [:]
    /// The labels that members of a group have by other means.
    private var memberLabels: [String: Set<String?>] = [:]
    /// The countries of groups, by X-ABADR.
    private var groupCountries: [String: String] = [:]
    /// Groups whose X-ABLabel stands in the card or among the extra properties.
    private var labelled: Set<String> = []
    /// Properties of which extra ones have a preference: the contact's own must come before them.
    private(set) var preferring: Set<String> = []
    private var lastGroup = 0

    init(_ contact: Contact, _ version: VCardVersion) {
        self.contact = contact
        self.version = version
        output = ContentLineOutput()
        sortExtraProperties()
    }

    private mutating func sortExtraProperties() {
        var found: [Property: [KeptParameters]] = [:]
        for text in contact.extraProperties {
            guard let line = ContentLine(text) else { continue }
            switch line.property {
            // One of these would end the card, and the last two are the writer's.
            case .begin, .end, .version, .prodID, .rev: continue
            default: break
            }
            if let each = KeptParameters(line) {
                found[each.property, default: []].append(each)
                if let group = each.group { groups.insert(group) }
                continue
            }
            extra.append((text, line))
            if line.preference != ContentLine.noPreference { preferring.insert(line.nameText) }
            guard let group = line.group else { continue }
            groups.insert(group)
            extraGroups.insert(group)
            if line.property == .label, labelled.insert(group).inserted { groupLabels[group] = line.valueText }
        }
        for (property, all) in found {
            kept[property] = [:]
            for (place, check) in KeptParameters.checks(of: contact.texts(of: property)).enumerated() {
                kept[property]?[place] = all.first { $0.check == check }
            }
        }
    }

    mutating func write() {
        line("BEGIN:VCARD")
        line("VERSION:" + version.rawValue)
        line("PRODID:" + VCardWriter.product)
        writeNames()
        writeWork()
        writeValues()
        writeDates()
        writeRest()
        if !contact.modificationDate.isEmpty {
            let date = contact.modificationDate
            line("REV:" + (version == .v4_0 ? date.filter { $0 != "-" && $0 != ":" } : date))
        }
        line("END:VCARD")
    }

    private mutating func line(_ text: String) {
        output.raw(text)
        output.endLine()
    }

    // MARK: What is there once

    /// Begins a property that a contact has once: name and what is kept of parameters, up to the colon.
    private mutating func begin(_ property: Property, parameters: String = "") -> String {
        let name = property.rawValue
        let own = kept[property]?[0]
        if let group = own?.group {
            output.raw(group)
            output.raw(UInt8(ascii: "."))
        }
        output.raw(name)
        output.raw(parameters)
        if preferring.contains(name) { output.raw(";PREF=1") }
        if let types = own?.types, !types.isEmpty { output.raw(Parameter("TYPE", types).text) }
        for parameter in own?.parameters ?? [] { output.raw(parameter.text) }
        output.raw(UInt8(ascii: ":"))
        return own?.rest ?? ""
    }

    private mutating func text(_ property: Property, _ text: String) {
        guard !text.isEmpty else { return }
        _ = begin(property)
        output.text(text)
        output.endLine()
    }

    private mutating func components(_ components: [String], rest: String = "") {
        for (place, component) in components.enumerated() {
            if place > 0 { output.raw(UInt8(ascii: ";")) }
            output.text(component)
        }
        if !rest.isEmpty { output.raw(";" + rest) }
        output.endLine()
    }

    private mutating func writeNames() {
        if version == .v3_0 || contact.hasNameParts {
            let rest = begin(.name)
            let parts = [
                contact.familyName, contact.givenName, contact.middleName, contact.namePrefix, contact.nameSuffix,
            ]
            components(parts, rest: rest)
        }
        writeFormattedName()
        if !contact.nickname.isEmpty {
            _ = begin(.nickname)
            // What was read from a list is one again.
            let names = contact.nickname.split(separator: ", ", omittingEmptySubsequences: false)
            if names.allSatisfy({ !$0.isEmpty && ASCII.trimmed($0) == $0 }) {
                for (place, name) in names.enumerated() {
                    if place > 0 { output.raw(UInt8(ascii: ",")) }
                    output.text(String(name))
                }
            } else {
                output.text(contact.nickname)
            }
            output.endLine()
        }
        text(.phoneticFirstName, contact.phoneticGivenName)
        text(.phoneticMiddleName, contact.phoneticMiddleName)
        text(.phoneticLastName, contact.phoneticFamilyName)
        text(.maidenName, contact.previousFamilyName)
    }

    /// A formatted name of its own, which stands among the extra properties, takes the place of the one made up here;
    /// a reader of a person without any other name would take it for the name.
    private mutating func writeFormattedName() {
        let isKept = extra.contains { $0.line.property == .formattedName && !$0.line.isValueEmpty }
        // What was said beside a first formatted name needs it.
        if isKept, kept[.formattedName] == nil, contact.hasNameParts || contact.contactType == .organization { return }
        _ = begin(.formattedName)
        output.text(contact.derivedFormattedName)
        output.endLine()
    }

    private mutating func writeWork() {
        if !(contact.organizationName.isEmpty && contact.departmentName.isEmpty) {
            _ = begin(.organization)
            components([contact.organizationName] + (contact.departmentName.isEmpty ? [] : [contact.departmentName]))
        }
        text(.phoneticOrganization, contact.phoneticOrganizationName)
        text(.title, contact.jobTitle)
        if contact.contactType == .organization { line(version == .v4_0 ? "KIND:org" : "X-ABShowAs:COMPANY") }
    }

    private mutating func writeDates() {
        if !contact.birthday.isEmpty {
            let (parameters, value) = dateValue(contact.birthday)
            let hasTime = kept[.birthday]?[0]?.rest.isEmpty == false
            let rest = begin(.birthday, parameters: hasTime ? "" : parameters)
            output.raw(value)
            output.raw(rest)
            output.endLine()
        }
        guard let colon = contact.nonGregorianBirthday.firstIndex(of: ":") else { return }
        let date = contact.nonGregorianBirthday[contact.nonGregorianBirthday.index(after: colon)...]
        let calendar = contact.nonGregorianBirthday[..<colon]
        let rest = begin(.otherBirthday, parameters: Parameter("CALSCALE", [String(calendar)]).text)
        output.raw(version == .v4_0 ? DateValue.basic(date) : String(date))
        output.raw(rest)
        output.endLine()
    }

    /// A date, and the parameters that vCard 3.0 wants with it: Apple's programs know no year only by that year.
    func dateValue(_ date: String) -> (parameters: String, value: String) {
        if version == .v4_0 { return ("", DateValue.basic(date)) }
        guard date.hasPrefix("--") else { return (";VALUE=date", date) }
        return (";X-APPLE-OMIT-YEAR=\(DateValue.yearForNone)", "\(DateValue.yearForNone)-\(date.dropFirst(2))")
    }

    private mutating func writeRest() {
        text(.note, contact.note)
        writePhoto()
        for (text, line) in extra {
            output.raw(line.text == text ? text : line.text)
            output.endLine()
        }
    }

    private mutating func writePhoto() {
        guard !contact.imageData.isEmpty else { return }
        let type = PhotoValue.type(of: Array(contact.imageData.utf8.prefix(16))[...])
        if version == .v4_0 {
            _ = begin(.photo)
            output.raw("data:image/\(ASCII.lowercased(type ?? "jpeg"));base64,")
        } else {
            _ = begin(.photo, parameters: ";ENCODING=b" + (type.map { ";TYPE=\($0)" } ?? ""))
        }
        output.raw(contact.imageData)
        output.endLine()
    }

    // MARK: Groups

    /// A group that nothing else is in.
    mutating func newGroup() -> String {
        repeat { lastGroup += 1 } while groups.contains("item\(lastGroup)")
        let group = "item\(lastGroup)"
        groups.insert(group)
        return group
    }

    /// Whether a value with this label may stand in the group, so that reading the group gives the same label.
    ///
    /// - Parameter isSaid: the label is that of types or of the property: the group needs no X-ABLabel for it.
    mutating func claim(_ group: String, label: String?, isSaid: Bool) -> Bool {
        if let there = groupLabels[group] { return there == label }
        if !isSaid, isUnlabelled(group) { return false }
        if isSaid {
            memberLabels[group, default: []].insert(label)
        } else {
            guard memberLabels[group, default: []].allSatisfy({ $0 == label }) else { return false }
            groupLabels[group] = label
        }
        return true
    }

    /// Whether a label that is written for the group would be one of members that have none, or another.
    func isUnlabelled(_ group: String) -> Bool {
        if labelled.contains(group) { return false }
        return extraGroups.contains(group) || Set(labels(in: group)).count > 1
    }

    /// The labels of the values that are kept in a group.
    private func labels(in group: String) -> [String?] {
        let all: [(Property, [String?])] = [
            (.phone, contact.phoneNumbers.map(\.label)), (.email, contact.emailAddresses.map(\.label)),
            (.address, contact.postalAddresses.map(\.label)), (.url, contact.urlAddresses.map(\.label)),
            (.instantMessage, contact.instantMessageAddresses.map(\.label)),
            (.appleSocialProfile, contact.socialProfiles.map(\.label)),
            (.appleRelated, contact.contactRelations.map(\.label)), (.appleDate, contact.dates.map(\.label)),
        ]
        return all.flatMap { property, labels in
            labels.indices.filter { kept[property]?[$0]?.group == group }.map { labels[$0] }
        }
    }

    /// Whether an address of this country may stand in the group: X-ABADR says one for all of it.
    mutating func claim(_ group: String, country: String) -> Bool {
        if let there = groupCountries[group] { return there == country }
        groupCountries[group] = country
        return true
    }

    /// Writes the label of a group, unless it stands there already.
    mutating func write(label: String, of group: String) {
        guard labelled.insert(group).inserted else { return }
        output.raw("\(group).X-ABLabel:")
        output.text(label)
        output.endLine()
    }
}
