import BrokerJSON
import BrokerModel

/// Short hashes of a contact. The undo journal stores them for each added contact, to detect later changes.
/// They do not resist deliberate collisions.
public struct ContactDigest: Hashable, Sendable {
    /// The hash of all values except those of the note, the extra properties, the images and the broker's own
    /// keys; empty if there are none.
    public let ordinary: String
    /// The hash of the note and the extra properties, which need their own permission; empty if there are
    /// none.
    public let named: String
    public let image: String

    public init(_ contact: Contact) { self.init(contact, saying: Self.ordinaryBytes(of: contact)) }

    /// - Parameter ordinaryBytes: the contact's ``ordinaryBytes(of:)``.
    init(_ contact: Contact, saying ordinaryBytes: [UInt8]) {
        ordinary = Self.text(of: ordinaryBytes)
        named = Self.text(of: Self.bytes(of: contact, .named))
        image = Self.text(of: Self.bytes(of: contact, ContactKeySet(.imageData)))
    }

    init(ordinary: String, named: String, image: String) {
        (self.ordinary, self.named, self.image) = (ordinary, named, image)
    }

    /// Whether both digests are equal. Ignores ``named`` unless the note and the extra properties are
    /// readable, and ``image`` unless the photo is readable.
    public func says(asMuchAs other: ContactDigest, readable: ContactKeySet) -> Bool {
        ordinary == other.ordinary && (named == other.named || !readable.isSuperset(of: .named))
            && (image == other.image || !readable.contains(.imageData))
    }

    private static let ordinaryKeys = ContactKeySet.all.subtracting(.named).subtracting(.images)
        .subtracting(.ofBroker)

    /// Returns the bytes from which ``ordinary`` is computed. Equal contacts have equal bytes.
    static func ordinaryBytes(of contact: Contact) -> [UInt8] {
        bytes(of: contact.withoutValueIdentifiers, ordinaryKeys)
    }

    /// Returns the contact's values of these keys as JSON; empty if it has no value for any of them.
    private static func bytes(of contact: Contact, _ keys: ContactKeySet) -> [UInt8] {
        let present = contact.present(of: keys)
        guard !present.isEmpty else { return [] }
        var writer = JSONWriter(reservingCapacity: 1_024)
        WireContact(contact: contact, keys: present).write(to: &writer)
        return writer.bytes
    }

    /// Returns the hash of some bytes; empty if there are none.
    private static func text(of bytes: [UInt8]) -> String { bytes.isEmpty ? "" : hash(of: bytes) }

    /// Returns the 64-bit FNV-1a hash (draft-eastlake-fnv), in 16 hexadecimal digits.
    static func hash(of bytes: some Sequence<UInt8>) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Returns the hash of a file's bytes, which shows whether the file was changed.
    public static func ofFile(_ bytes: [UInt8]) -> String { hash(of: bytes) }
}

extension ContactKeySet {
    /// Keys that only the broker sets.
    public static let ofBroker = ContactKeySet([
        .creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData,
    ])
}

extension Contact {
    /// The contact without value identifiers, which are valid in one book only.
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

    /// Returns the keys in which two contacts differ. Ignores value identifiers and the broker's keys.
    public func keys(differingFrom other: Contact, of keys: ContactKeySet = .all) -> ContactKeySet {
        let (one, two) = (withoutValueIdentifiers, other.withoutValueIdentifiers)
        return ContactKeySet(
            keys.subtracting(.ofBroker).keys.filter { one.applying(two, keys: ContactKeySet($0)) != one })
    }
}
