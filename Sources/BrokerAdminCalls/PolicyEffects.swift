import BrokerAccessControl
import BrokerBounds
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// Explains the rules in force, and shows what another policy would change before it is in force.
struct PolicyEffects: UsesServices {
    let services: BrokerServices

    /// All apps that have a grant or are connected, of all users, in a stable order. An app without a grant has the
    /// grant `nil`.
    private func apps() -> [(principal: Principal, grant: Grant?)] {
        let granted = described.grantedPrincipals(uid: nil)
        let known = Set(granted.map(\.principal))
        let connected = Set(
            sessions.apps.filter { known.isDisjoint(with: $0.caller.principals) }.compactMap(\.caller.principals.last))
        let undecided = connected.sorted {
            ($0.uid, $0.app, $0.strength.rawValue) < ($1.uid, $1.app, $1.strength.rawValue)
        }
        return granted.map { ($0.principal, $0.grant) } + undecided.map { ($0, nil) }
    }

    // MARK: The policy in force

    func explain(_ call: Call) {
        let policy = grants.policy.policy
        if let problem = policy.problem { return call.fail(AdminError.invalidValue(problem)) }
        let apps = apps()
        call.reply {
            $0.name("rules")
            $0.array(policy.rules) { writer, rule in
                let matching = apps.map(\.principal).filter(rule.matches)
                writer.object {
                    $0.member("place", rule.place)
                    $0.member("name", rule.name)
                    $0.member("subject", rule.subject)
                    $0.member("effects", rule.effects)
                    // A bound principal is the same app as its persistent one.
                    $0.member("apps", Set(matching.map { $0.bound(to: .persistent) }).count)
                    $0.member("users", Set(matching.map(\.uid)).count)
                }
            }
            $0.member("settings", policy.settings)
            if !policy.unread.isEmpty { $0.member("unread", policy.unread) }
            $0.member("rejected", grants.policy.rejected?.reason)
        }
    }

    // MARK: A policy that is tried

    /// Replies with the apps for which the policy of these texts has another effect than the one in force.
    func `try`(_ files: [PolicyText], _ call: Call) {
        surroundings.loop.run(on: PolicyReloads.queue) { [parse = surroundings.parsePolicy] in
            parse(files)
        } then: { read in
            answer(call, trying: read.get())
        }
    }

    private func answer(_ call: Call, trying policy: Policy) {
        if let problem = policy.problem {
            return call.fail(AdminError.invalidValue("files", reason: problem.reason))
        }
        let tried = PolicyInForce(
            policy, revision: grants.policy.revision, loadedAt: services.seconds, surroundings)
        let apps = apps()
        let changes = apps.compactMap { app -> (Principal, PolicyEffect, PolicyEffect)? in
            let (before, after) = (effect(of: grants.policy, app), effect(of: tried, app))
            return before == after ? nil : (app.principal, before, after)
        }
        call.reply {
            $0.member("rules", policy.rules.count)
            $0.member("apps", apps.count)
            $0.name("changes")
            $0.array(changes) { writer, change in
                writer.object {
                    described.writeIdentity(of: change.0, &$0)
                    $0.name("before")
                    $0.object { change.1.write(&$0) }
                    $0.name("after")
                    $0.object { change.2.write(&$0) }
                }
            }
        }
    }

    private func effect(of policy: PolicyInForce, _ app: (principal: Principal, grant: Grant?)) -> PolicyEffect {
        let (access, ruling) = grants.shownAccess(of: app.grant, app.principal, under: policy)
        return PolicyEffect(access, ruling, policy)
    }
}

/// What an app has under a policy, and what the person can be asked about it.
private struct PolicyEffect: Hashable {
    var status: AuthorizationStatus
    var contacts = 0
    var keys: ContactKeySet?
    var changes: ChangeRight?
    /// When the access ends, in seconds since 1970; `nil` for never.
    var end: Int64?
    var mayAsk = false
    var needsPassword = false
    /// Limits on an answer; only for an undecided app.
    var isCapped = false
    var longest: Int64?

    init(_ access: EffectiveAccess, _ ruling: Ruling, _ policy: PolicyInForce) {
        status = access.status
        guard access != .restricted else { return }
        mayAsk = policy.mayPrompt(ruling)
        needsPassword = mayAsk && ruling.requiresAuthentication
        switch access {
        case .restricted: break
        case .notDetermined:
            guard mayAsk else { return }
            let offer = policy.offer(ruling)
            keys = offer.keys == .grantable ? nil : offer.keys
            changes = ruling.maximumChanges == .all ? nil : ruling.maximumChanges
            isCapped = !offer.allowsAll
            longest = offer.longest
        case .granted(let grant):
            guard grant.access != .denied else { return }
            contacts = grant.access.records.count
            keys = grant.keys
            changes = grant.changes
            if case .untilTime(let time) = grant.lifetime { end = time }
        }
    }

    func write(_ writer: inout JSONWriter) {
        writer.member("status", status.rawValue)
        writer.member("contacts", contacts)
        writer.member("keys", keys?.grantNames)
        writer.member("changes", changes?.rawValue)
        writer.member("expires", end.map { Timestamp.text(seconds: $0) })
        writer.member("mayAsk", mayAsk)
        writer.member("password", needsPassword)
        writer.member("maximumLevel", isCapped ? AuthorizationStatus.limited.rawValue : nil)
        writer.member("maximumLifetime", longest.map { Int($0) })
    }
}
