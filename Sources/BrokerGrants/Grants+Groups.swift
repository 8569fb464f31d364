import BrokerAccessControl
import BrokerBooks
import BrokerContactsStore
import BrokerLedger

/// Grants and policy rules that share contact groups; see ``GroupShares``.
extension Grants {
    package func followGroupsOfOpenBooks() {
        for (uid, book) in books.allOpened { followGroups(uid, book) }
    }

    /// Brings the sets of a user's apps in line with the contact groups in the book, and withdraws queued replies with
    /// cards that left a set.
    package func followGroups(_ uid: UInt32, _ book: ContactsStore) {
        let lost = shares.follow(uid, book)
        for principal in lost.principals { narrowed(principal) }
        guard lost.isOfPolicy else { return }
        for principal in Set(sessions.apps.flatMap(\.disclosedUnder)) where principal.uid == uid {
            if !ruling(on: principal).contactGroups.isEmpty { narrowed(principal) }
        }
    }

    /// Records what a contact group shares with an app by policy.
    func notePolicyGroup(_ ruling: Ruling, _ effective: EffectiveAccess, of principal: Principal) {
        guard !ruling.contactGroups.isEmpty, case .granted(let grant) = effective else { return }
        shares.notePolicy(ruling.shared, grant, of: principal)
    }
}
