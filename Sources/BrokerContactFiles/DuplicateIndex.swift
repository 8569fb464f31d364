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
        ContactKeySet.all.subtracting(.images).subtracting(
            ContactKeySet([.note, .creationDate, .modificationDate, .imageDataAvailable]))
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

    private init(_ contact: Contact, saying bytes: [UInt8]) { hashes = Self.hashes(of: contact, saying: bytes) }

    /// Both of one contact; what each is made of is written once.
    public static func withDigest(of contact: Contact) -> (DuplicateFingerprint, ContactDigest) {
        let bytes = ContactDigest.ordinaryBytes(of: contact)
        return (DuplicateFingerprint(contact, saying: bytes), ContactDigest(contact, saying: bytes))
    }

    private static func hashes(of contact: Contact, saying bytes: [UInt8]) -> [(Int, DuplicateEvidence)] {
        var hashes: [(Int, DuplicateEvidence)] = []
        func add(_ evidence: DuplicateEvidence, _ parts: String...) {
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
        // What a card says that every program may see which sees it at all.
        var hasher = Hasher()
        hasher.combine(DuplicateEvidence.sameCard)
        combine(bytes, into: &hasher)
        hashes.append((hasher.finalize(), .sameCard))
        return hashes
    }

    /// Each string of a JSON text, and what stands between them. Of a string with accents two ways to write one are one, which
    /// takes long to find out; most have none.
    private static func combine(_ json: [UInt8], into hasher: inout Hasher) {
        json.withUnsafeBufferPointer { json in
            var start = 0
            while start < json.count {
                let end = json[start...].firstIndex(of: UInt8(ascii: "\"")) ?? json.count
                let part = UnsafeBufferPointer(rebasing: json[start..<end])
                if part.allSatisfy({ $0 < 0x80 }) {
                    hasher.combine(part.count)
                    hasher.combine(bytes: UnsafeRawBufferPointer(part))
                } else {
                    hasher.combine(String(decoding: part, as: UTF8.self))
                }
                start = end + 1
            }
        }
    }

    /// The words of the name in order, without case and accents of no weight; of what has none, the organisation.
    static func comparableName(of contact: Contact) -> String {
        let names = [contact.givenName, contact.middleName, contact.familyName].filter { !$0.isEmpty }
        let text = names.isEmpty ? contact.organizationName + " " + contact.nickname : names.joined(separator: " ")
        if let words = asciiWords(of: text) { return words }
        return text.lowercased().split { !isOfWord($0) }.joined(separator: " ")
    }

    /// Between accents there are plain letters, and to look each up takes long.
    private static func isOfWord(_ character: Character) -> Bool {
        guard let byte = character.asciiValue else { return character.isLetter || character.isNumber }
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// The same of what is in plain letters, as most names are.
    private static func asciiWords(of text: String) -> String? {
        var words: [UInt8] = []
        words.reserveCapacity(text.utf8.count)
        var isBetween = false
        for byte in text.utf8 {
            switch byte {
            case 0x80...: return nil
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                if isBetween, !words.isEmpty { words.append(UInt8(ascii: " ")) }
                isBetween = false
                words.append((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte)
            default: isBetween = true
            }
        }
        return String(decoding: words, as: UTF8.self)
    }

    /// The last nine digits: with a country's code or without, it is one number; the name says the rest.
    static func comparableNumber(_ phone: String) -> String? {
        if phone.utf8.allSatisfy({ $0 < 0x80 }) {
            let digits = phone.utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return digits.count < 3 ? nil : String(decoding: digits.suffix(9), as: UTF8.self)
        }
        let digits = phone.compactMap { $0.wholeNumberValue }
        return digits.count < 3 ? nil : digits.suffix(9).map(String.init).joined()
    }
}
