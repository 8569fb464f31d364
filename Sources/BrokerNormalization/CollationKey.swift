import BrokerModel
import CBrokerICU

/// The sort key of a contact's name. Comparing keys byte by byte gives the order of the names.
///
/// The key uses the phonetic form of each name part if there is one, so Japanese names sort by sound.
/// Otherwise it uses the written form. Organisations sort by their name. A contact without name parts sorts
/// by organisation, or else nickname. A contact without any of these comes last.
public struct CollationKey: Hashable, Comparable, Sendable {
    /// The maximum size of a key, in bytes. Longer keys are truncated. Equal truncated keys are ordered by
    /// record number.
    public static let maximumSize = 192

    public let bytes: [UInt8]

    /// The contact keys from which the sort key is made.
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
    /// Returns a contact's two sort keys: one with the given name first, and one with the family name first.
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
        // Empty parts are dropped, so a single name sorts the same in both orders.
        return (
            collationKey(givenFirst.filter { !$0.isEmpty }), collationKey(familyFirst.filter { !$0.isEmpty })
        )
    }

    private func collationKey(_ parts: [String]) -> CollationKey {
        guard parts.contains(where: { !$0.isEmpty }) else { return .nameless }
        // U+FFFE sorts below everything else, so each part is compared completely before the next (UTS #35,
        // Collation, §1.5). More than 1,024 bytes of a part would not fit into a key.
        let text = parts.map { clipped($0, to: 1_024) }.joined(separator: "\u{FFFE}")
        var bytes = [CollationKey.named]
        bytes.append(contentsOf: collationBytes(text, capacity: CollationKey.maximumSize - 1))
        return CollationKey(bytes: bytes)
    }
}
