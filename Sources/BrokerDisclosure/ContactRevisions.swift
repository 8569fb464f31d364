import BrokerAccessControl
@_spi(StoredBytes) import BrokerModel

/// Names the states in which one app sees contacts. A contact's revision is a hash, keyed by the app, of what the app may see of
/// it: two apps cannot compare theirs, and what an app cannot see changes none. Dates do not count, and a thumbnail only if the app
/// does not see the photo.
public struct ContactRevisions: Sendable {
    private let key: [UInt8]
    /// The keys that count, without images.
    private let keys: ContactKeySet
    private let hasUIDs: Bool
    /// The keys to read for a revision, and the images.
    public let readKeys, images: ContactKeySet

    /// Returns `nil` if libcrypto fails.
    public init?(_ disclosure: Disclosure, under identifiers: IdentifierCipher) {
        guard let key = identifiers.revisionKey else { return nil }
        self.key = key
        readKeys = disclosure.readable(of: .all)
        hasUIDs = readKeys.contains(.uids)
        keys = disclosure.keys.subtracting(.images).subtracting(ContactKeySet([.creationDate, .modificationDate]))
        let photo = ContactKeySet(.imageData)
        images = disclosure.keys.isSuperset(of: photo) ? photo : disclosure.keys.intersection(.images)
    }

    /// Returns the revision of a contact, 32 hexadecimal digits; `nil` if libcrypto fails.
    ///
    /// - Parameter cards: the visible cards of the contact, read with at least ``readKeys`` and ``images``, in any order.
    public func revision(of cards: [DisclosableContact]) -> String? {
        var bytes = key
        for (record, contact, images) in cards.sorted(by: { $0.record < $1.record }) {
            append(UInt64(bitPattern: record.rawValue), to: &bytes)
            var content: [UInt8] = []
            contact.ranges(of: keys) { content.append(contentsOf: contact.bytes[$0]) }
            if hasUIDs, let uids = contact.uids { uids.ranges(of: .all) { content.append(contentsOf: uids.bytes[$0]) } }
            for (key, image) in [
                (ContactKey.imageData, images.imageData), (.thumbnailImageData, images.thumbnailImageData),
            ]
            where self.images.contains(ContactKeySet(key)) {
                content.append(contentsOf: image ?? [])
            }
            append(UInt64(content.count), to: &bytes)
            bytes.append(contentsOf: content)
        }
        return IdentifierCipher.digest(bytes).map { Hexadecimal.text($0[..<16]) }
    }

    private func append(_ number: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
