import ContactsModel

/// Finds the contact that a card is about: one with the same UID, or with the same name and a common e-mail address or
/// phone number, or that says the very same.
///
/// It holds some ten bytes for each value of the book and none of its text. Its keys are hashes under a key of the process,
/// so a file cannot be made to collide with them.
public struct DuplicateIndex<Reference: Hashable & Sendable>: Sendable {
    public enum Evidence: Hashable, Sendable {
        case uid
        case nameAndEmail
        case nameAndPhone
        /// All that a list shows of the two is the same.
        case sameCard
    }

    public struct Match: Hashable, Sendable {
        public let reference: Reference
        public let evidence: Evidence
    }

    /// What must have been read of a contact to be found; UIDs are extra properties.
    public static var keys: ContactKeySet {
        ContactKeySet.all.subtracting(.images).subtracting(
            ContactKeySet([.note, .creationDate, .modificationDate, .imageDataAvailable]))
    }

    private var references: [Int: Reference] = [:]

    public init() {}

    /// Later contacts do not take the place of earlier ones.
    public mutating func insert(_ contact: Contact, as reference: Reference) {
        for (hash, _) in Self.hashes(of: contact) where references[hash] == nil { references[hash] = reference }
    }

    /// The strongest evidence first.
    public func match(_ card: Contact) -> Match? {
        for (hash, evidence) in Self.hashes(of: card) {
            if let reference = references[hash] { return Match(reference: reference, evidence: evidence) }
        }
        return nil
    }

    /// Another name for what was inserted under this card: one that is saved has an identifier.
    public mutating func rename(_ card: Contact, from: Reference, to reference: Reference) {
        for (hash, _) in Self.hashes(of: card) where references[hash] == from { references[hash] = reference }
    }

    private static func hashes(of contact: Contact) -> [(Int, Evidence)] {
        var hashes: [(Int, Evidence)] = []
        func add(_ evidence: Evidence, _ parts: String...) {
            var hasher = Hasher()
            hasher.combine(evidence)
            for part in parts { hasher.combine(part) }
            hashes.append((hasher.finalize(), evidence))
        }
        if let uid = ContactUID.of(contact) { add(.uid, ContactUID.comparable(uid)) }
        let name = comparableName(of: contact)
        for email in contact.emailAddresses {
            let address = RowReading.cleaned(email.value).lowercased()
            if !address.isEmpty { add(.nameAndEmail, name, address) }
        }
        for phone in contact.phoneNumbers {
            if let number = comparableNumber(phone.value) { add(.nameAndPhone, name, number) }
        }
        add(.sameCard, ContactDigest(contact).ordinary)
        return hashes
    }

    /// The words of the name in order, without case and accents of no weight; of what has none, the organisation.
    static func comparableName(of contact: Contact) -> String {
        let names = [contact.givenName, contact.middleName, contact.familyName].filter { !$0.isEmpty }
        let text = names.isEmpty ? contact.organizationName + " " + contact.nickname : names.joined(separator: " ")
        return text.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: " ")
    }

    /// The last nine digits: with a country's code or without, it is one number; the name says the rest.
    static func comparableNumber(_ phone: String) -> String? {
        let digits = phone.compactMap { $0.wholeNumberValue }
        return digits.count < 3 ? nil : digits.suffix(9).map(String.init).joined()
    }
}
