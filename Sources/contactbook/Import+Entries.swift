import BrokerContactFiles
import BrokerModel
import Contacts

extension Import {
    /// A card that may be added.
    struct Card {
        let contact: Contact
        /// `nil` where duplicates are not looked for.
        let fingerprint: DuplicateFingerprint?
        /// What undo has to know of it once it is added.
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

    /// What is to be saved: a card that is added, or a contact that one is merged into.
    struct Entry {
        let number: Int
        let contact: Contact
        /// `nil` for a merge.
        let digest: ContactDigest?
        /// `nil` for a card that is added.
        let merge: Merge?
        /// Where it stands: file and line.
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
