import BrokerAccessControl
import BrokerModel

/// Decides of each record whether it is written or counted, and keeps what each app has written.
///
/// Equal refusals, and repeats of a disclosure, are one record that is written before the first of them is answered,
/// and a count when their window closes. After a crash the count may be missing, the record never is.
struct AuditLedger {
    /// Whose records they are, as the audit names them.
    struct Owner: Hashable {
        let uid: UInt32
        let strength: IdentityStrength
        let app: String
    }

    private enum Fold {
        case disclosure
        case refusal
    }

    var bounds = AuditBounds()
    private var accounts: [Owner: AuditAccount] = [:]
    /// Who wrote last is most often who writes next.
    private var latest: AuditAccount?
    /// Accounts of each user, those of its own.
    private var counts: [UInt32: Int] = [:]
    /// Of each user, for all apps that found no place.
    private var overflow: [UInt32: AuditAccount] = [:]
    /// Who has used up its share, as far as is known.
    private var exhausted: [ObjectIdentifier: AuditAccount] = [:]
    private var weight = 0
    /// The windows opened since the last commit, in order.
    private var uncommitted: [(account: AuditAccount, fold: Fold)] = []

    var hasOpenWindows: Bool { weight > 0 }

    /// Adds the record, or counts it.
    mutating func enter(_ record: AuditRecord, into records: inout [AuditRecord]) {
        guard record.event.isCausedByApp, let strength = record.strength, !record.app.isEmpty else {
            records.append(record)
            return
        }
        let account = account(record, strength)
        guard account.owner != nil, let fold = Self.fold(record) else { return write(record, account, into: &records) }
        closeEnded(fold, of: account, at: record.time, into: &records)
        let key = FoldTable.Key(record)
        let isRepeat =
            switch fold {
            case .disclosure: account.disclosures.countRepeat(of: key, at: record.time)
            case .refusal: account.refusals.countRepeat(of: key, at: record.time)
            }
        guard !isRepeat else { return }
        write(record, account, into: &records)
        guard makeRoom(key.weight, for: account, into: &records) else { return }
        switch fold {
        case .disclosure: account.disclosures.open(key, at: record.time)
        case .refusal: account.refusals.open(key, at: record.time)
        }
        weight += key.weight
        uncommitted.append((account, fold))
    }

    private static func fold(_ record: AuditRecord) -> Fold? {
        guard record.repeats == nil else { return nil }
        switch record.event {
        case .disclosure:
            // Equal only where it is said which contacts they were.
            return record.contacts != nil || record.part != nil || record.count ?? 0 == 0 ? .disclosure : nil
        // Any program can have passwords wanted, and be refused, as often as it likes.
        case .refusal, .authentication: return .refusal
        case .withheld, .prompt, .answer, .grant, .revocation, .save, .saveNotDone, .agentSearch, .purge, .policy,
            .start, .stop, .gap:
            return nil
        }
    }

    private mutating func write(_ record: AuditRecord, _ account: AuditAccount, into records: inout [AuditRecord]) {
        if !account.spend(record, bounds) { exhausted[ObjectIdentifier(account)] = account }
        records.append(record)
    }

    // MARK: Accounts

    private mutating func account(_ record: AuditRecord, _ strength: IdentityStrength) -> AuditAccount {
        if let latest, let owner = latest.owner, owner.uid == record.uid, owner.strength == strength,
            owner.app == record.app
        {
            return latest
        }
        let owner = Owner(uid: record.uid, strength: strength, app: record.app)
        if let known = accounts[owner] {
            latest = known
            return known
        }
        if isFull(owner.uid) { forgetIdle(of: owner.uid, now: record.time) }
        guard !isFull(owner.uid) else {
            let shared = overflow[owner.uid] ?? AuditAccount(owner: nil, bounds: bounds, now: record.time)
            overflow[owner.uid] = shared
            return shared
        }
        let account = AuditAccount(owner: owner, bounds: bounds, now: record.time)
        accounts[owner] = account
        counts[owner.uid, default: 0] += 1
        latest = account
        return account
    }

    private func isFull(_ uid: UInt32) -> Bool { counts[uid, default: 0] >= bounds.appsPerUser }

    /// Another user's apps are not looked at: no user's many apps are another's work.
    private mutating func forgetIdle(of uid: UInt32, now: Int64) {
        latest = nil
        for (owner, account) in accounts where owner.uid == uid && account.isIdle(bounds, now: now) {
            accounts[owner] = nil
            exhausted[ObjectIdentifier(account)] = nil
        }
        counts[uid] = accounts.keys.count { $0.uid == uid }
        if let shared = overflow[uid], shared.isIdle(bounds, now: now) {
            exhausted[ObjectIdentifier(shared)] = nil
            overflow[uid] = nil
        }
    }

    var hasExhausted: Bool { !exhausted.isEmpty }

    /// How long this app must wait; `nil` for not at all.
    mutating func wait(_ owner: Owner, now: Int64) -> Duration? {
        guard !exhausted.isEmpty else { return nil }
        guard let account = accounts[owner] ?? (isFull(owner.uid) ? overflow[owner.uid] : nil),
            exhausted[ObjectIdentifier(account)] != nil
        else { return nil }
        guard let wait = account.wait(bounds, now: now) else {
            exhausted[ObjectIdentifier(account)] = nil
            return nil
        }
        return .microseconds(wait)
    }

    /// Disclosures that are counted and not yet on record as a count.
    func openUses(of owner: Owner) -> (uses: Int, last: Int64?) {
        let counted = accounts[owner]?.disclosures.repeats
        return (counted?.count ?? 0, counted?.last)
    }

    // MARK: Windows

    var nextEnd: Int64? {
        guard hasOpenWindows else { return nil }
        var next: Int64?
        for account in accounts.values {
            if let first = account.disclosures.first { next = min(next ?? .max, first.opened + length(.disclosure)) }
            if let first = account.refusals.first { next = min(next ?? .max, first.opened + length(.refusal)) }
        }
        return next
    }

    /// - Parameter now: `nil` closes all windows.
    mutating func close(at now: Int64?, into records: inout [AuditRecord]) {
        guard hasOpenWindows else { return }
        for account in accounts.values {
            for fold in [Fold.disclosure, .refusal] { closeEnded(fold, of: account, at: now, into: &records) }
        }
    }

    private mutating func closeEnded(
        _ fold: Fold, of account: AuditAccount, at now: Int64?, into records: inout [AuditRecord]
    ) {
        let length = length(fold)
        while true {
            let table =
                switch fold {
                case .disclosure: now.map { account.disclosures.firstHasEnded(at: $0, length: length) }
                case .refusal: now.map { account.refusals.firstHasEnded(at: $0, length: length) }
                }
            guard table ?? true, closeFirst(fold, of: account, into: &records) else { return }
        }
    }

    private mutating func closeFirst(
        _ fold: Fold, of account: AuditAccount, into records: inout [AuditRecord]
    ) -> Bool {
        let event: AuditEvent
        let closed: FoldTable.Window?
        switch fold {
        case .disclosure: (event, closed) = (.disclosure, account.disclosures.closeFirst())
        case .refusal:
            closed = account.refusals.closeFirst()
            event = closed?.key.event ?? .refusal
        }
        guard let closed, let owner = account.owner else { return false }
        weight -= closed.key.weight
        guard closed.repeats > 0 else { return true }
        let key = closed.key
        let count = AuditRecord(
            time: closed.lastRepeat, uid: owner.uid, app: owner.app, strength: owner.strength, event: event,
            status: key.status, keys: key.keys, count: key.count, contacts: key.contacts, revision: key.revision,
            repeats: closed.repeats, detail: key.detail)
        write(count, account, into: &records)
        return true
    }

    private mutating func makeRoom(
        _ needed: Int, for account: AuditAccount, into records: inout [AuditRecord]
    ) -> Bool {
        while account.weight + needed > bounds.windowsPerApp || weight + needed > bounds.windows {
            // Its own only: nobody's records are folded less because another app writes many.
            let fold = account.disclosures.isEmpty ? Fold.refusal : .disclosure
            guard closeFirst(fold, of: account, into: &records) else { return false }
        }
        return true
    }

    private func length(_ fold: Fold) -> Int64 {
        let window =
            switch fold {
            case .disclosure: bounds.disclosureWindow
            case .refusal: bounds.refusalWindow
            }
        return window.components.seconds * 1_000_000 + window.components.attoseconds / 1_000_000_000_000
    }

    // MARK: Commits

    mutating func committed() { uncommitted.removeAll(keepingCapacity: true) }

    /// The batch is not in the file: what it would have said first is not said, so there is nothing to repeat.
    mutating func takenBack() {
        for (account, fold) in uncommitted.reversed() {
            let before = account.weight
            switch fold {
            case .disclosure: account.disclosures.removeLast()
            case .refusal: account.refusals.removeLast()
            }
            weight -= before - account.weight
        }
        uncommitted.removeAll()
    }
}

extension AuditEvent {
    /// Its records are charged to the app. What the person or the administrator does is not: it is written in any case,
    /// however much the app has written.
    var isCausedByApp: Bool {
        switch self {
        case .disclosure, .refusal, .prompt, .save, .saveNotDone, .authentication: true
        case .withheld, .answer, .grant, .revocation, .agentSearch, .purge, .policy, .start, .stop, .gap: false
        }
    }
}
