import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// A change of which contacts a limited app sees.
enum GrantedContactChange: String {
    /// The app gets the contacts, besides those that it has.
    case share
    /// The app no longer sees the contacts.
    case revoke
    /// Of the contacts that it sees, the app keeps only these.
    case narrow
}

/// Shares single contacts with an app or takes them back, for `ChangeGrantedContacts`. The contacts are named as in
/// a look-up, with its rules and records. The caller's authorization must be checked first.
struct GrantedContactChanges {
    let surroundings: Surroundings
    let access: AccessStore
    let groupCommit: GroupCommit
    let grants: Grants
    let described: GrantDescriptions
    let changes: GrantChanges
    let lookUps: ContactLookUps

    func change(_ parameters: AdminParameters, _ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard let change = parameters.change else { throw .invalidParameter("change") }
        guard let texts = parameters.contacts, !texts.isEmpty else { throw .invalidParameter("contacts") }
        guard change != .share || surroundings.wantsPasswords else {
            throw AdminError.invalidValue(
                "change", reason: "only the person can give an app more access, at a prompt")
        }
        // An app that cannot be changed needs no look-up.
        _ = try changed(change, by: [], parameters, session)
        let uid = parameters.uid ?? session.caller.uid
        try lookUps.resolve(texts, named: "contacts", uid: uid, call, session) { matches in
            do throws(VarlinkError) {
                var cards: Set<RecordNumber> = []
                for (text, found) in zip(texts, matches) {
                    cards.formUnion(try ContactLookUps.one(found, text, "contacts"))
                }
                apply(try changed(change, by: cards, parameters, session), call, session)
            } catch {
                call.fail(error)
            }
        }
    }

    /// Computes the new access of each grant that the parameters name and that changes, without applying it.
    private func changed(
        _ change: GrantedContactChange, by cards: Set<RecordNumber>, _ parameters: AdminParameters,
        _ session: CallerSession
    ) throws(VarlinkError) -> [GrantedPrincipal] {
        guard let app = parameters.app else { throw .invalidParameter("app") }
        let found = described.matching(parameters, session)
        guard !found.isEmpty else { throw AdminError.unknownApp(app) }
        if change == .share {
            guard found.count == 1 else {
                throw AdminError.invalidValue(
                    "strength", reason: "the app has \(found.count) grants; name the identity strength of one")
            }
            guard found[0].grant.access != .denied else {
                throw AdminError.invalidValue(
                    "app", reason: "the app is denied; give it limited access first, or let it ask again with reset")
            }
        }
        var changed: [GrantedPrincipal] = []
        for (principal, grant) in found {
            var new = grant
            switch (change, grant.access) {
            case (.share, .limited(let records)): new.access = .limited(to: records.union(cards))
            case (.revoke, .limited(let records)): new.access = .limited(to: records.subtracting(cards))
            case (.revoke, .full):
                throw AdminError.invalidValue(
                    "change", reason: "the app may see all contacts; take all back, or narrow its access to some")
            case (.narrow, .limited(let records)): new.access = .limited(to: records.intersection(cards))
            case (.narrow, .full): new.access = .limited(to: cards)
            case (.share, .full), (_, .denied): break
            }
            if new.access != grant.access { changed.append((principal, new)) }
        }
        return changed
    }

    private func apply(_ changed: [GrantedPrincipal], _ call: Call, _ session: CallerSession) {
        let source = AdministratorSource(session)
        var after: [(Principal, Grant?)] = []
        for (principal, grant) in changed {
            var grant = grant
            let former = access.grant(of: principal)
            grant.own = []
            grant.revision = access.nextRevision()
            grant.decidedBy = source.decider(of: principal.uid)
            grant.decidedThrough = source.words(for: principal.uid)
            after.append((principal, grant))
            // The record of a limitation names only what was taken from a limited grant. If the app had all
            // contacts, the record of a new grant names those that it keeps.
            if former?.access.status == .limited, former?.isAtLeast(grant) == true {
                changes.lower(principal, grant, source)
            } else {
                changes.settle(principal, grant, source)
            }
        }
        grants.scheduleExpiry()
        groupCommit.replyOnDisk(call) { [after] in described.write(after, forAdministrator: true, &$0) }
    }
}
