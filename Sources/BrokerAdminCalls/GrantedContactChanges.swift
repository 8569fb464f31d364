import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// The contacts and contact groups that a change names.
private struct NamedContacts {
    var cards: Set<RecordNumber> = []
    /// The groups, with the cards that each of them shares.
    var groups: [RecordNumber: Set<RecordNumber>] = [:]
    /// What the other groups of the app's grants share.
    var otherGroups: [RecordNumber: Set<RecordNumber>] = [:]
}

/// Shares single contacts and contact groups with an app or takes them back, for `ChangeGrantedContacts`. The contacts
/// are named as in a look-up, with its rules and records. The caller's authorization must be checked first.
struct GrantedContactChanges: UsesServices {
    let services: BrokerServices
    let lookUps: ContactLookUps

    func change(
        _ parameters: ChangeGrantedContactsParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        let (change, texts, names) = (parameters.change, parameters.contacts, parameters.groups)
        guard !texts.isEmpty || !names.isEmpty else { throw .invalidParameter("contacts") }
        guard names.isEmpty || change != .narrow else {
            throw AdminError.invalidValue("groups", reason: "an app can keep only single contacts; name them instead")
        }
        guard change != .share || surroundings.wantsPasswords else {
            throw AdminError.invalidValue(
                "change",
                reason: "only the person can give an app more access: in contact-agent, select it and press Return")
        }
        // An app that cannot be changed needs no look-up.
        _ = try changed(parameters, by: NamedContacts(), session)
        let uid = parameters.apps.users.one(session.caller)
        try lookUps.resolve(texts, named: "contacts", uid: uid, call, session) { matches in
            do throws(VarlinkError) {
                var named = NamedContacts()
                for (text, found) in zip(texts, matches) {
                    named.cards.formUnion(try ContactLookUps.one(found, text, "contacts"))
                }
                try find(names, uid: uid, byAnyApp: change == .revoke, session, &named)
                // Who takes something back means less, also where the app does not have it at the moment.
                if change != .share {
                    for found in described.matching(parameters.apps, session) {
                        access.forgetDeleted(of: found.principal, at: books.moment(of: uid))
                    }
                }
                apply(try changed(parameters, by: named, session), change, call, session)
            } catch {
                call.fail(error)
            }
        }
    }

    /// Finds the groups with these names in the user's book, which was just opened for the look-up of contacts.
    private func find(
        _ names: [String], uid: UInt32, byAnyApp: Bool, _ session: CallerSession, _ named: inout NamedContacts
    ) throws(VarlinkError) {
        guard !names.isEmpty else { return }
        let groups = try lookUps.groups(names, named: "groups", uid: uid, byAnyApp: byAnyApp, session)
        guard let book = lookUps.books.opened(uid) else { return }
        named.groups = grants.shares.members(of: Set(groups), in: book)
        let others = access.principals(of: uid)
            .reduce(into: Set<RecordNumber>()) { $0.formUnion(access.grant(of: $1)?.groups.records ?? []) }
        named.otherGroups = grants.shares.members(of: others.subtracting(groups), in: book)
    }

    /// Computes the new access of each grant that the parameters name and that changes, without applying it.
    private func changed(
        _ parameters: ChangeGrantedContactsParameters, by named: NamedContacts, _ session: CallerSession
    ) throws(VarlinkError) -> [GrantedPrincipal] {
        let change = parameters.change
        let found = described.matching(parameters.apps, session)
        guard !found.isEmpty else { throw AdminError.unknownApp(parameters.app) }
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
            case (.share, .limited):
                new.share(named.cards)
                for (group, members) in named.groups { new.share(group: group, members: members) }
                guard new.groups.records.count <= StoreLimits.groupsPerGrant else {
                    throw AdminError.invalidValue(
                        "groups", reason: "an app can have \(StoreLimits.groupsPerGrant) contact groups at most")
                }
            case (.revoke, .limited):
                new.revoke(named.cards)
                if !new.groups.records.isDisjoint(with: named.groups.keys) {
                    new.groups.records.subtract(named.groups.keys)
                    new.leaveGroups(except: named.otherGroups)
                }
            case (.revoke, .full):
                throw AdminError.invalidValue(
                    "change", reason: "the app may see all contacts; take all back, or narrow its access to some")
            case (.narrow, .limited): new.narrow(to: named.cards)
            case (.narrow, .full): new.access = .limited(to: named.cards)
            case (.share, .full), (_, .denied): break
            }
            if new != grant { changed.append((principal, new)) }
        }
        return changed
    }

    private func apply(
        _ changed: [GrantedPrincipal], _ change: GrantedContactChange, _ call: Call, _ session: CallerSession
    ) {
        let (changes, source) = (GrantChanges(services: services), AdministratorSource(session))
        var after: [(Principal, Grant?)] = []
        for (principal, grant) in changed {
            var grant = grant
            let former = access.grant(of: principal)
            grant.own = []
            grant.revision = access.nextRevision()
            after.append((principal, grant))
            // The record of a limitation names only what was taken from a limited grant. If the app had all
            // contacts, the record of a new grant names those that it keeps.
            if change != .share, former?.access.status == .limited {
                changes.lower(principal, grant, source)
            } else {
                changes.settle(principal, grant, source)
            }
        }
        grants.scheduleExpiry()
        groupCommit.replyOnDisk(call) { [after] in described.write(after, forAdministrator: true, &$0) }
    }
}
