import BrokerContactFiles
import BrokerModel
import Contacts

extension Import {
    /// A card that may be added.
    struct Card {
        let contact: Contact
        /// `nil` if this run does not search for duplicates.
        let fingerprint: DuplicateFingerprint?
        /// Lets undo detect whether the added contact was changed later.
        let digest: ContactDigest

        init(_ contact: Contact, isLookedFor: Bool) {
            self.contact = contact
            if isLookedFor {
                let (fingerprint, digest) = DuplicateFingerprint.withDigest(of: contact)
                (self.fingerprint, self.digest) = (fingerprint, digest)
            } else {
                (fingerprint, digest) = (nil, ContactDigest(contact))
            }
        }
    }

    /// One contact to save: a new card, or a contact into which a card is merged.
    struct Entry {
        let number: Int
        let contact: Contact
        /// `nil` for a merge.
        let digest: ContactDigest?
        /// `nil` for a new card.
        let merge: Merge?
        /// The card's origin: file and line.
        let place: String
        let memberships: ImportedGroups.Membership

        struct Merge {
            let identifier: String
            let before: Contact
            let keys: ContactKeySet
        }

        func forSaving() -> CNMutableContact {
            guard let merge else { return CNMutableContact(contact) }
            return CNMutableContact(withIdentifier: merge.identifier, contact, writing: merge.keys)
        }
    }
}
