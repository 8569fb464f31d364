import BrokerModel

extension CardWriting {
    /// The name, group and parameters of one value's property, and how its label is written.
    private struct Head {
        var name: String
        var group: String?
        /// The label, unless the types or the group already express it.
        var label: String?
        var types: [String]
        var preference: Int?
        var parameters: [Parameter]
        var rest: String
    }

    mutating func writeValues() {
        write(.phone, contact.phoneNumbers, .phone) { writing, value, head in
            writing.begin(head)
            writing.output.text(value.value)
            writing.end(head)
        }
        write(.email, contact.emailAddresses, .email) { writing, value, head in
            if writing.version == .v3_0 { head.types.insert("INTERNET", at: 0) }
            writing.begin(head)
            writing.output.text(value.value)
            writing.end(head)
        }
        write(.address, contact.postalAddresses, .address) { $0.write($1, &$2) }
        write(.url, contact.urlAddresses) { writing, value, head in
            writing.begin(head)
            writing.output.address(value.value)
            writing.end(head)
        }
        write(.instantMessage, contact.instantMessageAddresses) { $0.write($1, &$2) }
        write(
            .appleSocialProfile, as: version == .v4_0 ? .socialProfile : nil, contact.socialProfiles,
            isPreferenceSaid: false
        ) { $0.write($1, &$2) }
        write(
            .appleRelated, as: version == .v4_0 ? .related : nil, contact.contactRelations, .relation,
            isPreferenceSaid: false
        ) { writing, value, head in
            if writing.version == .v4_0 { head.parameters.insert(Parameter("VALUE", ["text"]), at: 0) }
            writing.begin(head)
            writing.output.text(value.value)
            writing.end(head)
        }
        writeLabeledDates()
    }

    /// Writes the values of one property.
    ///
    /// - Parameters:
    ///   - property: the property under which parameters are kept.
    ///   - other: the property to write, if it differs.
    ///   - isPreferenceSaid: whether the first of several values is marked as preferred even if no mark was read.
    ///   - body: writes one value; it can change the head first.
    private mutating func write<Value: ContactValue>(
        _ property: Property, as other: Property? = nil, _ values: [Value], _ kind: Label.Kind = .other,
        isPreferenceSaid: Bool = true, _ body: (inout CardWriting, Value, inout Head) -> Void
    ) {
        let name = (other ?? property).rawValue
        let marks = preferences(property, name, values.count, always: isPreferenceSaid)
        for (place, value) in values.enumerated() {
            var head = head(property, name, place, value.label, kind, marks)
            body(&self, value, &head)
        }
    }

    /// Writes address fields without a vCard component as Apple's parameters. Writes the country code as
    /// Apple's X-ABADR or as the CC parameter of RFC 8605.
    private mutating func write(_ value: PostalAddress, _ head: inout Head) {
        let code = value.isoCountryCode
        // A group has one country code. If the group already has another code, this address's code is written
        // as CC, which takes precedence.
        let isApples =
            version == .v3_0 && code.utf8.count == 2 && (head.group.map { claim($0, country: code) } ?? true)
        if isApples {
            if head.group == nil { head.group = newGroup() }
        } else if !code.isEmpty {
            head.parameters.append(Parameter("CC", [ASCII.uppercased(code)]))
        }
        if !value.subLocality.isEmpty {
            head.parameters.append(Parameter(AddressParameter.subLocality, [value.subLocality]))
        }
        if !value.subAdministrativeArea.isEmpty {
            head.parameters.append(Parameter(AddressParameter.subAdministrativeArea, [value.subAdministrativeArea]))
        }
        let deliveryLabel = takeDeliveryLabel(&head)
        begin(head)
        output.raw(";;")
        for text in [value.street, value.city, value.state, value.postalCode, value.country] {
            output.text(text)
            output.raw(UInt8(ascii: ";"))
        }
        if head.rest.isEmpty { output.removeLastByte() } else { output.raw(head.rest) }
        end(head)
        if isApples, let group = head.group {
            output.raw("\(group).X-ABADR:")
            output.text(code)
            output.endLine()
        }
        guard let deliveryLabel else { return }
        let types = head.types.filter { $0 != "pref" }
        output.raw(DeliveryLabel.name)
        if !types.isEmpty { output.raw(Parameter("TYPE", types).text) }
        output.raw(UInt8(ascii: ":"))
        output.text(deliveryLabel)
        output.endLine()
    }

    /// Removes the LABEL parameter from an address of vCard 3.0, which has a property instead, and returns its text.
    /// Returns `nil` if a reader would give the property to an earlier address.
    private mutating func takeDeliveryLabel(_ head: inout Head) -> String? {
        let types = DeliveryLabel.types(head.types)
        let index = addresses.count
        addresses.append(DeliveryLabel.Address(types: types, group: head.group, hasLabel: false))
        guard let place = head.parameters.firstIndex(where: { $0.name == DeliveryLabel.name }) else { return nil }
        let isProperty = version == .v3_0 && DeliveryLabel.place(types, group: nil, in: addresses) == index
        addresses[index].hasLabel = true
        return isProperty ? head.parameters.remove(at: place).values.joined(separator: ",") : nil
    }

    private mutating func write(_ value: InstantMessageAddress, _ head: inout Head) {
        if !value.service.isEmpty {
            let name = version == .v4_0 ? "SERVICE-TYPE" : "X-SERVICE-TYPE"
            head.parameters.insert(Parameter(name, [value.service]), at: 0)
        }
        begin(head)
        output.address(InstantMessageValue.uri(value))
        end(head)
        // Android reads only the older property.
        if version == .v3_0, let older = InstantMessageValue.olderProperty(value) {
            output.raw(older.rawValue + ":")
            output.text(value.username)
            output.endLine()
        }
    }

    private mutating func write(_ value: SocialProfile, _ head: inout Head) {
        let isNew = version == .v4_0
        var own: [Parameter] = []
        // Without an empty SERVICE-TYPE, a reader would take the first type for the service.
        if value.service.isEmpty, !head.types.isEmpty { own.append(Parameter("SERVICE-TYPE", [""])) }
        if !value.service.isEmpty {
            let isType =
                !isNew && value.service.utf8.allSatisfy(ContentLine.isNameByte) && !ASCII.equal(value.service, "pref")
            if isType {
                head.types.insert(value.service, at: 0)
            } else {
                own.append(Parameter("SERVICE-TYPE", [value.service]))
            }
        }
        if !value.userIdentifier.isEmpty { own.append(Parameter("X-USERID", [value.userIdentifier])) }
        let hasURL = !value.urlString.isEmpty
        if hasURL, !value.username.isEmpty {
            own.append(Parameter(isNew ? "USERNAME" : "X-USER", [value.username]))
        }
        if !hasURL, isNew { own.append(Parameter("VALUE", ["text"])) }
        head.parameters.insert(contentsOf: own, at: 0)
        begin(head)
        if hasURL {
            output.address(value.urlString)
        } else if isNew {
            output.text(value.username)
        } else {
            output.address("x-apple:" + InstantMessageValue.percentEncoded(value.username))
        }
        end(head)
    }

    /// The index of the date that is vCard 4.0's ANNIVERSARY. A date that the contact has twice is not, because a reader
    /// takes ANNIVERSARY and X-ABDATE with one value for one date.
    var anniversary: Int? {
        guard version == .v4_0,
            let place = contact.dates.firstIndex(where: { $0.label == PredefinedLabel.anniversary }),
            contact.dates.count(where: {
                $0.label == PredefinedLabel.anniversary && $0.value == contact.dates[place].value
            }) == 1
        else { return nil }
        return place
    }

    /// Writes the first anniversary as vCard 4.0's ANNIVERSARY (RFC 6350 §6.2.6), and all other dates as Apple's
    /// X-ABDATE.
    private mutating func writeLabeledDates() {
        let marks = preferences(.appleDate, Property.appleDate.rawValue, contact.dates.count, always: false)
        for (place, value) in contact.dates.enumerated() {
            let isAnniversary = place == anniversary
            let name = (isAnniversary ? Property.anniversary : .appleDate).rawValue
            let head = head(.appleDate, name, place, value.label, .other, marks, hasTypes: false, isSaid: isAnniversary)
            let (parameters, date) = dateValue(value.value)
            begin(head, parameters: head.rest.isEmpty ? parameters : "")
            output.raw(date)
            output.raw(head.rest)
            end(head)
        }
    }

    // MARK: Heads

    /// Returns the preference to write for each value. Values are in order of preference. Marks that were
    /// read for later values are written only if they agree with that order. The first value is marked if any
    /// other value, or an extra property with this name, is marked. With `always`, it is marked whenever
    /// there are several values, as in cards from Apple's programs.
    private func preferences(_ property: Property, _ name: String, _ count: Int, always: Bool) -> [Int?] {
        guard count > 0 else { return [] }
        var marks: [Int?] = (0..<count).map { $0 == 0 ? nil : kept[property]?[$0]?.preference }
        let order = marks.dropFirst().map { $0 ?? ContentLine.noPreference }
        if order != order.sorted() { marks = [Int?](repeating: nil, count: count) }
        if always && count > 1 || marks.contains(where: { $0 != nil }) || preferring.contains(name) { marks[0] = 1 }
        return marks
    }

    private mutating func head(
        _ property: Property, _ name: String, _ place: Int, _ label: String?, _ kind: Label.Kind, _ marks: [Int?],
        hasTypes: Bool = true, isSaid: Bool = false
    ) -> Head {
        let own = kept[property]?[place]
        let label = label.flatMap { $0.isEmpty ? nil : $0 }
        let left = own?.types ?? []
        var head = Head(
            name: name, types: left, preference: marks[place], parameters: own?.parameters ?? [], rest: own?.rest ?? "")
        let ofLabel = hasTypes ? label.flatMap { Label.types(for: $0, kind, version) } : nil
        if let ofLabel, Label.of(ofLabel + left, kind) == label {
            head.types = ofLabel + left.filter { type in !ofLabel.contains { ASCII.equal($0, type) } }
        } else if label == nil, hasTypes, Label.of(left, kind) != nil {
            head.types = []
        } else if !isSaid {
            head.label = label
        }
        // An X-ABLabel would also label the group's other members, which is wrong. A type can express this
        // label, so it is written as a type.
        if let word = head.label, let group = own?.group, isUnlabelled(group), hasTypes,
            !word.utf8.contains(UInt8(ascii: ",")), Label.of([word] + left, kind) == word
        {
            head.types = [word] + left
            head.label = nil
        }
        if let group = own?.group, claim(group, label: label, isSaid: head.label == nil) {
            head.group = group
        } else if head.label != nil {
            head.group = newGroup()
        }
        if version == .v3_0, head.preference == 1 {
            head.types.append("pref")
            head.preference = nil
        }
        return head
    }

    private mutating func begin(_ head: Head, parameters: String = "") {
        if let group = head.group {
            output.raw(group)
            output.raw(UInt8(ascii: "."))
        }
        output.raw(head.name)
        output.raw(parameters)
        if !head.types.isEmpty { output.raw(Parameter("TYPE", head.types).text) }
        if let preference = head.preference { output.raw(";PREF=\(preference)") }
        for parameter in head.parameters { output.raw(parameter.text) }
        output.raw(UInt8(ascii: ":"))
    }

    /// Ends the property, then writes its label if the head has one.
    private mutating func end(_ head: Head) {
        output.endLine()
        guard let label = head.label, let group = head.group else { return }
        write(label: label, of: group)
    }
}

/// Apple's parameters for address fields that have no vCard component.
enum AddressParameter {
    static let subLocality = "X-APPLE-SUBLOCALITY"
    static let subAdministrativeArea = "X-APPLE-SUBADMINISTRATIVEAREA"
}
