import BrokerContactFiles
import BrokerModel
import Contacts

extension Import {
    /// The person pressed ^C, or the terminal went away during a question.
    struct Interrupted: Error {}

    /// The person stopped at a question. The cards before it are still added.
    struct Stopped: Error {}

    /// A contact that a new card may duplicate: a contact from the book (by identifier), or one still pending
    /// in this run (by entry number).
    enum Place: Hashable, Sendable {
        case saved(String)
        case pending(Int)
    }

    /// A card that may be added.
    struct Card {
        let contact: Contact
        /// Its origin: file and line.
        let place: String
        let membership: ImportedGroups.Membership
        /// `nil` if this run does not search for duplicates.
        let fingerprint: DuplicateFingerprint?
        /// The UID in the form for comparison.
        let uid: String?
        /// The hash of all values but the UID, valid in this process only.
        let content: Int

        init(
            _ contact: Contact, at place: String, _ membership: ImportedGroups.Membership, isLookedFor: Bool
        ) {
            (self.contact, self.place, self.membership) = (contact, place, membership)
            fingerprint = isLookedFor ? DuplicateFingerprint(contact) : nil
            uid = ContactUID.of(contact).map(ContactUID.comparable)
            var hasher = Hasher()
            hasher.combine(fingerprint?.card)
            hasher.combine(contact.imageData)
            hasher.combine(contact.note)
            hasher.combine(contact.withoutUID.extraProperties)
            content = hasher.finalize()
        }
    }

    /// One contact to save: a new card, or a contact into which a card is merged.
    struct Entry {
        let card: Card
        /// The number of a new card.
        var number = 0
        /// `nil` for a new card.
        var merge: Merge?

        struct Merge {
            let identifier: String
            let before: Contact
            let after: Contact
            let keys: ContactKeySet
        }

        var contact: Contact { merge?.after ?? card.contact }

        func forSaving() -> CNMutableContact {
            guard let merge else { return CNMutableContact(contact) }
            return CNMutableContact(withIdentifier: merge.identifier, contact, writing: merge.keys)
        }
    }
}
