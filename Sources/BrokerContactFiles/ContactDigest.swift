import BrokerJSON
import BrokerModel

/// What a contact says, in so few bytes that one can be remembered for each contact of an import: for finding out later
/// whether it was changed. It withstands chance, not somebody who means to deceive.
public struct ContactDigest: Hashable, Sendable {
    /// Of all keys but those below.
    public let ordinary: String
    /// Of the note and what vCard has beside; they need a word of the person's own to be read.
    public let named: String
    public let image: String

    public init(_ contact: Contact) { self.init(contact, saying: Self.ordinaryBytes(of: contact)) }

    /// - Parameter ordinaryBytes: the contact's.
    init(_ contact: Contact, saying ordinaryBytes: [UInt8]) {
        ordinary = Self.text(of: ordinaryBytes)
        named = Self.text(of: Self.bytes(of: contact, .named))
        image = Self.text(of: Self.bytes(of: contact, ContactKeySet(.imageData)))
    }

    init(ordinary: String, named: String, image: String) {
        (self.ordinary, self.named, self.image) = (ordinary, named, image)
    }

    /// Whether both say the same, as far as these keys tell.
    public func says(asMuchAs other: ContactDigest, readable: ContactKeySet) -> Bool {
        ordinary == other.ordinary && (named == other.named || !readable.isSuperset(of: .named))
            && (image == other.image || !readable.contains(.imageData))
    }

    private static let ordinaryKeys = ContactKeySet.all.subtracting(.named).subtracting(.images)
        .subtracting(.ofBroker)

    /// What ``ordinary`` is made of: two contacts have the same where they say the same.
    static func ordinaryBytes(of contact: Contact) -> [UInt8] {
        bytes(of: contact.withoutValueIdentifiers, ordinaryKeys)
    }

    /// Empty where the contact has none of the keys.
    private static func bytes(of contact: Contact, _ keys: ContactKeySet) -> [UInt8] {
        let present = contact.present(of: keys)
        guard !present.isEmpty else { return [] }
        var writer = JSONWriter(reservingCapacity: 1_024)
        WireContact(contact: contact, keys: present).write(to: &writer)
        return writer.bytes
    }

    /// Nothing of nothing.
    private static func text(of bytes: [UInt8]) -> String { bytes.isEmpty ? "" : hash(of: bytes) }

    /// FNV-1a of 64 bits (draft-eastlake-fnv), in 16 digits.
    static func hash(of bytes: some Sequence<UInt8>) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// The same of a file's bytes: whether it is as it was written.
    public static func ofFile(_ bytes: [UInt8]) -> String { hash(of: bytes) }
}

extension ContactKeySet {
    /// What no client writes.
    public static let ofBroker = ContactKeySet([
        .creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData,
    ])
}

extension Contact {
    /// The same contact as another program would write it: value identifiers are one book's.
    public var withoutValueIdentifiers: Contact {
        func bare<Value: ContactValue>(_ values: [Value]) -> [Value] {
            values.map {
                var value = $0
                value.identifier = nil
                return value
            }
        }
        var contact = self
        contact.phoneNumbers = bare(phoneNumbers)
        contact.emailAddresses = bare(emailAddresses)
        contact.postalAddresses = bare(postalAddresses)
        contact.dates = bare(dates)
        contact.urlAddresses = bare(urlAddresses)
        contact.contactRelations = bare(contactRelations)
        contact.socialProfiles = bare(socialProfiles)
        contact.instantMessageAddresses = bare(instantMessageAddresses)
        return contact
    }

    /// The keys of which the two do not say the same, value identifiers aside, and the broker's own keys.
    public func keys(differingFrom other: Contact, of keys: ContactKeySet = .all) -> ContactKeySet {
        let (one, two) = (withoutValueIdentifiers, other.withoutValueIdentifiers)
        return ContactKeySet(
            keys.subtracting(.ofBroker).keys.filter { one.applying(two, keys: ContactKeySet($0)) != one })
    }
}
