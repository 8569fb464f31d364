/// The highest value identifier ever given in each key of one contact.
///
/// It is kept beside the stored contact and goes nowhere else: a number is never given twice within one contact and
/// key, even after the value that had it is gone.
public struct ValueIdentifiers: Hashable, Sendable {
    private var highest: [ContactKey: Int] = [:]

    public init() {}

    /// Nine bytes for each key: its index, and the number (little endian).
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for (key, number) in highest.sorted(by: { $0.key.index < $1.key.index }) {
            bytes.append(UInt8(key.index))
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        return bytes
    }

    /// Reads ``bytes`` back; `nil` where they are something else: the file is damaged.
    public init?(bytes: [UInt8]) {
        guard bytes.count.isMultiple(of: 9) else { return nil }
        for start in stride(from: 0, to: bytes.count, by: 9) {
            guard Int(bytes[start]) < ContactKey.allCases.count else { return nil }
            let number = bytes[start + 1...start + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
            // Far below what would overflow: identifiers have at most 18 digits.
            guard (0..<1_000_000_000_000_000_000).contains(number),
                highest.updateValue(number, forKey: ContactKey.allCases[Int(bytes[start])]) == nil
            else { return nil }
        }
    }

    /// Gives every value of a contact its identifier.
    ///
    /// A value that names an identifier which the key has keeps it. One that names none, or a made-up one, has that of
    /// an equal value that was there, else a new one.
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
        // Those that name one come first, so that an equal value further up cannot take it from them.
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
