import BrokerModel

/// The name on a card, used to decide whether two cards with a common address or number describe the same
/// person.
///
/// A family shares a home number, father and son can have the same name, and a company's number is on the
/// cards of all its staff. So a common address or number is not enough: the names must agree too, and must
/// not contradict each other.
public struct LinkName: Hashable, Sendable {
    /// The keys that are compared.
    public static let keys = ContactKeySet([
        .contactType, .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
        .organizationName, .birthday,
    ])

    public let isOrganization: Bool
    private let given: [String]
    private let middle: [String]
    private let family: [String]
    private let formerFamily: [String]
    private let nickname: [String]
    private let prefix: [String]
    /// Generation suffixes, which distinguish a father from a son of the same name.
    private let generation: Set<String>
    private let birthday: Birthday?

    private struct Birthday: Hashable {
        /// Empty if the year is unknown.
        let year: Substring
        let day: Substring
    }

    /// Returns `nil` for a card without a name, because a number alone does not identify its owner. Also
    /// returns `nil` if a name is implausibly long.
    public init?(_ contact: Contact, _ normalizer: Normalizer) {
        guard let given = normalizer.nameWords(contact.givenName),
            let middle = normalizer.nameWords(contact.middleName),
            let family = normalizer.nameWords(contact.familyName),
            let formerFamily = normalizer.nameWords(contact.previousFamilyName),
            let nickname = normalizer.nameWords(contact.nickname),
            let organization = normalizer.nameWords(contact.organizationName),
            let prefix = normalizer.nameWords(contact.namePrefix),
            let suffix = normalizer.nameWords(contact.nameSuffix)
        else { return nil }
        let isNamed = !(given.isEmpty && middle.isEmpty && family.isEmpty && nickname.isEmpty)
        isOrganization = contact.contactType == .organization || !isNamed
        if isOrganization {
            guard !organization.isEmpty else { return nil }
            (self.given, self.middle, self.family) = ([], [], organization)
            (self.formerFamily, self.nickname, self.prefix, generation, birthday) = ([], [], [], [], nil)
            return
        }
        // A nickname without any other name counts as the given name.
        let isCalled = given.isEmpty && middle.isEmpty && family.isEmpty
        self.given = isCalled ? nickname : given
        self.nickname = isCalled ? [] : nickname
        (self.middle, self.family, self.formerFamily, self.prefix) = (middle, family, formerFamily, prefix)
        generation = Set(suffix.compactMap { Self.generations[$0] })
        let date = contact.birthday
        birthday = date.utf8.count < 5 ? nil : Birthday(year: date.dropLast(6).drop { $0 == "-" }, day: date.suffix(5))
    }

    private static let generations = [
        "sr": "1", "senior": "1", "pere": "1", "i": "1", "jr": "2", "junior": "2", "fils": "2", "filho": "2", "ii": "2",
        "2nd": "2", "iii": "3", "3rd": "3", "iv": "4", "4th": "4", "v": "5", "5th": "5",
    ]

    /// Whether both names are equal word by word and do not contradict each other.
    public func equals(_ other: LinkName) -> Bool {
        guard isOrganization == other.isOrganization, !contradicts(other) else { return false }
        return given + middle + family == other.given + other.middle + other.family
    }

    /// Whether both names can belong to one person. An initial matches a name, a nickname matches a given
    /// name, a former family name matches the family name, and a middle name can be missing. Organisations,
    /// and names without a family name, must be equal (``equals(_:)``).
    public func agrees(with other: LinkName) -> Bool {
        if equals(other) { return true }
        guard !isOrganization, !other.isOrganization, !contradicts(other), sharesFamily(with: other) else {
            return false
        }
        let isMiddle = middle.isEmpty || other.middle.isEmpty || stands(middle, for: other.middle, other)
        let isNickname =
            !nickname.isEmpty && (nickname == other.given || nickname == other.nickname && hasOneGiven(with: other))
            || !other.nickname.isEmpty && other.nickname == given
        return isNickname || isMiddle && !given.isEmpty && stands(given, for: other.given, other)
    }

    /// Whether the names cannot belong to one person, because their birthdays or generation suffixes differ.
    public func contradicts(_ other: LinkName) -> Bool {
        if generation != other.generation { return true }
        guard let birthday, let others = other.birthday else { return false }
        return birthday.day != others.day
            || !birthday.year.isEmpty && !others.year.isEmpty && birthday.year != others.year
    }

    private func sharesFamily(with other: LinkName) -> Bool {
        guard !family.isEmpty, !other.family.isEmpty else { return false }
        return family == other.family || family == other.formerFamily || formerFamily == other.family
    }

    /// Whether the given names are equal or one is missing. If they differ, two cards with the same nickname
    /// describe different people.
    private func hasOneGiven(with other: LinkName) -> Bool {
        given.isEmpty || other.given.isEmpty || given == other.given
    }

    /// Whether each word equals the other name's word at the same position, or one of the two is the other's
    /// initial. If both names have a prefix and the prefixes differ, initials do not count: Mr and Mrs A.
    /// Smith are two people.
    private func stands(_ words: [String], for others: [String], _ other: LinkName) -> Bool {
        guard words.count == others.count else { return false }
        if words == others { return true }
        guard prefix == other.prefix || prefix.isEmpty || other.prefix.isEmpty else { return false }
        return zip(words, others).allSatisfy { $0 == $1 || isInitial($0, of: $1) || isInitial($1, of: $0) }
    }

    /// Whether a word is the initial of another word. Only scripts with letter case have initials. In other
    /// scripts a single character can be a name, as in Chinese.
    private func isInitial(_ letter: String, of word: String) -> Bool {
        guard let only = letter.unicodeScalars.first, letter.unicodeScalars.count == 1 else { return false }
        return only.properties.isLowercase && word.unicodeScalars.first == only
    }
}

extension EmailMatchKey {
    /// Whether the address belongs to a role, such as `info@`. Such an address identifies an organisation,
    /// but not a person.
    ///
    /// - Parameter address: a key's ``text``.
    public static func isOfRole(_ address: String) -> Bool {
        let local = address.prefix { $0 != "@" && $0 != "+" }
        return Self.roles.contains(String(local.filter { $0 != "-" && $0 != "_" && $0 != "." }))
    }

    private static let roles: Set<String> = [
        // RFC 2142
        "info", "marketing", "sales", "support", "abuse", "noc", "security", "postmaster", "hostmaster", "usenet",
        "news",
        "webmaster", "www", "uucp", "ftp",
        // Other common roles
        "accounting", "accounts", "admin", "administration", "billing", "booking", "bookings", "buero", "büro",
        "career",
        "careers", "contact", "contacto", "contato", "customerservice", "donotreply", "enquiries", "enquiry", "family",
        "familie", "famille", "feedback", "finance", "frontdesk", "hello", "help", "helpdesk", "hilfe", "hr", "inbox",
        "info1", "inquiries", "invoice", "invoices", "job", "jobs", "kontakt", "mail", "mailbox", "media", "newsletter",
        "noreply", "office", "order", "orders", "payments", "post", "poststelle", "press", "presse", "rechnung",
        "reception",
        "registration", "reservations", "sekretariat", "secretariat", "secretary", "service", "shop", "staff", "team",
        "verwaltung", "vertrieb", "welcome", "zentrale",
    ]
}
