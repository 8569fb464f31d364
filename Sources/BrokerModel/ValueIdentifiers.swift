/// The highest value identifier ever assigned for each key of one contact.
///
/// The store keeps it with the contact and never sends it. An identifier is never reused within one contact
/// and key, even after its value is deleted.
public struct ValueIdentifiers: Hashable, Sendable {
    private var highest: [ContactKey: Int] = [:]

    public init() {}

    /// Numbers that are all greater than this one.
    public init(after number: Int) {
        highest = Dictionary(uniqueKeysWithValues: ContactKey.allCases.map { ($0, number) })
    }

    /// The stored form: for each key its index (1 byte), then the number (8 bytes, little endian).
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for (key, number) in highest.sorted(by: { $0.key.index < $1.key.index }) {
            bytes.append(UInt8(key.index))
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        return bytes
    }

    /// Decodes ``bytes``; returns `nil` if they are invalid, which means that the file is damaged.
    public init?(bytes: [UInt8]) {
        guard bytes.count.isMultiple(of: 9) else { return nil }
        for start in stride(from: 0, to: bytes.count, by: 9) {
            guard Int(bytes[start]) < ContactKey.allCases.count else { return nil }
            let number = bytes[start + 1...start + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
            // Identifiers have at most 18 digits, so incrementing a number within this bound cannot overflow.
            guard (0..<1_000_000_000_000_000_000).contains(number),
                highest.updateValue(number, forKey: ContactKey.allCases[Int(bytes[start])]) == nil
            else { return nil }
        }
    }

    /// Also regards the identifiers of another state of the same contact as assigned.
    public mutating func formUnion(_ other: ValueIdentifiers) { highest.merge(other.highest, uniquingKeysWith: max) }

    /// Assigns an identifier to every value of a contact.
    ///
    /// A value keeps its identifier if a former value of the same key has it. Otherwise it gets the
    /// identifier of an equal former value or, if there is none, a new one.
    public mutating func assign(to contact: inout Contact, replacing former: Contact = Contact()) {
        assign(&contact.phoneNumbers, former.phoneNumbers, .phoneNumbers)
        assign(&contact.emailAddresses, former.emailAddresses, .emailAddresses)
        assign(&contact.postalAddresses, former.postalAddresses, .postalAddresses)
        assign(&contact.dates, former.dates, .dates)
        assign(&contact.urlAddresses, former.urlAddresses, .urlAddresses)
        assign(&contact.contactRelations, former.contactRelations, .contactRelations)
        assign(&contact.socialProfiles, former.socialProfiles, .socialProfiles)
        assign(&contact.instantMessageAddresses, former.instantMessageAddresses, .instantMessageAddresses)
    }

    private mutating func assign<Value: ContactValue>(_ values: inout [Value], _ former: [Value], _ key: ContactKey) {
        if values.isEmpty || values == former { return }
        var free = Set(former.compactMap(\.identifier))
        // First removes the identifiers that the new values already have. Otherwise an equal value earlier in
        // the list could take one of them.
        for index in values.indices {
            guard let named = values[index].identifier else { continue }
            if free.remove(named) == nil { values[index].identifier = nil }
        }
        var unnamed: [Value: [Int]] = [:]
        for var value in former.reversed() {
            guard let identifier = value.identifier, free.contains(identifier) else { continue }
            value.identifier = nil
            unnamed[value, default: []].append(identifier)
        }
        for index in values.indices where values[index].identifier == nil {
            if let identifier = unnamed[values[index]]?.popLast() {
                values[index].identifier = identifier
            } else {
                let next = highest[key, default: 0] + 1
                highest[key] = next
                values[index].identifier = next
            }
        }
    }
}
