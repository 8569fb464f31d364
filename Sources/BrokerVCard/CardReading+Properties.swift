import BrokerModel

extension CardReading {
    /// Stores the value of one property under its contact key, or keeps the property as an extra property.
    mutating func take(_ line: ContentLine) {
        switch line.property {
        case .begin, .end, .version, .prodID, .rev, .label: break
        case .country: takeCountry(line)
        case .formattedName: takeFormattedName(line)
        case .name: takeName(line)
        case .nickname: takeNickname(line)
        case .organization: takeOrganization(line)
        case .title: setOnce(line, \.jobTitle)
        case .note: takeNote(line)
        case .birthday: takeBirthday(line)
        case .otherBirthday, .appleOtherBirthday: takeOtherBirthday(line)
        case .phone: takePhone(line)
        case .email: takeText(line, as: .email, \.emailAddresses, .email, without: "mailto:")
        case .address: takeAddress(line)
        case .deliveryLabel: deliveryLabels.append(line)
        case .renamed: takeRenamed(line.renamed(Property.unrenamed(line.nameText)))
        case .url: takeText(line, as: .url, \.urlAddresses, .other)
        case .instantMessage, .aim, .jabber, .msn, .yahoo, .icq, .skype, .skypeUsername, .googleTalk, .gaduGadu, .qq:
            takeInstantMessage(line)
        case .appleSocialProfile, .socialProfile: takeSocialProfile(line)
        case .related, .appleRelated: takeRelation(line)
        case .appleDate, .anniversary, .oldAnniversary: takeDate(line)
        case .androidCustom: takeAndroidCustom(line)
        case .evolutionSpouse, .evolutionManager, .evolutionAssistant, .kdeSpouse, .kdeManager, .kdeAssistant,
            .outlookSpouse, .outlookManager, .outlookAssistant:
            takeOtherRelation(line)
        case .evolutionAnniversary, .kdeAnniversary, .outlookAnniversary: takeDate(line)
        case .outlookMessenger: takeInstantMessage(line)
        case .outlookPhone: takeOutlookPhone(line)
        case .messenger: takeMessengers(line)
        case .photo: takePhoto(line)
        case .phoneticFirstName: setOnce(line, \.phoneticGivenName)
        case .phoneticMiddleName: setOnce(line, \.phoneticMiddleName)
        case .phoneticLastName: setOnce(line, \.phoneticFamilyName)
        case .phoneticOrganization: setOnce(line, \.phoneticOrganizationName)
        case .maidenName: setOnce(line, \.previousFamilyName)
        case .showAs: takeKind(line, organization: "company")
        case .kind: takeKind(line, organization: "org")
        case .uid, .appleKind, .member, .appleMember, .other: keep(line)
        }
    }

    /// Takes a property that the card may have once after the others. A label that was renamed belongs to no address.
    private mutating func takeRenamed(_ line: ContentLine) {
        if line.property == .deliveryLabel { keepUnlessEmpty(line) } else { take(line) }
    }

    private mutating func takeKind(_ line: ContentLine, organization: String) {
        let kind = line.valueText
        if ASCII.equal(kind, organization) {
            contact.contactType = .organization
        } else if !ASCII.equal(kind, "individual") {
            keepUnlessEmpty(line)
        }
    }

    // MARK: Names

    private mutating func takeFormattedName(_ line: ContentLine) {
        if !line.isValueEmpty { formattedNames.append(line) }
    }

    /// Reads N: family;given;additional;prefixes;suffixes (RFC 6350 §6.2.2), and keeps the components that
    /// RFC 9554 §2.2 adds.
    private mutating func takeName(_ line: ContentLine) {
        if line["PHONETIC"] != nil {
            if phoneticName == nil { phoneticName = line }
            return keep(line)
        }
        let lists = line.componentLists
        let parts = lists.map { $0.joined(separator: ListBreaks.ofName) }
        guard parts.contains(where: { !$0.isEmpty }) else { return }
        guard isFirst(line) else { return keep(line) }
        func part(_ place: Int) -> String { place < parts.count ? parts[place] : "" }
        contact.familyName = part(0)
        contact.givenName = part(1)
        contact.middleName = part(2)
        contact.namePrefix = part(3)
        contact.nameSuffix = part(4)
        kept.note(
            line, as: .name, at: 0, rest: line.rest(after: 5), breaks: ListBreaks(lists.prefix(5), ListBreaks.ofName))
    }

    private mutating func takeNickname(_ line: ContentLine) {
        let name = line.list.joined(separator: ", ")
        guard !name.isEmpty, name != contact.nickname else { return }
        if isFirst(line) { kept.note(line, as: .nickname, at: 0) }
        contact.nickname += contact.nickname.isEmpty ? name : ", " + name
    }

    /// Appends the text to the contact's only note. A further NOTE with ALTID is a different form of the same
    /// note (RFC 6350 §5.4), so it becomes an extra property instead.
    private mutating func takeNote(_ line: ContentLine) {
        let text = line.valueText
        guard !text.isEmpty else { return }
        if isFirst(line) {
            kept.note(line, as: .note, at: 0)
        } else if line["ALTID"] != nil {
            return keep(line)
        }
        contact.note += contact.note.isEmpty ? text : "\n" + text
    }

    /// Reads ORG: the organisation, then its units (RFC 6350 §6.6.4). A contact has one department, so the
    /// units are joined.
    private mutating func takeOrganization(_ line: ContentLine) {
        let parts = line.components
        guard parts.contains(where: { !$0.isEmpty }) else { return }
        guard isFirst(line) else { return keep(line) }
        contact.organizationName = parts[0]
        let units = parts.dropFirst().filter { !$0.isEmpty }
        contact.departmentName = units.joined(separator: ListBreaks.ofUnits)
        kept.note(line, as: .organization, at: 0, breaks: ListBreaks([[], units], ListBreaks.ofUnits))
    }

    /// Stores FN, which usually is the name that the writer derives from the others. Any other FN is kept as an extra
    /// property. Without N, the first FN becomes a person's given name or an organisation's name, unless it repeats what
    /// the writer would derive. It is not split into parts.
    mutating func settleName() {
        settlePhoneticName()
        var keptNames: [(Int, ContentLine)] = []
        for (place, line) in formattedNames.enumerated() {
            let name = line.valueText
            if place == 0, !contact.hasNameParts, !contact.isNamedLike(name) {
                if contact.contactType == .person {
                    contact.givenName = name
                } else if contact.organizationName.isEmpty {
                    contact.organizationName = name
                }
            }
            if !isDerived(name) {
                keptNames.append((place, line))
            } else if place == 0 {
                kept.note(line, as: .formattedName, at: 0)
            }
        }
        let check = KeptParameters.checks(of: contact.texts(of: .formattedName)).first ?? ""
        for (place, line) in keptNames { keep(FormattedName.kept(line, isFirst: place == 0, check)) }
    }

    /// Whether the writer derives this formatted name from the others.
    private func isDerived(_ name: String) -> Bool {
        let parts = [contact.givenName, contact.middleName, contact.familyName]
        // Most cards repeat N in this order. Formatting their names would be a sixth of the time of reading a card.
        if contact.contactType == .person, contact.namePrefix.isEmpty, contact.nameSuffix.isEmpty,
            !contact.givenName.isEmpty, name.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            name == parts.filter({ !$0.isEmpty }).joined(separator: " ")
        {
            return true
        }
        return name == ASCII.trimmed(contact.derivedFormattedName)
    }

    /// Takes the phonetic name from N with PHONETIC, unless Apple's properties set one.
    private mutating func settlePhoneticName() {
        guard let line = phoneticName, contact.phoneticGivenName.isEmpty, contact.phoneticFamilyName.isEmpty,
            contact.phoneticMiddleName.isEmpty
        else { return }
        let parts = line.joinedComponents
        contact.phoneticFamilyName = parts[0]
        if parts.count > 1 { contact.phoneticGivenName = parts[1] }
        if parts.count > 2 { contact.phoneticMiddleName = parts[2] }
    }

    // MARK: Dates

    private mutating func takeBirthday(_ line: ContentLine) {
        if let calendar = line["CALSCALE"], !ASCII.equal(calendar, "gregorian") { return takeOtherBirthday(line) }
        guard let date = DateValue.gregorian(line.storage[line.value], omittedYear: omittedYear(line)) else {
            return keepAsNoDate(line)
        }
        guard isFirst(line) else { return keep(line) }
        contact.birthday = date
        kept.note(line, as: .birthday, at: 0, understood: ["CALSCALE"], rest: DateValue.time(line))
    }

    private mutating func takeOtherBirthday(_ line: ContentLine) {
        guard let calendar = line["CALSCALE"], !ASCII.equal(calendar, "gregorian"),
            let date = DateValue.date(
                line.storage[line.value], in: calendar, era: line["X-ERA"], omittedYear: omittedYear(line)),
            contact.nonGregorianBirthday.isEmpty
        else { return keepAsNoDate(line) }
        contact.nonGregorianBirthday = date
        kept.note(line, as: .otherBirthday, at: 0, understood: ["CALSCALE", "X-ERA"], rest: DateValue.time(line))
    }

    private mutating func takeDate(_ line: ContentLine) {
        let isGregorian = line["CALSCALE"].map { ASCII.equal($0, "gregorian") } ?? true
        guard isGregorian,
            let date = DateValue.gregorian(line.storage[line.value], omittedYear: omittedYear(line))
        else { return keepAsNoDate(line) }
        add(date: date, label: line.property == .appleDate ? "" : PredefinedLabel.anniversary, line)
    }

    /// Keeps a date that is no day. Reports it, unless it says that it is a text, is in another calendar, or is one of RFC
    /// 6350's dates that are not full.
    mutating func keepAsNoDate(_ line: ContentLine) {
        let isGregorian = line["CALSCALE"].map { ASCII.equal($0, "gregorian") } ?? true
        if isGregorian, line.valueType != "text", !line.isValueEmpty, !DateValue.isPart(line.storage[line.value]) {
            remark(.badDate, line.number)
        }
        keepUnlessEmpty(line)
    }

    private func omittedYear(_ line: ContentLine) -> Int? { line["X-APPLE-OMIT-YEAR"].flatMap { Int($0) } }

    private mutating func takePhoto(_ line: ContentLine) {
        guard !line.isValueEmpty else { return }
        switch PhotoValue.read(line) {
        case .address: keep(line)
        case .damaged: remark(.badPhoto, line.number)
        case .picture(let base64):
            // A second photo is not kept as an extra property, because it can be megabytes long.
            guard contact.imageData.isEmpty else { return remark(.furtherPhoto, line.number) }
            contact.imageData = base64
            kept.note(line, as: .photo, at: 0, types: [], understood: ["MEDIATYPE"])
        }
    }
}
