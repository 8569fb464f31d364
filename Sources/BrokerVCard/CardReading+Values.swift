import BrokerModel

/// Reads values with labels.
extension CardReading {
    /// Reads a value that is one text.
    ///
    /// - Parameter scheme: a URI scheme to remove. Some writers put it before the value although the value
    ///   is not a URI.
    mutating func takeText(
        _ line: ContentLine, as property: Property, _ key: WritableKeyPath<Contact, [LabeledString]>,
        _ kind: Label.Kind, without scheme: String? = nil
    ) {
        var value = line.valueText
        if let scheme { value = without(scheme, value) }
        guard !value.isEmpty else { return }
        let label = kept.label(line, kind)
        let new = LabeledString(label: label, value: value)
        guard repeated(line, as: property, where: { contact[keyPath: key][$0] == new }) == nil else { return }
        kept.note(
            line, as: property, at: contact[keyPath: key].count,
            types: Label.leftOver(line.types, label: label, kind))
        contact[keyPath: key].append(new)
        if property == .appleRelated { sources[property, default: []].append(line.property) }
    }

    /// Reads TEL: a text, or a URI (RFC 3966). An address of SIP is a messenger's.
    mutating func takePhone(_ line: ContentLine) {
        guard let uri = TelephoneURI(line.valueText) else {
            return takeText(line, as: .phone, \.phoneNumbers, .phone)
        }
        if uri.isSIP { return takeInstantMessage(line) }
        guard !uri.number.isEmpty else { return keepUnlessEmpty(line) }
        let label = kept.label(line, .phone)
        kept.note(
            line, as: .phone, at: contact.phoneNumbers.count, types: Label.leftOver(line.types, label: label, .phone),
            further: uri.parameters)
        contact.phoneNumbers.append(LabeledString(label: label, value: uri.number))
    }

    /// Removes the scheme from the beginning of the value, even if it is repeated.
    private func without(_ scheme: String, _ value: String) -> String {
        var rest = value[...]
        while ASCII.hasPrefix(rest, scheme) {
            rest = rest.dropFirst(scheme.utf8.count).drop { $0 == " " || $0 == "\t" }
        }
        return ASCII.trimmed(rest)
    }

    /// Reads ADR: post office box;extended;street;locality;region;code;country (RFC 6350 §6.3.1). Contacts
    /// have no fields for post office box and extended address, so both become lines of the street.
    mutating func takeAddress(_ line: ContentLine) {
        let parts = line.components
        func part(_ place: Int) -> String { place < parts.count ? parts[place] : "" }
        var address = PostalAddress()
        address.street = [part(0), part(1), part(2)].filter { !$0.isEmpty }.joined(separator: "\n")
        address.city = part(3)
        address.state = part(4)
        address.postalCode = part(5)
        address.country = part(6)
        address.subLocality = line[AddressParameter.subLocality] ?? ""
        address.subAdministrativeArea = line[AddressParameter.subAdministrativeArea] ?? ""
        let rest = line.rest(after: 7)
        address.isoCountryCode = line["CC"].map { ASCII.lowercased($0) } ?? kept.country(line) ?? ""
        guard address != PostalAddress() || !rest.isEmpty else { return keepIfAnythingElse(line) }
        address.label = kept.label(line, .address)
        kept.note(
            line, as: .address, at: contact.postalAddresses.count,
            types: Label.leftOver(line.types, label: address.label, .address),
            understood: [
                "CC", AddressParameter.subLocality, AddressParameter.subAdministrativeArea, DeliveryLabel.name,
            ], rest: rest)
        takeDeliveryLabel(of: line)
        contact.postalAddresses.append(address)
    }

    /// Keeps an ADR without components if it has LABEL or GEO (RFC 6350 §6.3.1).
    private mutating func keepIfAnythingElse(_ line: ContentLine) {
        if line["LABEL"] != nil || line["GEO"] != nil { keep(line) }
    }

    mutating func takeInstantMessage(_ line: ContentLine) {
        guard let address = InstantMessageValue.read(line) else { return keepUnlessEmpty(line) }
        add(messenger: address, line)
    }

    /// Adds a messenger, unless another property already gave it.
    mutating func add(messenger: InstantMessageAddress, _ line: ContentLine) {
        var address = messenger
        // Outlook names no service.
        let isBare = line.property.isOfProgram && address.service.isEmpty
        guard
            !contact.instantMessageAddresses.contains(where: {
                InstantMessageValue.isSame($0, address) || isBare && $0.username == address.username
            })
        else { return }
        address.label = kept.label(line, .other)
        kept.note(
            line, as: .instantMessage, at: contact.instantMessageAddresses.count,
            types: Label.leftOver(line.types, label: address.label, .other),
            understood: ["X-SERVICE-TYPE", "SERVICE-TYPE"])
        contact.instantMessageAddresses.append(address)
    }

    mutating func takeSocialProfile(_ line: ContentLine) {
        var profile = SocialProfile()
        var types = line.types.filter { !ASCII.equal($0, "pref") }
        if let service = line["SERVICE-TYPE"] {
            profile.service = service
        } else if line.property == .appleSocialProfile, !types.isEmpty {
            profile.service = types.removeFirst()
        }
        profile.username = line["X-USER"] ?? line["USERNAME"] ?? ""
        profile.userIdentifier = line["X-USERID"] ?? ""
        let value = line.valueText
        if ASCII.hasPrefix(value, "x-apple:") {
            let handle = InstantMessageValue.percentDecoded(without("x-apple:", value))
            if profile.username.isEmpty { profile.username = ASCII.trimmed(handle) }
        } else if line.valueType == "text" {
            if profile.username.isEmpty { profile.username = value }
        } else {
            profile.urlString = value
        }
        guard !(profile.urlString.isEmpty && profile.username.isEmpty && profile.userIdentifier.isEmpty) else { return }
        profile.label = kept.label(line, of: types)
        if let place = repeated(
            line, as: .appleSocialProfile, where: { contact.socialProfiles[$0].isSame(as: profile) })
        {
            return contact.socialProfiles[place].complete(by: profile)
        }
        types = Label.leftOver(types, label: profile.label, .other)
        kept.note(
            line, as: .appleSocialProfile, at: contact.socialProfiles.count, types: types,
            understood: ["SERVICE-TYPE", "X-USER", "USERNAME", "X-USERID"])
        contact.socialProfiles.append(profile)
        sources[.appleSocialProfile, default: []].append(line.property)
    }

    /// RELATED is the URI of another card unless VALUE is text (RFC 6350 §6.6.6).
    mutating func takeRelation(_ line: ContentLine) {
        guard line.property == .related, line.valueType != "text" else {
            return takeText(line, as: .appleRelated, \.contactRelations, .relation)
        }
        if !line.valueText.isEmpty { keep(line) }
    }
}

extension SocialProfile {
    private var texts: [String] { [urlString, username, userIdentifier] }

    /// Whether two profiles of one service have a value in common, and none in which they differ.
    fileprivate func isSame(as other: SocialProfile) -> Bool {
        let pairs = zip(texts, other.texts).filter { !$0.isEmpty && !$1.isEmpty }
        return ASCII.equal(service, other.service) && (label == other.label || label == nil || other.label == nil)
            && !pairs.isEmpty && pairs.allSatisfy { $0 == $1 }
    }

    fileprivate mutating func complete(by other: SocialProfile) {
        label = label ?? other.label
        if urlString.isEmpty { urlString = other.urlString }
        if username.isEmpty { username = other.username }
        if userIdentifier.isEmpty { userIdentifier = other.userIdentifier }
    }
}

extension ContentLine {
    /// Returns the unparsed components after the first `count`; empty if they are blank.
    func rest(after count: Int) -> String {
        let parts = split(value, at: UInt8(ascii: ";"))
        guard parts.count > count else { return "" }
        let bytes = storage[parts[count].lowerBound..<value.upperBound]
        return bytes.allSatisfy { ASCII.isSpace($0) || $0 == UInt8(ascii: ";") }
            ? "" : String(decoding: ASCII.trimmed(bytes), as: UTF8.self)
    }
}
