import BrokerModel

/// What a card says of whom it is about, so that two cards with one address or number can be told to be about one person.
///
/// One family has one number at home, father and son may have one name, and a firm's number is on the cards of all who work
/// there. So cards with an address in common are about one person only if their names say so too, and say nothing against it.
public struct LinkName: Hashable, Sendable {
    /// The keys that are looked at.
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
    /// What tells a father from a son of his name.
    private let generation: Set<String>
    private let birthday: Birthday?

    private struct Birthday: Hashable {
        /// Empty where only the day is known.
        let year: Substring
        let day: Substring
    }

    /// `nil` for a card without a name: a number alone says nothing of who has it.
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
        // Who is known by a nickname alone is called by it.
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

    /// Whether both are called the same, to the word.
    public func equals(_ other: LinkName) -> Bool {
        guard isOrganization == other.isOrganization, !contradicts(other) else { return false }
        return given + middle + family == other.given + other.middle + other.family
    }

    /// Whether both may well be called the same: an initial stands for a name, a nickname for a given one, a former family
    /// name for the family's, and a middle name may be missing. Of organisations, and where the family name is missing, only
    /// what ``equals(_:)`` does.
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

    /// Whether they cannot be one: born on different days, or father and son.
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

    /// One may go by the nickname alone, not both by names of their own.
    private func hasOneGiven(with other: LinkName) -> Bool {
        given.isEmpty || other.given.isEmpty || given == other.given
    }

    /// Word by word: each is the other's, or its initial. Mr and Mrs A. Smith are two.
    private func stands(_ words: [String], for others: [String], _ other: LinkName) -> Bool {
        guard words.count == others.count else { return false }
        if words == others { return true }
        guard prefix == other.prefix || prefix.isEmpty || other.prefix.isEmpty else { return false }
        return zip(words, others).allSatisfy { $0 == $1 || isInitial($0, of: $1) || isInitial($1, of: $0) }
    }

    /// Only alphabets with capitals abbreviate names so: a Chinese name may be one character.
    private func isInitial(_ letter: String, of word: String) -> Bool {
        guard let only = letter.unicodeScalars.first, letter.unicodeScalars.count == 1 else { return false }
        return only.properties.isLowercase && word.unicodeScalars.first == only
    }
}

extension EmailMatchKey {
    /// Whether it is of a function and not of a person: what RFC 2142 names, and what people call such mailboxes. It says
    /// who works together, and of an organisation who it is.
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
        // As found on letterheads
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
