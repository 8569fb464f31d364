import BrokerModel
import BrokerVCard
import Foundation

/// Converts between contacts and vCards.
public final class CNContactVCardSerialization: NSObject {
    private override init() {}

    /// Returns the keys that ``data(with:)`` needs: all keys that an app can save, except
    /// ``CNContactNoteKey`` and ``CNContactExtraPropertiesKey``. These two must be granted by name;
    /// ``data(with:)`` writes them if the app fetched them. An app that may read whole cards can fetch
    /// ``CNContactExtraPropertiesKey`` without that grant, and gets the cards' UIDs.
    public class func descriptorForRequiredKeys() -> any CNKeyDescriptor { TaskKeys(keys: required) }

    private static let required = ContactKeySet.all.subtracting(.named).subtracting(.readOnly)

    /// Parses vCards of version 2.1, 3.0 or 4.0. vCard properties that have no key of their own are kept in
    /// ``CNContact/extraProperties``, and ``data(with:)`` writes them. Group cards are skipped.
    ///
    /// - Throws: ``CNError/Code/vCardMalformed`` if a card cannot be read. In this case no contact is
    ///   returned.
    public class func contacts(with data: Data) throws -> [CNContact] {
        var reader = VCardReader()
        var contacts: [CNContact] = []
        func take() throws(CNError) {
            while let item = reader.next() {
                switch item {
                case .card(let card):
                    contacts.append(
                        CNContact(ContactValues(identifier: RandomIdentifier.make(), card.contact), keys: .all))
                case .group: continue
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

    /// Returns the contacts as vCard 3.0, which most programs can read.
    ///
    /// - Throws: ``CNError/Code/vCardSummarizationError`` with the keys that were not fetched, or with the
    ///   key of a date that no vCard can have.
    public class func data(with contacts: [CNContact]) throws -> Data { try data(with: contacts, version: .v3) }

    /// A version of vCard. An extension of this library.
    public enum Version: Hashable, Sendable {
        /// vCard 3.0 (RFC 2426).
        case v3
        /// vCard 4.0 (RFC 6350).
        case v4
    }

    /// Returns the contacts as vCards of this version. An extension of this library.
    public class func data(with contacts: [CNContact], version: Version) throws -> Data {
        let writer = VCardWriter(version: version == .v3 ? .v3_0 : .v4_0)
        var data = Data()
        for contact in contacts {
            let missing = required.subtracting(contact.keysThatCanBeRead)
            guard missing.isEmpty else {
                throw CNError(
                    .vCardSummarizationError,
                    reason: "not fetched: " + missing.keys.map(\.rawValue).joined(separator: ", "),
                    identifiers: [contact.identifier], keyPaths: missing.keys.map(\.rawValue))
            }
            let model = contact.values.model()
            do throws(ContactError) {
                try model.validate(writing: ContactKeySet([.birthday, .nonGregorianBirthday, .dates]))
            } catch {
                guard case .invalidContact(let key, let reason) = error else { throw CNError(.vCardSummarizationError) }
                throw CNError(
                    .vCardSummarizationError, reason: "\(key): \(reason)", identifiers: [contact.identifier],
                    keyPaths: [key])
            }
            data.append(contentsOf: writer.card(model))
        }
        return data
    }
}
