import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Explains an app's effective access in plain words, and lists open prompts.
struct Explanations: UsesServices {
    let services: BrokerServices

    /// Explains the effective access of an app that has a grant, is silenced or is connected, or whose
    /// strength is given.
    func explain(
        _ apps: AppParameters, app: String, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        let uid = apps.users.one(session.caller)
        let principals = principals(uid: uid, app: app, strength: apps.strength)
        guard let first = principals.first else { throw AdminError.unknownApp(app) }
        grants.openPolicyGroups(of: principals) { reply(to: call, principals, first, isOwn: uid == session.caller.uid) }
    }

    /// - Parameter isOwn: whether the reader is the person who decides.
    private func reply(to call: Call, _ principals: [Principal], _ first: Principal, isOwn: Bool) {
        var reasons: [Reason] = []
        for principal in principals {
            let words = explain(principal, isOwn: isOwn)
            guard principals.count > 1 else {
                reasons = words
                break
            }
            let name = [principal.strength.rawValue, principal.binding.words].compactMap { $0 }
            reasons += words.map { "\(name.joined(separator: ", ")): \($0)" }
        }
        let status = grants.shownAccess(of: counting(first), first).access.status
        call.reply {
            $0.member("status", status.rawValue)
            $0.member("reasons", reasons.map(\.text))
            $0.name("explanation")
            $0.array(reasons) { $1.write(&$0) }
        }
    }

    /// The principals of an app. The first has the most recent grant, if there is any.
    private func principals(uid: UInt32, app: String, strength: IdentityStrength?) -> [Principal] {
        let isMeant = { (principal: Principal) in
            principal.uid == uid && principal.app == app && (strength == nil || principal.strength == strength)
        }
        let granted = described.grantedPrincipals(uid: uid).filter { isMeant($0.principal) }
        let silenced = Set(access.silences.principals.filter(isMeant)).subtracting(granted.map(\.principal))
            .sorted { $0.strength.rawValue < $1.strength.rawValue }
        guard granted.isEmpty, silenced.isEmpty else {
            return granted.sorted { $0.grant.revision > $1.grant.revision }.map(\.principal) + silenced
        }
        let connected = sessions.apps
            .map { $0.caller.principals[$0.caller.principals.endIndex - 1] }.filter(isMeant)
        if let first = connected.min(by: { $0.strength.rawValue < $1.strength.rawValue }) { return [first] }
        return strength.map { [Principal(uid: uid, strength: $0, app: app)] } ?? []
    }

    private func counting(_ principal: Principal) -> Grant? {
        access.grant(of: principal).flatMap { $0.hasExpired(at: services.seconds) ? nil : $0 }
    }

    private func explain(_ principal: Principal, isOwn: Bool) -> [Reason] {
        let person = isOwn ? "you" : "the person"
        let grant = counting(principal)
        let (effective, ruling) = grants.shownAccess(of: grant, principal)
        var reasons = [Self.words(for: grant, decidedBy: person)]
        if let grant, let removal = access.audit.removal, grant.decidedAt <= removal.ends / 1_000_000 {
            let time = removal.time / 1_000_000
            reasons.append("retention removed the audit's record of that decision on \(time: time)")
        }
        reasons += ruling.reasons.map { "\($0)" }
        if ruling.rules.isEmpty, ruling.problem == nil { reasons.append("no policy rule matches it") }
        if grants.policy.rejected != nil {
            reasons.append(
                "the policy files have a mistake, so the rules from \(time: grants.policy.loadedAt) stay in force")
        }
        reasons += ruling.contactGroups.sorted().map { shares($0, with: principal.uid) }
        if grant?.groups.records.isEmpty == false {
            reasons.append(
                principal.strength.isAssumable
                    ? "other programs can imitate it, so contacts that are added to the shared groups later do not join"
                    : "contacts that \(isOwn ? "you add" : "the person adds") to the shared groups join")
        }
        if let folder = principal.declaredFolder {
            if let until = ruling.declaredUntil, until > services.seconds {
                reasons.append(
                    """
                    until \(time: until) any program with this file name in \(folder) is this app: \(person) declared the \
                    folder
                    """)
            } else {
                reasons.append("the folder \(folder) is not declared any more, so no program is this app")
            }
        }
        if let difference = ruling.difference(of: grant, from: effective, at: services.seconds) {
            reasons.append("\(difference)")
        }
        if !ruling.isDenied, ruling.requiresAuthentication, !grants.policy.canGrant(ruling) {
            reasons.append("a rule requires a password that nothing here can ask for, so nothing more can be granted")
        }
        if let time = access.silences.since(principal) {
            reasons.append("since \(time: time) \(isOwn ? "you are" : "the person is") not asked about it")
        }
        if let seconds = prompts.wait(of: principal) {
            reasons.append("its last prompt granted nothing, so it has to wait \(seconds) s before it can ask again")
        }
        reasons.append(Self.words(for: effective, isOwn: isOwn))
        return reasons
    }

    /// What a contact group shares by policy.
    private func shares(_ name: String, with uid: UInt32) -> Reason {
        switch grants.shares.policyShare(name, of: uid) {
        case nil: "the address book cannot be read, so the contact group “\(name)” shares nothing"
        case let share? where share.groups == 0: "the user has no contact group “\(name)”, so it shares nothing"
        case let share? where share.groups == 1: "the contact group “\(name)” shares \(Self.count(share.set.records))"
        case .some:
            "the user has several contact groups “\(name)”, so none of them is shared; rename or delete the others"
        }
    }

    private static func words(for grant: Grant?, decidedBy person: String) -> Reason {
        guard let grant else { return "no decision was made about it" }
        let isRevoked = grant.decidedThrough?.hasPrefix("revoked ") == true
        let when: Reason = " on \(time: grant.decidedAt)\(through(grant))"
        let who = grant.decidedBy == .person ? person : "the administrator"
        let end: Reason
        switch grant.lifetime {
        case .untilRevoked: end = ", until revoked"
        case .untilTime(let time): end = ", until \(time: time)"
        case .session: end = ", for one terminal session"
        case .process: end = ", for one process"
        }
        switch grant.access {
        case .denied: return "\(who) \(isRevoked ? "revoked" : "denied") it\(when)"
        case .limited(let records):
            let groups = grant.groups.records.count
            let shared = groups == 0 ? "" : groups == 1 ? " with a contact group" : " with \(groups) contact groups"
            return "\(who) allowed it \(count(records))\(shared)\(when)\(end)"
        case .full: return "\(who) allowed it all contacts\(when)\(end)"
        }
    }

    /// The program that the decision was made with, and whether a password was given: ` with contactctl`. An administrator
    /// is named instead.
    private static func through(_ grant: Grant) -> String {
        guard var words = grant.decidedThrough?[...] else { return "" }
        for beginning in ["revoked ", "by "] where words.hasPrefix(beginning) {
            words = words.dropFirst(beginning.count)
        }
        // `PROGRAM (STRENGTH)`, and for an agent `, with the password` or `, without a password`.
        guard grant.decidedBy == .person, let end = words.lastIndex(of: ")"),
            let begin = words[..<end].lastIndex(of: "(")
        else { return " by \(words)" }
        let program = words[..<begin].split(separator: "/").last ?? words[..<begin]
        return " with \(program.last == " " ? program.dropLast() : program)\(words[words.index(after: end)...])"
    }

    private static func count(_ records: Set<RecordNumber>) -> String {
        records.count == 1 ? "1 contact" : "\(records.count) contacts"
    }

    private static func words(for effective: EffectiveAccess, isOwn: Bool) -> Reason {
        switch effective {
        case .notDetermined:
            return isOwn ? "so it sees nothing, until you decide" : "so it sees nothing, until the person decides"
        case .restricted:
            return isOwn
                ? "so it sees nothing, and you are not asked" : "so it sees nothing, and the person is not asked"
        case .granted(let grant):
            let seen: String
            switch grant.access {
            case .denied: return "so it sees nothing"
            case .limited(let records): seen = count(records)
            case .full: seen = "all contacts"
            }
            let may = "so it sees \(seen), and may \(grant.changes.words)"
            guard case .untilTime(let end) = grant.lifetime else { return "\(may)" }
            return "\(may), until \(time: end)"
        }
    }

    // MARK: Open prompts

    func listPending(_ users: UserParameters, _ call: Call, _ session: CallerSession) {
        let open = prompts.open(users.user(session.caller))
        call.reply {
            $0.name("prompts")
            $0.array(open) { writer, entry in
                writer.object {
                    // The reply names the app and the kind of each prompt, never its contents.
                    $0.member("uid", entry.prompt.caller.uid)
                    $0.member("app", entry.prompt.caller.app)
                    $0.member("displayName", entry.prompt.caller.displayName)
                    $0.member("strength", entry.prompt.caller.strength.rawValue)
                    $0.member("kind", entry.prompt.kind.rawValue)
                    $0.member("quiet", entry.prompt.isQuiet)
                    $0.member("shown", entry.isShown)
                }
            }
        }
    }
}
