import BrokerModel
import CBrokerICU

/// The form of a contact's name by which contacts are put in order: comparing bytes compares names.
///
/// The name is the phonetic one where there is one (so Japanese names stand as they sound), else the written one; the
/// organisation where there is neither, else the nickname. A contact without any of these comes last.
public struct CollationKey: Hashable, Comparable, Sendable {
    /// Keys are cut here. Longer names that agree so far stand in the order of their record numbers.
    public static let maximumSize = 192

    public let bytes: [UInt8]

    /// The keys of a contact that decide its place.
    public static let keys = ContactKeySet([
        .contactType, .givenName, .middleName, .familyName, .nickname, .phoneticGivenName, .phoneticMiddleName,
        .phoneticFamilyName, .organizationName, .phoneticOrganizationName,
    ])

    public static func < (left: CollationKey, right: CollationKey) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    static let named: UInt8 = 1
    static let nameless = CollationKey(bytes: [2])
}

extension Normalizer {
    /// The places of a contact: given name first and family name first.
    public func collationKeys(of contact: Contact) -> (givenName: CollationKey, familyName: CollationKey) {
        let given = contact.phoneticGivenName.isEmpty ? contact.givenName : contact.phoneticGivenName
        let family = contact.phoneticFamilyName.isEmpty ? contact.familyName : contact.phoneticFamilyName
        let middle = contact.phoneticMiddleName.isEmpty ? contact.middleName : contact.phoneticMiddleName
        let organization =
            contact.phoneticOrganizationName.isEmpty ? contact.organizationName : contact.phoneticOrganizationName
        if contact.contactType == .organization && !organization.isEmpty
            || given.isEmpty && family.isEmpty && middle.isEmpty
        {
            let key = collationKey([organization.isEmpty ? contact.nickname : organization])
            return (key, key)
        }
        let (givenFirst, familyFirst) = ([given, family, middle], [family, given, middle])
        // An only name stands where it would stand alone, in both orders.
        return (
            collationKey(givenFirst.filter { !$0.isEmpty }), collationKey(familyFirst.filter { !$0.isEmpty })
        )
    }

    private func collationKey(_ parts: [String]) -> CollationKey {
        guard parts.contains(where: { !$0.isEmpty }) else { return .nameless }
        // U+FFFE sorts below everything else, so that a part counts before the next is looked at (UTS #35, Collation,
        // §1.5); 1,024 bytes of a name are more than a key has room for.
        let text = parts.map { clipped($0, to: 1_024) }.joined(separator: "\u{FFFE}")
        var bytes = [CollationKey.named]
        bytes.append(contentsOf: collationBytes(text, capacity: CollationKey.maximumSize - 1))
        return CollationKey(bytes: bytes)
    }
}
