import ContactsModel
import Foundation
import VCard

/// Between contacts and vCards.
public final class CNContactVCardSerialization: NSObject {
    /// The keys that ``data(with:)`` needs: all but the note and unknown properties, which must be granted by name. Where they
    /// were fetched too they are written.
    public class func descriptorForRequiredKeys() -> any CNKeyDescriptor { TaskKeys(keys: required) }

    private static let required = ContactKeySet.all.subtracting(.named).subtracting(
        ContactKeySet([.thumbnailImageData, .imageDataAvailable, .creationDate, .modificationDate]))

    /// The contacts of a file of vCards 2.1, 3.0 or 4.0. What a card says that a contact has no property for is kept, and
    /// written by ``data(with:)``.
    ///
    /// - Throws: ``CNError/Code/vCardMalformed`` where a card cannot be read; none is returned then.
    public class func contacts(with data: Data) throws -> [CNContact] {
        var reader = VCardReader()
        var contacts: [CNContact] = []
        func take() throws(CNError) {
            while let item = reader.next() {
                switch item {
                case .card(let card):
                    contacts.append(
                        CNContact(ContactValues(identifier: UUID().uuidString, card.contact), keys: .all))
                case .unreadable(let problem):
                    throw CNError(.vCardMalformed, reason: "line \(problem.line): \(problem.reason)")
                }
            }
        }
        var place = data.startIndex
        while place < data.endIndex {
            let end = data.index(place, offsetBy: 65_536, limitedBy: data.endIndex) ?? data.endIndex
            reader.append(Array(data[place..<end]))
            place = end
            try take()
        }
        reader.finish()
        try take()
        return contacts
    }
}
