import ContactsModel

extension CardReading {
    /// Puts one property where the contact has a place for it.
    mutating func take(_ line: ContentLine) {
        switch line.name {
        case "BEGIN", "END", "VERSION", "PRODID", "REV", "X-ABLABEL", "X-ABADR": break
        case "FN": takeFormattedName(line)
        case "N": takeName(line)
        case "NICKNAME": append(TextValue.list(line.value).joined(separator: ", "), to: \.nickname, ", ")
        case "ORG": takeOrganization(line)
        case "TITLE": setOnce(line, text(line), \.jobTitle)
        case "NOTE": append(text(line), to: \.note, "\n")
        case "BDAY": takeBirthday(line)
        case "ALTBDAY", "X-ALTBDAY": takeOtherBirthday(line)
        case "TEL": takePhone(line)
        case "EMAIL": takeEmail(line)
        case "ADR": takeAddress(line)
        case "URL": takeURL(line)
        case "IMPP": takeInstantMessage(line)
        case "X-SOCIALPROFILE", "SOCIALPROFILE": takeSocialProfile(line)
        case "RELATED", "X-ABRELATEDNAMES": takeRelation(line)
        case "X-ABDATE", "ANNIVERSARY", "X-ANNIVERSARY": takeDate(line)
        case "PHOTO": takePhoto(line)
        case "X-PHONETIC-FIRST-NAME": setOnce(line, text(line), \.phoneticGivenName)
        case "X-PHONETIC-MIDDLE-NAME": setOnce(line, text(line), \.phoneticMiddleName)
        case "X-PHONETIC-LAST-NAME": setOnce(line, text(line), \.phoneticFamilyName)
        case "X-PHONETIC-ORG": setOnce(line, text(line), \.phoneticOrganizationName)
        case "X-MAIDENNAME": setOnce(line, text(line), \.previousFamilyName)
        case "X-ABSHOWAS": takeKind(line, organization: "company")
        case "KIND": takeKind(line, organization: "org")
        default:
            if InstantMessageValue.properties[line.name] != nil { takeInstantMessage(line) } else { keep(line) }
        }
    }

    private func text(_ line: ContentLine) -> String { ASCII.trimmed(TextValue.unescaped(line.value)) }

    private mutating func append(_ text: String, to key: WritableKeyPath<Contact, String>, _ separator: String) {
        guard !text.isEmpty else { return }
        let before = contact[keyPath: key]
        contact[keyPath: key] = before.isEmpty ? text : before + separator + text
    }

    private mutating func takeKind(_ line: ContentLine, organization: String) {
        let kind = text(line)
        if ASCII.equal(kind, organization) {
            contact.contactType = .organization
        } else if !ASCII.equal(kind, "individual") {
            keep(line)
        }
    }

    // MARK: Names

    private mutating func takeFormattedName(_ line: ContentLine) {
        guard formattedNameLine == nil else { return keep(line) }
        formattedName = text(line)
        formattedNameLine = line
    }

    /// family;given;additional;prefixes;suffixes (RFC 6350 §6.2.2).
    private mutating func takeName(_ line: ContentLine) {
        let parts = TextValue.listComponents(line.value).map { $0.joined(separator: " ") }
        guard parts.contains(where: { !$0.isEmpty }) else { return }
        guard isFirst(line) else { return keep(line) }
        func part(_ place: Int) -> String { place < parts.count ? parts[place] : "" }
        contact.familyName = part(0)
        contact.givenName = part(1)
        contact.middleName = part(2)
        contact.namePrefix = part(3)
        contact.nameSuffix = part(4)
    }

    /// The organisation, then its units (RFC 6350 §6.6.4): a contact has one department.
    private mutating func takeOrganization(_ line: ContentLine) {
        let parts = TextValue.components(line.value)
        guard parts.contains(where: { !$0.isEmpty }) else { return }
        guard isFirst(line) else { return keep(line) }
        contact.organizationName = parts[0]
        contact.departmentName = parts.dropFirst().filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// The formatted name repeats what N says. Where it says something else, it is kept; where there is no N, it is
    /// the name, taken apart by nobody's guess.
    mutating func settleName() {
        guard let line = formattedNameLine, !formattedName.isEmpty else { return }
        let parts = [
            contact.namePrefix, contact.givenName, contact.middleName, contact.familyName, contact.nameSuffix,
        ]
        guard parts.contains(where: { !$0.isEmpty }) else {
            if formattedName == contact.organizationName { return }
            if contact.contactType == .organization, contact.organizationName.isEmpty {
                contact.organizationName = formattedName
            } else if contact.contactType == .person {
                contact.givenName = formattedName
            } else {
                keep(line)
            }
            return
        }
        let known = Set((parts + [contact.nickname, contact.organizationName]).flatMap(Self.words))
        if !Set(Self.words(formattedName)).isSubset(of: known) { keep(line) }
    }

    private static func words(_ text: String) -> [String] {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    // MARK: Dates

    private mutating func takeBirthday(_ line: ContentLine) {
        if let calendar = line["CALSCALE"], !ASCII.equal(calendar, "gregorian") { return takeOtherBirthday(line) }
        guard let date = DateValue.gregorian(line.value, omittedYear: omittedYear(line)), isFirst(line) else {
            return keepUnlessEmpty(line)
        }
        contact.birthday = date
    }

    private mutating func takeOtherBirthday(_ line: ContentLine) {
        guard let calendar = line["CALSCALE"], !ASCII.equal(calendar, "gregorian"),
            let date = DateValue.date(line.value, in: calendar, omittedYear: omittedYear(line)),
            contact.nonGregorianBirthday.isEmpty
        else { return keepUnlessEmpty(line) }
        contact.nonGregorianBirthday = date
    }

    private mutating func takeDate(_ line: ContentLine) {
        guard let date = DateValue.gregorian(line.value, omittedYear: omittedYear(line)) else {
            return keepUnlessEmpty(line)
        }
        let label = self.label(line) ?? (line.name == "X-ABDATE" ? nil : Label.anniversary)
        contact.dates.append(LabeledDate(label: label, value: date))
    }

    private func omittedYear(_ line: ContentLine) -> Int? { line["X-APPLE-OMIT-YEAR"].flatMap { Int($0) } }

    private mutating func keepUnlessEmpty(_ line: ContentLine) {
        if !ASCII.trimmed(line.value).isEmpty { keep(line) }
    }

    // MARK: Values with labels

    private mutating func takePhone(_ line: ContentLine) {
        let value = without("tel:", text(line))
        guard !value.isEmpty else { return }
        contact.phoneNumbers.append(LabeledString(label: label(line, orTypes: Label.ofPhone), value: value))
    }

    private mutating func takeEmail(_ line: ContentLine) {
        let value = without("mailto:", text(line))
        guard !value.isEmpty else { return }
        contact.emailAddresses.append(LabeledString(label: label(line), value: value))
    }

    private mutating func takeURL(_ line: ContentLine) {
        let value = text(line)
        guard !value.isEmpty else { return }
        contact.urlAddresses.append(LabeledString(label: label(line), value: value))
    }

    private func without(_ scheme: String, _ value: String) -> String {
        ASCII.hasPrefix(value, scheme) ? String(value.dropFirst(scheme.count)) : value
    }

    /// post office box;extended;street;locality;region;code;country (RFC 6350 §6.3.1). Post office box and extended
    /// address are lines of the street, for contacts have no place of their own for them.
    private mutating func takeAddress(_ line: ContentLine) {
        let parts = TextValue.components(line.value)
        func part(_ place: Int) -> String { place < parts.count ? parts[place] : "" }
        var address = PostalAddress()
        address.street = [part(0), part(1), part(2)].filter { !$0.isEmpty }.joined(separator: "\n")
        address.city = part(3)
        address.state = part(4)
        address.postalCode = part(5)
        address.country = part(6)
        guard address != PostalAddress() else { return }
        address.isoCountryCode =
            line.group.flatMap { countries[$0] } ?? line["CC"].map { ASCII.lowercased($0) } ?? ""
        address.label = label(line)
        contact.postalAddresses.append(address)
    }

    private mutating func takeInstantMessage(_ line: ContentLine) {
        guard var address = InstantMessageValue.read(line) else { return }
        guard !contact.instantMessageAddresses.contains(where: { InstantMessageValue.isSame($0, address) }) else {
            return
        }
        address.label = label(line)
        contact.instantMessageAddresses.append(address)
    }

    private mutating func takeSocialProfile(_ line: ContentLine) {
        var profile = SocialProfile()
        profile.service = line["SERVICE-TYPE"] ?? line.types.first { !ASCII.equal($0, "pref") } ?? ""
        profile.username = line["X-USER"] ?? line["USERNAME"] ?? ""
        profile.userIdentifier = line["X-USERID"] ?? ""
        let value = text(line)
        if ASCII.hasPrefix(value, "x-apple:") {
            if profile.username.isEmpty {
                profile.username = InstantMessageValue.percentDecoded(without("x-apple:", value))
            }
        } else if line["VALUE"].map({ ASCII.equal($0, "text") }) ?? false {
            if profile.username.isEmpty { profile.username = value }
        } else {
            profile.urlString = value
        }
        guard !(profile.urlString.isEmpty && profile.username.isEmpty && profile.userIdentifier.isEmpty) else { return }
        profile.label = line.group.flatMap { labels[$0] }
        contact.socialProfiles.append(profile)
    }

    /// RELATED is an address of another card unless it says that it is text (RFC 6350 §6.6.6).
    private mutating func takeRelation(_ line: ContentLine) {
        let value = text(line)
        guard !value.isEmpty else { return }
        if line.name == "RELATED", !(line["VALUE"].map { ASCII.equal($0, "text") } ?? false) { return keep(line) }
        contact.contactRelations.append(LabeledString(label: label(line, orTypes: Label.ofRelation), value: value))
    }

    private mutating func takePhoto(_ line: ContentLine) {
        guard !ASCII.trimmed(line.value).isEmpty else { return }
        switch PhotoValue.read(line) {
        case .address: keep(line)
        case .damaged: remark(.badPhoto, line.number)
        case .picture(let base64):
            // A second one is no content line to keep: it may be megabytes.
            if contact.imageData.isEmpty { contact.imageData = base64 }
        }
    }
}
