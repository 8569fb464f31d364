import BrokerModel

/// Finds the contact that a card is about: one with the same UID, or with the same name and a common e-mail address or
/// phone number, or that says the very same.
///
/// It holds some ten bytes for each value of the book and none of its text. Its keys are hashes under a key of the process,
/// so a file cannot be made to collide with them.
public struct DuplicateIndex<Reference: Hashable & Sendable>: Sendable {
    public struct Match: Hashable, Sendable {
        public let reference: Reference
        public let evidence: DuplicateEvidence

        public init(reference: Reference, evidence: DuplicateEvidence) {
            (self.reference, self.evidence) = (reference, evidence)
        }
    }

    /// What must have been read of a contact to be found; UIDs are extra properties.
    public static var keys: ContactKeySet {
        ContactKeySet.all.subtracting(.images).subtracting(.ofBroker).subtracting(ContactKeySet(.note))
    }

    private var references: [Int: Reference] = [:]

    public init() {}

    /// Later contacts do not take the place of earlier ones.
    public mutating func insert(_ fingerprint: DuplicateFingerprint, as reference: Reference) {
        for (hash, _) in fingerprint.hashes where references[hash] == nil { references[hash] = reference }
    }

    /// The strongest evidence first.
    public func match(_ fingerprint: DuplicateFingerprint) -> Match? {
        for (hash, evidence) in fingerprint.hashes {
            if let reference = references[hash] { return Match(reference: reference, evidence: evidence) }
        }
        return nil
    }
}

/// By what two contacts are thought to be one.
public enum DuplicateEvidence: Hashable, Sendable {
    case uid
    case nameAndEmail
    case nameAndPhone
    /// All that a list shows of the two is the same.
    case sameCard
}

/// What of a contact two that are one have in common, as hashes that mean something in this process only.
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
        // What a card says that every program may see which sees it at all. Each string of its JSON, and what stands between
        // them, by itself: in a string with accents, two ways to write one are equal, which takes long to find out; most
        // strings have none.
        let strings = bytes.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        add(.sameCard, strings.map { String(decoding: $0, as: UTF8.self) })
        self.hashes = hashes
    }

    /// Both of one contact; what each is made of is written once.
    public static func withDigest(of contact: Contact) -> (DuplicateFingerprint, ContactDigest) {
        let bytes = ContactDigest.ordinaryBytes(of: contact)
        return (DuplicateFingerprint(contact, saying: bytes), ContactDigest(contact, saying: bytes))
    }

    /// The words of the name in order, without case and accents of no weight; of what has none, the organisation.
    private static func comparableName(of contact: Contact) -> String {
        let names = [contact.givenName, contact.middleName, contact.familyName].filter { !$0.isEmpty }
        let text = names.isEmpty ? contact.organizationName + " " + contact.nickname : names.joined(separator: " ")
        return text.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: " ")
    }

    /// The last nine digits: with a country's code or without, it is one number; the name says the rest.
    private static func comparableNumber(_ phone: String) -> String? {
        let digits = phone.compactMap { $0.wholeNumberValue }
        return digits.count < 3 ? nil : digits.suffix(9).map(String.init).joined()
    }
}
