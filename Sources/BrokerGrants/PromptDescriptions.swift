import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Describes prompts to agents.
package struct PromptDescriptions {
    package let surroundings: Surroundings
    package let access: AccessStore
    package let books: Books
    package let grants: Grants

    package init(surroundings: Surroundings, access: AccessStore, books: Books, grants: Grants) {
        self.surroundings = surroundings
        self.access = access
        self.books = books
        self.grants = grants
    }

    package func describe(_ prompt: Prompt, waiting: Int, expires: Int64) -> [UInt8] {
        let known = grants.effectiveAccess(of: prompt.session)
        // While the policy denies the app, its effective access has no principal, but it may have used its grant before.
        let usage = (known.principal ?? prompt.caller.principals.first { access.grant(of: $0) != nil }).map(
            access.usage)
        var granted = 0
        if case .granted(let grant) = known.effective { granted = grant.access.records.count }
        // If the contacts cannot be counted, the prompt is shown with a count of 0.
        let total = (try? books.opened(prompt.caller.uid)?.count(ContactQuery(scope: .all))) ?? 0
        var writer = JSONWriter(reservingCapacity: 1_024)
        writer.object {
            $0.name("prompt")
            $0.object {
                $0.member("cookie", prompt.cookie)
                $0.member("kind", prompt.kind.rawValue)
                $0.name("caller")
                $0.object { Self.describe(prompt.caller, known.ruling, &$0) }
                $0.member("currentStatus", known.effective.status.rawValue)
                $0.member("purpose", prompt.question.purpose)
                let keys = prompt.kind == .keys ? grants.lacked(of: prompt.question.keys, known) : prompt.question.keys
                $0.member("keys", keys?.grantNames)
                $0.member("changes", prompt.question.changes?.rawValue)
                $0.member("query", prompt.query?.text)
                $0.member("caption", prompt.question.caption)
                $0.member("multiple", prompt.question.pick?.multiple)
                $0.member("limit", prompt.question.pick?.limit)
                $0.member("select", prompt.question.pick?.select.rawValue)
                if let proposal = prompt.question.proposal {
                    $0.name("proposed")
                    $0.raw(proposal.shown)
                }
                if let save = prompt.question.save { describe(save, prompt, &$0) }
                $0.member("grantedKeys", grants.decided(known)?.keys.grantNames)
                $0.member("grantedChanges", grants.decided(known)?.changes.rawValue)
                if let purpose = prompt.question.purposeHash, let former = grants.decided(known),
                    let hash = former.purposeHash
                {
                    $0.member("otherPurpose", hash != purpose)
                    $0.member("formerPurpose", hash != purpose ? former.purpose : nil)
                }
                $0.member("totalContacts", total)
                $0.member("grantedContacts", granted)
                if let settings = books.opened(prompt.caller.uid)?.settings {
                    $0.member("displayOrder", settings.displayOrder == .familyName ? "familyName" : "givenName")
                }
                $0.member("lastUsedAt", usage?.lastUsedAt.map { Timestamp.text(seconds: $0) })
                $0.member("uses", usage?.uses)
                $0.member("contactsRead", usage?.contacts)
                $0.member("lastReadAt", usage?.lastReadAt.map { Timestamp.text(seconds: $0) })
                $0.member("waiting", waiting)
                $0.member("expires", Timestamp.text(seconds: expires))
                $0.member("lifetimes", lifetimes(prompt, known).map(\.rawValue))
                if case .untilTime(let end)? = grants.decided(known)?.lifetime {
                    $0.member("grantedUntil", Timestamp.text(seconds: end))
                }
                $0.member("interpreter", prompt.caller.isInterpreter)
                $0.member("quiet", prompt.isQuiet)
                if grants.isSilenced(prompt.caller) { $0.member("silenced", true) }
                describePolicy(prompt, known, &$0)
            }
        }
        return writer.bytes
    }

    private func describe(_ save: ProposedSave, _ prompt: Prompt, _ writer: inout JSONWriter) {
        // A second agent must not move it: the first one may show older records.
        prompt.asOf = prompt.asOf ?? books.opened(prompt.caller.uid)?.lastChange
        writer.name("save")
        writer.object {
            for effect in [ProposedSave.Effect.deleted, .changed, .added] {
                $0.member(effect.rawValue, save.count(effect))
            }
            $0.member("other", save.otherCount)
            if save.isIrreversible { $0.member("irreversible", true) }
        }
    }

    /// The lifetimes to choose from, the default or present one first. Only a grant that belongs to the app, and not
    /// to a session or process, can get another.
    private func lifetimes(_ prompt: Prompt, _ known: CallerAccess) -> [LifetimeKind] {
        guard let grant = grants.decided(known), grant.access != .denied else {
            return prompt.caller.lifetimes.flatMap { $0 == .untilRevoked ? [.untilRevoked, .untilTime] : [$0] }
        }
        let present = grant.lifetime.kind
        guard prompt.kind == .manage, known.principal?.binding == .persistent else { return [present] }
        return [present] + [.untilRevoked, .untilTime].filter { $0 != present }
    }

    /// Describes the choices that the policy leaves to the person, and stores them in ``Prompt/offer``.
    private func describePolicy(_ prompt: Prompt, _ known: CallerAccess, _ writer: inout JSONWriter) {
        let ruling = known.ruling
        // Picks and proposed cards do not depend on the offer. The broker checks the policy's permitted keys
        // again when it hands over the pick or saves the card.
        if prompt.question.pick == nil, prompt.question.proposal == nil { prompt.offer = grants.policy.offer(ruling) }
        if !grants.policy.mayShareAll(ruling) { writer.member("maximumLevel", AuthorizationStatus.limited.rawValue) }
        if ruling.maximumKeys != .grantable { writer.member("maximumKeys", ruling.maximumKeys.grantNames) }
        let changes = grants.policy.mostChanges(ruling, prompt.caller.strength)
        if changes != .all { writer.member("maximumChanges", changes.rawValue) }
        let end: Int64?
        if var decided = grants.decided(known), decided.access != .denied {
            // The person may change the grant's own end.
            decided.lifetime = .untilRevoked
            end = ruling.end(of: decided)
        } else {
            end = ruling.latestEnd(decidedAt: surroundings.seconds)
        }
        writer.member("endsAt", end.map { Timestamp.text(seconds: $0) })
    }

    private static func describe(_ caller: Caller, _ ruling: Ruling, _ writer: inout JSONWriter) {
        writer.member("displayName", caller.displayName)
        writer.member("identifier", caller.app)
        writer.member("strength", caller.strength.rawValue)
        writer.member("executable", caller.executable)
        writer.member("pid", caller.process.pid)
        writer.member("terminal", caller.terminal)
        writer.member("folder", caller.declaredFolder)
        writer.member("folderUntil", ruling.declaredUntil.map { Timestamp.text(seconds: $0) })
    }
}
