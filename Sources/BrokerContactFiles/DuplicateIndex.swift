import BrokerJSON
import BrokerModel

/// Finds the contact that a card duplicates. The two have the same UID or equal content, or they have the
/// same name and a common e-mail address or phone number.
///
/// The index stores a hash and a reference for each compared value, and no text. The hashes have a random
/// seed in each process, so nobody can prepare a file with colliding values.
public struct DuplicateIndex<Reference: Hashable & Sendable>: Sendable {
    public struct Match: Hashable, Sendable {
        public var reference: Reference
        /// Further contacts that match as well and differ in as few keys.
        public var alternatives: [Reference] = []
        public let evidence: DuplicateEvidence
        /// The keys of which both have a value, but not the same.
        public let differing: ContactKeySet
        /// Whether the two are equal in all keys that ``DuplicateEvidence/sameCard`` compares.
        public let isSameCard: Bool

        /// Whether the two are different persons, such as a father and a son with one name and one phone number.
        public var hasOtherBirthday: Bool {
            evidence != .uid && !differing.isDisjoint(with: ContactKeySet([.birthday, .nonGregorianBirthday]))
        }
    }

    /// The keys to fetch for each contact. They include the extra properties, which contain the UID.
    public static var keys: ContactKeySet {
        ContactKeySet.all.subtracting(.images).subtracting(.ofBroker).subtracting(ContactKeySet(.note))
    }

    private var references: [Int: Reference] = [:]
    /// Further contacts with a hash in ``references``.
    private var further: [Int: [Reference]] = [:]
    /// The maximum number of further contacts for one hash, so that a file in which all cards are alike takes no
    /// quadratic time.
    private static var mostFurther: Int { 100 }
    private var details: [Reference: [ContactKey: DetailHash]] = [:]

    public init() {}

    /// Inserts a contact. Earlier contacts take precedence.
    ///
    /// - Parameter isIncluded: whether the contact can be found by this evidence.
    public mutating func insert(
        _ fingerprint: DuplicateFingerprint, as reference: Reference,
        where isIncluded: (DuplicateEvidence) -> Bool = { _ in true }
    ) {
        for (hash, evidence) in fingerprint.hashes where isIncluded(evidence) {
            guard let first = references[hash] else {
                references[hash] = reference
                continue
            }
            guard first != reference, further[hash]?.count ?? 0 < Self.mostFurther else { continue }
            further[hash, default: []].append(reference)
        }
        if !fingerprint.details.isEmpty { details[reference] = fingerprint.details }
    }

    /// Returns the match with the strongest evidence; `nil` if there is none. Of several contacts, this is the
    /// one that differs in the fewest keys, and of these the first.
    ///
    /// - Parameter isIncluded: whether the contact may be the same although its UID is not.
    public func match(
        _ fingerprint: DuplicateFingerprint, where isIncluded: (Reference) -> Bool = { _ in true }
    ) -> Match? {
        for (hash, evidence) in fingerprint.hashes {
            var found: (references: [Reference], differing: ContactKeySet)?
            for other in [references[hash]].compactMap({ $0 }) + (further[hash] ?? [])
            where evidence == .uid || isIncluded(other) {
                let keys = differing(fingerprint, other)
                let most = found?.differing.keys.count ?? .max
                if keys.keys.count < most {
                    found = ([other], keys)
                } else if keys.keys.count == most {
                    found?.references.append(other)
                }
            }
            guard let best = found else { continue }
            return Match(
                reference: best.references[0], alternatives: Array(best.references.dropFirst()), evidence: evidence,
                differing: best.differing,
                isSameCard: evidence == .sameCard || isSameCard(fingerprint, best.references[0]))
        }
        return nil
    }

    /// Returns the contacts with this UID that were inserted without the values that ``match(_:)`` compares.
    public func withoutDetails(_ fingerprint: DuplicateFingerprint) -> [Reference] {
        guard let uid = fingerprint.uid, let first = references[uid] else { return [] }
        return ([first] + (further[uid] ?? [])).filter { details[$0] == nil }
    }

    private func differing(_ fingerprint: DuplicateFingerprint, _ reference: Reference) -> ContactKeySet {
        guard !fingerprint.details.isEmpty, let others = details[reference] else { return ContactKeySet() }
        return ContactKeySet(
            fingerprint.details.filter { key, detail in others[key]?.differs(from: detail) == true }.keys)
    }

    private func isSameCard(_ fingerprint: DuplicateFingerprint, _ reference: Reference) -> Bool {
        guard let (hash, _) = fingerprint.hashes.first(where: { $0.1 == .sameCard }) else { return false }
        return references[hash] == reference || further[hash]?.contains(reference) == true
    }
}

/// The reason why two contacts are considered duplicates.
public enum DuplicateEvidence: Hashable, Sendable {
    case uid
    case nameAndEmail
    case nameAndPhone
    /// The contacts are equal in all keys except the note, the extra properties, the images and the broker's
    /// own keys.
    case sameCard
}

/// The hash of a value that a contact has only once.
struct DetailHash: Hashable, Sendable {
    private let value: UInt32
    /// Of a date: the year; 0 if it has none.
    private let year: UInt16

    init(_ text: String, of key: ContactKey) {
        let date = key == .birthday ? CalendarDate(text) : nil
        var hasher = Hasher()
        if let date {
            hasher.combine(date.month)
            hasher.combine(date.day)
        } else {
            hasher.combine(RowReading.cleaned(text).lowercased())
        }
        value = UInt32(truncatingIfNeeded: hasher.finalize())
        year = UInt16(truncatingIfNeeded: date?.year ?? 0)
    }

    /// Whether the values differ. A date without a year does not differ from that day of any year.
    func differs(from other: DetailHash) -> Bool {
        value != other.value || year != other.year && year != 0 && other.year != 0
    }
}

/// Hashes of the values that duplicates have in common. They are valid in this process only.
public struct DuplicateFingerprint: Sendable {
    let hashes: [(Int, DuplicateEvidence)]
    /// The name that contacts with evidence other than a UID have in common; empty if there is none.
    public let name: String
    /// Hashes of the values that show that two contacts with one name differ.
    let details: [ContactKey: DetailHash]

    /// Keys with one value. The parts of the name are compared as one name, and phonetic names are only guessed by
    /// some programs.
    private static let detailKeys: [ContactKey] = [
        .namePrefix, .nameSuffix, .previousFamilyName, .nickname, .organizationName, .departmentName, .jobTitle,
        .birthday, .nonGregorianBirthday,
    ]

    public init(_ contact: Contact) {
        var hashes: [(Int, DuplicateEvidence)] = []
        func add(_ evidence: DuplicateEvidence, _ parts: [String]) {
            var hasher = Hasher()
            hasher.combine(evidence)
            for part in parts { hasher.combine(part) }
            hashes.append((hasher.finalize(), evidence))
        }
        if let uid = ContactUID.of(contact) { add(.uid, [ContactUID.comparable(uid)]) }
        // This hash covers all ordinary keys of the card. Hashing a string with accents needs slow
        // Unicode normalisation. Therefore the JSON is split at quotes and hashed in pieces, because most
        // pieces have no accents.
        let strings = Self.values(of: contact).split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        add(.sameCard, strings.map { String(decoding: $0, as: UTF8.self) })
        let name = Self.comparableName(of: contact)
        for email in contact.emailAddresses {
            let address = RowReading.cleaned(email.value).lowercased()
            if !address.isEmpty { add(.nameAndEmail, [name, address]) }
        }
        for phone in contact.phoneNumbers {
            if let number = Self.comparableNumber(phone.value) { add(.nameAndPhone, [name, number]) }
        }
        (self.hashes, self.name) = (hashes, name)
        var details: [ContactKey: DetailHash] = [:]
        for key in Self.detailKeys {
            if let text = contact.text(of: key), !text.isEmpty { details[key] = DetailHash(text, of: key) }
        }
        self.details = details
    }

    /// Returns the values of a contact, except those of the note, the extra properties, the images and the broker's own
    /// keys, as JSON. Equal contacts have equal bytes.
    private static func values(of contact: Contact) -> [UInt8] {
        let contact = contact.withoutValueIdentifiers
        let keys = ContactKeySet.all.subtracting(.named).subtracting(.images).subtracting(.ofBroker)
        let present = contact.present(of: keys)
        guard !present.isEmpty else { return [] }
        var writer = JSONWriter(reservingCapacity: 1_024)
        WireContact(contact: contact, keys: present).write(to: &writer)
        return writer.bytes
    }

    /// The hash of all values but the UID, the note, the extra properties and the photo.
    public var card: Int { hashes.first { $0.1 == .sameCard }?.0 ?? 0 }

    /// The hash of the UID; `nil` if the contact has none.
    var uid: Int? { hashes.first { $0.1 == .uid }?.0 }

    public var hasUID: Bool { uid != nil }

    /// A text for a search by name that finds all contacts with this ``name``; `nil` if there is none.
    ///
    /// It has the first and the last word only. A word between them can be the inside of a longer word for the search, as in
    /// Rock'n'Roll. Long words are cut, because the search compares beginnings.
    public var nameQuery: String? {
        let words = name.split(separator: " ")
        guard let first = words.first, let last = words.last else { return nil }
        let query = "\(first.prefix(16)) \(last.prefix(16))"
        return query.utf8.count <= 256 ? query : nil
    }

    /// Returns the words of the name in order, in lower case. For a contact without a name, returns those of
    /// the organisation and the nickname.
    private static func comparableName(of contact: Contact) -> String {
        let names = [contact.givenName, contact.middleName, contact.familyName].filter { !$0.isEmpty }
        let text = names.isEmpty ? contact.organizationName + " " + contact.nickname : names.joined(separator: " ")
        return text.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: " ")
    }

    /// Returns the last nine digits, so a number with its country code equals the same number without it.
    /// Returns `nil` for fewer than three digits. Nine digits are enough, because the name must match too.
    private static func comparableNumber(_ phone: String) -> String? {
        let digits = phone.compactMap { $0.wholeNumberValue }
        return digits.count < 3 ? nil : digits.suffix(9).map(String.init).joined()
    }
}
