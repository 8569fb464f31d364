import BrokerModel

/// Finds the contact that a card duplicates. The two have the same UID or equal content, or they have the
/// same name and a common e-mail address or phone number.
///
/// The index stores a hash and a reference for each compared value, and no text. The hashes have a random
/// seed in each process, so nobody can prepare a file with colliding values.
public struct DuplicateIndex<Reference: Hashable & Sendable>: Sendable {
    public struct Match: Hashable, Sendable {
        public let reference: Reference
        public let evidence: DuplicateEvidence

        public init(reference: Reference, evidence: DuplicateEvidence) {
            (self.reference, self.evidence) = (reference, evidence)
        }
    }

    /// The keys to fetch for each contact. They include the extra properties, which contain the UID.
    public static var keys: ContactKeySet {
        ContactKeySet.all.subtracting(.images).subtracting(.ofBroker).subtracting(ContactKeySet(.note))
    }

    private var references: [Int: Reference] = [:]

    public init() {}

    /// Inserts a contact. Earlier contacts take precedence.
    public mutating func insert(_ fingerprint: DuplicateFingerprint, as reference: Reference) {
        for (hash, _) in fingerprint.hashes where references[hash] == nil { references[hash] = reference }
    }

    /// Returns the match with the strongest evidence; `nil` if there is none.
    public func match(_ fingerprint: DuplicateFingerprint) -> Match? {
        for (hash, evidence) in fingerprint.hashes {
            if let reference = references[hash] { return Match(reference: reference, evidence: evidence) }
        }
        return nil
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

/// Hashes of the values that duplicates have in common. They are valid in this process only.
public struct DuplicateFingerprint: Sendable {
    let hashes: [(Int, DuplicateEvidence)]

    public init(_ contact: Contact) { self.init(contact, saying: ContactDigest.ordinaryBytes(of: contact)) }

    private init(_ contact: Contact, saying bytes: [UInt8]) {
        var hashes: [(Int, DuplicateEvidence)] = []
        func add(_ evidence: DuplicateEvidence, _ parts: [String]) {
            var hasher = Hasher()
            hasher.combine(evidence)
            for part in parts { hasher.combine(part) }
            hashes.append((hasher.finalize(), evidence))
        }
        if let uid = ContactUID.of(contact) { add(.uid, [ContactUID.comparable(uid)]) }
        let name = Self.comparableName(of: contact)
        for email in contact.emailAddresses {
            let address = RowReading.cleaned(email.value).lowercased()
            if !address.isEmpty { add(.nameAndEmail, [name, address]) }
        }
        for phone in contact.phoneNumbers {
            if let number = Self.comparableNumber(phone.value) { add(.nameAndPhone, [name, number]) }
        }
        // The last hash covers all ordinary keys of the card. Hashing a string with accents needs slow
        // Unicode normalisation. Therefore the JSON is split at quotes and hashed in pieces, because most
        // pieces have no accents.
        let strings = bytes.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        add(.sameCard, strings.map { String(decoding: $0, as: UTF8.self) })
        self.hashes = hashes
    }

    /// Returns the fingerprint and the digest of one contact. Both use the same bytes, which are encoded
    /// once.
    public static func withDigest(of contact: Contact) -> (DuplicateFingerprint, ContactDigest) {
        let bytes = ContactDigest.ordinaryBytes(of: contact)
        return (DuplicateFingerprint(contact, saying: bytes), ContactDigest(contact, saying: bytes))
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
