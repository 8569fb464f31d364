import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerContactsStore
import BrokerLedger
import BrokerModel

/// Keeps the granted sets of apps in line with the contact groups that the person or the policy shares with them. It
/// lives on the event loop.
///
/// The book decides who is a member. Each time a book is opened, and after each save that changes a group, the sets are
/// computed from the book again. A crash between the book's commit and the access store's therefore leaves no set
/// wrong: an app gets no contact before its user's book is open.
package final class GroupShares {
    private let surroundings: Surroundings
    private let access: AccessStore
    private let groupCommit: GroupCommit
    private let history: History
    /// The names of the contact groups that the policy shares.
    package var policyNames: Set<String> = []
    /// What the policy shares, by user and group name. It stays when the book is closed, so opening it again changes
    /// nothing.
    private var ofPolicy: [UInt32: [String: PolicyShare]] = [:]

    /// What each principal sees by policy, as this run recorded it in the audit.
    private var recorded: [Principal: SharedSet] = [:]

    /// What the name of a contact group in the policy means for one user.
    package struct PolicyShare {
        /// How many groups have the name. Only the members of a single one are shared; 2 stands for several.
        package let groups: Int
        package let set: SharedSet
    }

    /// What apps can no longer see. Their queued replies must be withdrawn.
    package struct Lost {
        /// Principals whose granted set lost cards.
        package var principals: [Principal] = []
        /// Whether a group that the policy shares lost cards.
        package var isOfPolicy = false
    }

    package init(surroundings: Surroundings, access: AccessStore, groupCommit: GroupCommit, history: History) {
        self.surroundings = surroundings
        self.access = access
        self.groupCommit = groupCommit
        self.history = history
    }

    /// Computes the sets of a user's apps from the book.
    ///
    /// - Parameter book: the user's open book; `nil` if the user has none.
    package func follow(_ uid: UInt32, _ book: ContactsStore?) -> Lost {
        var lost = Lost()
        followPolicy(uid, book, &lost)
        guard let book else { return lost }
        for principal in access.principals(of: uid) {
            guard let groups = access.grant(of: principal)?.groups.all, !groups.isEmpty else { continue }
            // Any program of the user can run the person's own tools. A card that joins an app which such a program can
            // imitate would pass the bound on contacts without a password.
            let changed = access.follow(
                members(of: groups, in: book), of: principal, mayGrow: !principal.strength.isAssumable,
                at: SetMoment(change: book.lastChange, time: surroundings.seconds))
            guard let changed else { continue }
            history.moved(uid)
            record(changed, of: principal)
            if !changed.left.isEmpty { lost.principals.append(principal) }
        }
        return lost
    }

    /// The cards that each of these groups shares. Groups that do not exist are left out. If the book cannot be read, a
    /// group shares nothing.
    package func members(of groups: Set<RecordNumber>, in book: ContactsStore) -> [RecordNumber: Set<RecordNumber>] {
        var members: [RecordNumber: Set<RecordNumber>] = [:]
        for group in groups {
            do throws(StoreError) {
                if let found = try book.sharedMembers(of: group) { members[group] = found }
            } catch {
                surroundings.log("cannot read a contact group that is shared with an app: \(error)")
                members[group] = []
            }
        }
        return members
    }

    private func record(
        _ changed: (grant: Grant, joined: Set<RecordNumber>, left: Set<RecordNumber>), of principal: Principal
    ) {
        record(
            joined: changed.joined, left: changed.left, changed.grant, of: principal,
            "\(changed.grant.lifetime.kind.rawValue), \(AuditRecord.byContactGroup)", AuditRecord.byContactGroup)
    }

    /// Records which contacts joined an app's set again, because they were put back.
    package func record(putBack joined: Set<RecordNumber>, _ grant: Grant, of principal: Principal) {
        record(joined: joined, left: [], grant, of: principal, "\(grant.lifetime.kind.rawValue), put back", "")
    }

    /// Records which cards joined and left an app's set. Each record has the whole detail, which says how to read it.
    private func record(
        joined: Set<RecordNumber>, left: Set<RecordNumber>, _ grant: Grant, of principal: Principal,
        _ joining: String, _ leaving: String
    ) {
        for (event, records, detail) in [(AuditEvent.revocation, left, leaving), (.grant, joined, joining)] {
            var rest = records.sorted()[...]
            while !rest.isEmpty {
                let part = Set(rest.prefix(surroundings.limits.contactsPerAuditRecord))
                rest = rest.dropFirst(part.count)
                groupCommit.record(event, of: principal, naming: part) {
                    $0.status = .limited
                    $0.keys = grant.keys
                    $0.revision = grant.revision
                    $0.count = event == .grant ? grant.access.records.count : part.count
                    $0.detail = detail
                }
            }
        }
    }

    /// Drops what is known about a user whose data is deleted.
    package func forget(_ uid: UInt32) {
        ofPolicy[uid] = nil
        recorded = recorded.filter { $0.key.uid != uid }
    }

    // MARK: The policy

    /// What the policy's name of a contact group means for a user; `nil` if the user's book was not opened yet.
    package func policyShare(_ name: String, of uid: UInt32) -> PolicyShare? { ofPolicy[uid]?[name] }

    /// Records what a principal sees by policy, if it is not what the audit says already. Call this before a
    /// disclosure: the record of a list names only the revision.
    ///
    /// - Parameter grant: the effective access.
    package func notePolicy(_ shared: SharedSet, _ grant: Grant, of principal: Principal) {
        let before = recorded[principal] ?? .empty
        guard before.revision != shared.revision else { return }
        recorded[principal] = shared
        record(
            joined: shared.records.subtracting(before.records), left: before.records.subtracting(shared.records), grant,
            of: principal, AuditRecord.byPolicyGroup, AuditRecord.byPolicyGroup)
    }

    /// The cards that these groups share by policy.
    package func shared(_ names: Set<String>, with uid: UInt32) -> SharedSet {
        let sets = names.map { ofPolicy[uid]?[$0]?.set ?? .empty }
        return sets.dropFirst().reduce(sets.first ?? .empty) { $0.intersection($1) }
    }

    private func followPolicy(_ uid: UInt32, _ book: ContactsStore?, _ lost: inout Lost) {
        let former = ofPolicy[uid] ?? [:]
        var now: [String: PolicyShare] = [:]
        for name in policyNames {
            let (groups, records) = book.map { found(name, in: $0) } ?? (0, [])
            let before = former[name]
            guard before?.set.records != records else {
                now[name] = before.map { PolicyShare(groups: groups, set: $0.set) }
                continue
            }
            now[name] = PolicyShare(groups: groups, set: SharedSet(records, revision: access.nextRevision()))
            history.moved(uid)
            if before?.set.records.isSubset(of: records) == false { lost.isOfPolicy = true }
        }
        ofPolicy[uid] = now.isEmpty ? nil : now
    }

    private func found(_ name: String, in book: ContactsStore) -> (groups: Int, records: Set<RecordNumber>) {
        do throws(StoreError) {
            let groups = try book.groups(named: name, limit: 2)
            // It is not known which of several groups the administrator means.
            guard groups.count == 1 else { return (groups.count, []) }
            return (1, try book.sharedMembers(of: groups[0]) ?? [])
        } catch {
            surroundings.log("cannot read a contact group that the policy shares: \(error)")
            return (0, [])
        }
    }
}
