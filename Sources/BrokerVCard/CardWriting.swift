import BrokerModel

/// Writes one contact as a card.
struct CardWriting {
    let contact: Contact
    let version: VCardVersion
    var output: ContentLineOutput
    /// The extra properties that are written unchanged.
    private var extra: [(text: String, line: ContentLine)] = []
    /// Kept parameters by property and value index. Parameters whose value was changed or removed are absent.
    private(set) var kept: [Property: [Int: KeptParameters]] = [:]
    /// Group names in use.
    private var groups: Set<String> = []
    /// Groups that contain extra properties.
    private var extraGroups: Set<String> = []
    /// The label of each group, from its X-ABLabel.
    private var groupLabels: [String: String] = [:]
    /// Labels that the values of a group get from their types or their property instead of X-ABLabel.
    private var memberLabels: [String: Set<String?>] = [:]
    /// The country code of each group, from its X-ABADR.
    private var groupCountries: [String: String] = [:]
    /// Groups whose X-ABLabel is already written or is an extra property.
    private var labelled: Set<String> = []
    /// Names of extra properties with a preference. The contact's own values must get a higher preference.
    private(set) var preferring: Set<String> = []
    /// The written addresses, as a reader finds them.
    var addresses: [DeliveryLabel.Address] = []
    private var lastGroup = 0
    /// The formatted name that takes the place of the derived one.
    private var formattedName: String?

    init(_ contact: Contact, _ version: VCardVersion) {
        self.contact = contact
        self.version = version
        output = ContentLineOutput()
        sortExtraProperties()
    }

    private mutating func sortExtraProperties() {
        var found: [Property: [KeptParameters]] = [:]
        let nameCheck = KeptParameters.checks(of: contact.texts(of: .formattedName)).first ?? ""
        for own in contact.extraProperties {
            guard var line = ContentLine(own) else { continue }
            var text = own
            switch line.property {
            // BEGIN and END would break the card; the writer sets VERSION, PRODID and REV itself.
            case .begin, .end, .version, .prodID, .rev: continue
            default: break
            }
            if let each = KeptParameters(line) {
                found[each.property, default: []].append(each)
                if let group = each.group { groups.insert(group) }
                continue
            }
            if line.property == .formattedName, !line.isValueEmpty {
                guard let (name, isFirst) = FormattedName.written(line, nameCheck) else { continue }
                (text, line) = (name.text, name)
                if isFirst { formattedName = formattedName ?? line.valueText }
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

    // MARK: Single-valued properties

    /// Begins a single-valued property: writes its name and kept parameters up to the colon.
    ///
    /// - Returns: the kept remainder of the value, to be written after the value.
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

    /// - Parameter components: the values of each component.
    private mutating func components(_ components: [[String]], rest: String = "") {
        for (place, component) in components.enumerated() {
            if place > 0 { output.raw(UInt8(ascii: ";")) }
            list(component)
        }
        if !rest.isEmpty { output.raw(";" + rest) }
        output.endLine()
    }

    private mutating func list(_ values: [String]) {
        for (place, value) in values.enumerated() {
            if place > 0 { output.raw(UInt8(ascii: ",")) }
            output.text(value)
        }
    }

    private mutating func writeNames() {
        if version == .v3_0 || contact.hasNameParts {
            let rest = begin(.name)
            let parts = [
                contact.familyName, contact.givenName, contact.middleName, contact.namePrefix, contact.nameSuffix,
            ]
            let breaks = kept[.name]?[0]?.breaks ?? ListBreaks()
            components(
                parts.enumerated().map { breaks.values(of: $1, at: $0, ListBreaks.ofName) }, rest: rest)
        }
        writeFormattedName()
        if !contact.nickname.isEmpty {
            _ = begin(.nickname)
            // A reader joins the values of a NICKNAME list with commas. Therefore a nickname with commas is
            // written as a list.
            let names = contact.nickname.split(separator: ", ", omittingEmptySubsequences: false)
            if names.allSatisfy({ !$0.isEmpty && ASCII.trimmed($0) == $0 }) {
                list(names.map(String.init))
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

    /// Writes FN unless an extra property gives it. If a reader would take that one for the name, because the card has no
    /// other, the derived FN is written before it.
    private mutating func writeFormattedName() {
        if let formattedName, kept[.formattedName]?[0] == nil {
            let isName = contact.contactType == .person || contact.organizationName.isEmpty
            if contact.hasNameParts || !isName || contact.isNamedLike(formattedName) { return }
        }
        _ = begin(.formattedName)
        output.text(contact.derivedFormattedName)
        output.endLine()
    }

    private mutating func writeWork() {
        if !(contact.organizationName.isEmpty && contact.departmentName.isEmpty) {
            _ = begin(.organization)
            let breaks = kept[.organization]?[0]?.breaks ?? ListBreaks()
            let department = contact.departmentName
            let units = department.isEmpty ? [] : breaks.values(of: department, at: 1, ListBreaks.ofUnits)
            components([[contact.organizationName]] + units.map { [$0] })
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
        guard let other = NonGregorianDate(contact.nonGregorianBirthday) else { return }
        let date = contact.nonGregorianBirthday.dropFirst(
            other.calendar.count + 1 + (other.era.map { "e\($0)-".count } ?? 0))
        let era = other.era.map { Parameter("X-ERA", [String($0)]).text } ?? ""
        let rest = begin(.otherBirthday, parameters: Parameter("CALSCALE", [other.calendar]).text + era)
        output.raw(version == .v4_0 ? DateValue.basic(date) : String(date))
        output.raw(rest)
        output.endLine()
    }

    /// Returns a date, and the parameters that vCard 3.0 needs with it. Apple's programs write "no year" as a
    /// placeholder year.
    func dateValue(_ date: String) -> (parameters: String, value: String) {
        if version == .v4_0 { return ("", DateValue.basic(date)) }
        guard date.hasPrefix("--") else { return (";VALUE=date", date) }
        return (";X-APPLE-OMIT-YEAR=\(DateValue.yearForNone)", "\(DateValue.yearForNone)-\(date.dropFirst(2))")
    }

    private mutating func writeRest() {
        text(.note, contact.note)
        writePhoto()
        var written = writtenSingles
        for (text, line) in extra {
            let name = line.nameText
            let isTaken =
                line.property == .deliveryLabel
                ? version == .v4_0 || DeliveryLabel.place(of: line, in: addresses) != nil
                : !isAllowed(line, &written)
            if isTaken {
                output.raw(line.renamed(Property.renamed(name)).text)
            } else if version == .v4_0, let binary = BinaryValue.text4(line) {
                output.raw(binary)
            } else {
                output.raw(line.text == text ? text : line.text)
            }
            output.endLine()
        }
    }

    /// The properties of ``Property/single`` that the contact's own values have, with their ALTID; empty for none.
    private var writtenSingles: [String: String] {
        func alternative(_ property: Property, _ place: Int = 0) -> String {
            kept[property]?[place]?.parameters.first { $0.name == "ALTID" }?.values.first ?? ""
        }
        var written: [String: String] = [:]
        if contact.hasNameParts { written["N"] = alternative(.name) }
        if !contact.birthday.isEmpty { written["BDAY"] = alternative(.birthday) }
        if contact.contactType == .organization { written["KIND"] = "" }
        if let anniversary { written["ANNIVERSARY"] = alternative(.appleDate, anniversary) }
        return written
    }

    /// Whether the card may have this property as well: a single one only once, apart from alternatives of it (RFC 6350
    /// §5.4). vCard 3.0 has no such rule, but no program expects a second UID.
    private func isAllowed(_ line: ContentLine, _ written: inout [String: String]) -> Bool {
        let name = line.nameText
        guard version == .v4_0 && Property.single.contains(name) || name == Property.uid.rawValue else { return true }
        let alternative = line["ALTID"] ?? ""
        guard let first = written[name] else {
            written[name] = alternative
            return true
        }
        return !alternative.isEmpty && first == alternative
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

    /// Returns a new group name that is not in use.
    mutating func newGroup() -> String {
        repeat { lastGroup += 1 } while groups.contains("item\(lastGroup)")
        let group = "item\(lastGroup)"
        groups.insert(group)
        return group
    }

    /// Tries to claim a group for a value with this label. Returns whether a reader of the group would give
    /// the value this label.
    ///
    /// - Parameter isSaid: whether types or the property express the label. If so, the group needs no
    ///   X-ABLabel.
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

    /// Whether an X-ABLabel for the group would wrongly label its other members.
    func isUnlabelled(_ group: String) -> Bool {
        if labelled.contains(group) { return false }
        return extraGroups.contains(group) || Set(labels(in: group)).count > 1
    }

    /// Returns the labels of the values whose kept group is this one.
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

    /// Tries to claim a group for an address with this country code. Returns whether the address may use the
    /// group. X-ABADR applies to the whole group, so a group has only one country code.
    mutating func claim(_ group: String, country: String) -> Bool {
        if let there = groupCountries[group] { return there == country }
        groupCountries[group] = country
        return true
    }

    /// Writes the label of a group unless the card already has it.
    mutating func write(label: String, of group: String) {
        guard labelled.insert(group).inserted else { return }
        output.raw("\(group).X-ABLabel:")
        output.text(label)
        output.endLine()
    }
}
