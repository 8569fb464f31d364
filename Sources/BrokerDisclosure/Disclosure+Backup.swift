import BrokerAccessControl
import BrokerJSON
@_spi(StoredBytes) import BrokerModel

extension Disclosure {
    /// Returns the line of a backup for a card: an object `card` with all keys of the contact that have a value and
    /// that this disclosure permits.
    ///
    /// - Parameter details: writes the members of `card` other than `contact`.
    /// - Returns: `nil` if the card is out of scope.
    public func backUp(_ card: DisclosableContact, _ details: (inout JSONWriter) -> Void) -> BackupLine? {
        guard scope.contains(card.record) else { return nil }
        let contact = card.contact
        var writer = JSONWriter(reservingCapacity: contact.size(of: contact.present) + 256)
        writer.object {
            $0.name("card")
            $0.object {
                details(&$0)
                $0.name("contact")
                $0.object { writer in
                    for key in contact.present.intersection(keys).keys {
                        guard let value = contact.value(of: key) else { continue }
                        writer.name(key.rawValue)
                        writer.raw(value)
                    }
                    guard keys.contains(.imageData), let photo = card.images.imageData else { return }
                    // The member begins with a comma and its name.
                    writer.name(ContactKey.imageData.rawValue)
                    writer.raw(photo.drop { $0 != UInt8(ascii: ":") }.dropFirst())
                }
            }
        }
        return BackupLine(disclosing: writer.bytes)
    }
}
