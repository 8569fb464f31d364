import AccessControl
import AccessStore
import Policy
import Varlink

/// A standing, and the principal whose grant it rests on.
struct PrincipalStanding {
    /// What counts: the grant with the policy laid over it.
    var standing: Standing
    /// `nil` where nothing was decided.
    var principal: Principal?
    var identifiers: IdentifierCipher?
    /// It rests on a decision, and not on the policy alone.
    var isDecided = false
    /// The policy lets the person be asked.
    var mayPrompt = true
}

/// What holds for a caller: what was decided, and the policy over it.
extension Broker {
    /// Seconds since 1970.
    var seconds: Int64 { surroundings.now() / 1_000_000 }

    /// What holds for a caller now.
    func standing(of session: CallerSession) -> PrincipalStanding {
        // A call that had begun may go on for a moment while everything of its user is removed: nothing is made anew.
        guard !books.isRemoving(session.caller.uid) else {
            return PrincipalStanding(standing: .restricted, mayPrompt: false)
        }
        if let known = session.known, known.epoch == grantsEpoch, !hasExpired(known.standing) { return known.standing }
        let found = findStanding(of: session)
        session.known = (grantsEpoch, found)
        return found
    }

    private func findStanding(of session: CallerSession) -> PrincipalStanding {
        let ruling = ruling(of: session)
        let principals = session.caller.principals
        guard !ruling.isDenied else { return PrincipalStanding(standing: .restricted, mayPrompt: false) }
        let mayPrompt = policy.mayPrompt(ruling)
        for principal in principals {
            guard let grant = access.grant(of: principal) else { continue }
            guard ruling.end(of: grant).map({ $0 > seconds }) ?? true else {
                tellOfEnd(of: grant, principal)
                continue
            }
            let identifiers = access.identifiers(for: principal, sharesStandingKey: !session.caller.isInterpreter)
            return PrincipalStanding(
                standing: policy.standing(of: grant, ruling, at: seconds), principal: principal,
                identifiers: identifiers, isDecided: true, mayPrompt: mayPrompt)
        }
        guard ruling.standsAlone else { return PrincipalStanding(standing: .notDetermined, mayPrompt: mayPrompt) }
        let principal = principals[principals.endIndex - 1]
        let standing = policy.standing(of: nil, ruling, at: seconds)
        return PrincipalStanding(
            standing: standing, principal: principal,
            identifiers: standing.status == .denied ? nil : identifiersOfForced(principal, session.caller),
            mayPrompt: mayPrompt)
    }

    /// What was decided, as the store has it: the terms on which it goes on, never what decides about a disclosure.
    func decided(_ known: PrincipalStanding) -> Grant? {
        known.isDecided ? known.principal.flatMap(access.grant(of:)) : nil
    }

    private func hasExpired(_ known: PrincipalStanding) -> Bool {
        guard case .granted(let grant) = known.standing, case .untilTime = grant.lifetime else { return false }
        return grant.hasExpired(at: seconds)
    }

    /// An app whose level is forced names contacts though nobody decided about it: its key is made when it first comes.
    private func identifiersOfForced(_ principal: Principal, _ caller: Caller) -> IdentifierCipher? {
        if let known = access.identifiers(for: principal, sharesStandingKey: !caller.isInterpreter) { return known }
        do {
            let made = try access.makeIdentifiers(for: principal, sharesStandingKey: !caller.isInterpreter)
            // A key that is not in the file must name nothing.
            turn.work(committed: {}, failed: { [weak self] in self?.grantsChanged() })
            return made
        } catch {
            surroundings.log("no key for an app's identifiers: \(error)")
            return nil
        }
    }
}
