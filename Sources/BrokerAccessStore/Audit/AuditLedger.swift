import BrokerAccessControl
import BrokerBounds
import BrokerModel

/// Decides whether each record is written or counted, and tracks how much each app has written.
///
/// Equal refusals, equal disclosures and equal password requests become one record and a count. The ledger
/// writes the record when the first of them arrives, and the count when the deduplication window closes. A
/// crash may lose the count, never the record.
struct AuditLedger {
    /// The app that a record is about, as the audit names it.
    struct Owner: Hashable {
        let uid: UInt32
        let strength: IdentityStrength
        let app: String
    }

    /// Who pays for a record, besides the app that it is about.
    enum Payer: Hashable {
        case user(UInt32)
        /// All UIDs that belong to no user of this machine, such as sub-UIDs. A user has 65,536 of them.
        case strangers
    }

    /// In the order in which they close early.
    enum WindowKind: Int, CaseIterable {
        case disclosure
        case refusal
        /// Prompts that were never shown.
        case unshown
    }

    var bounds = AuditBounds()
    /// See ``AuditLog/isUser``.
    var isUser: (UInt32) -> Bool = { _ in true }
    private var accounts: [Owner: AuditAccount] = [:]
    /// The number of apps with an account of their own, by payer.
    private var counts: [Payer: Int] = [:]
    /// The accounts that all apps beyond ``AuditBounds/appsPerUser`` share.
    private var overflow: [Payer: AuditAccount] = [:]
    private var payers: [Payer: AuditAccount] = [:]
    /// Accounts that have used up their allowance. Entries may be stale.
    private var exhausted: [ObjectIdentifier: AuditAccount] = [:]
    private var weight = 0
    /// The windows opened since the last commit, in the order of opening.
    private var uncommitted: [(account: AuditAccount, kind: WindowKind)] = []

    /// Adds the record. If an open window has an equal record, only counts the repeat.
    mutating func enter(_ record: AuditRecord, into records: inout [AuditRecord]) {
        guard record.event.isCausedByApp, let strength = record.strength, !record.app.isEmpty else {
            records.append(record)
            return
        }
        let account = account(record, strength)
        guard account.owner != nil, let kind = Self.kind(record) else { return write(record, account, into: &records) }
        closeEnded(kind, of: account, at: record.time, into: &records)
        let key = DeduplicationTable.Key(record)
        guard !account.tables[kind.rawValue].countRepeat(of: key, at: record.time) else { return }
        write(record, account, into: &records)
        guard makeRoom(key.weight, for: account, into: &records) else { return }
        account.tables[kind.rawValue].open(key, at: record.time)
        weight += key.weight
        uncommitted.append((account, kind))
    }

    private static func kind(_ record: AuditRecord) -> WindowKind? {
        guard record.repeats == nil else { return nil }
        switch record.event {
        case .disclosure:
            // Two equal records that name neither contacts nor a part may be about different contacts.
            return record.contacts != nil || record.part != nil || record.count ?? 0 == 0 ? .disclosure : nil
        // Any program can cause password requests and refusals as often as it likes. In a session it can also be
        // an agent.
        case .refusal, .authentication, .agent, .lookUp: return .refusal
        case .prompt: return record.detail == AuditRecord.notShown ? .unshown : nil
        case .withheld, .answer, .grant, .revocation, .declaration, .connection, .save, .saveNotDone, .agentSearch,
            .alarm, .purge,
            .backup, .restore, .bin, .policy, .retention, .start, .stop, .gap:
            return nil
        }
    }

    private mutating func write(_ record: AuditRecord, _ account: AuditAccount, into records: inout [AuditRecord]) {
        for account in [account, payer(account.payer, now: record.time)] where !account.spend(record) {
            exhausted[ObjectIdentifier(account)] = account
        }
        records.append(record)
    }

    // MARK: Accounts

    private mutating func account(_ record: AuditRecord, _ strength: IdentityStrength) -> AuditAccount {
        let owner = Owner(uid: record.uid, strength: strength, app: record.app)
        if let known = accounts[owner] { return known }
        let payer = payer(of: owner.uid)
        if isFull(payer) { dropIdle(of: payer, now: record.time) }
        guard !isFull(payer) else {
            let shared = overflow[payer] ?? AuditAccount(owner: nil, payer: payer, bounds.app, now: record.time)
            overflow[payer] = shared
            return shared
        }
        let account = AuditAccount(owner: owner, payer: payer, bounds.app, now: record.time)
        accounts[owner] = account
        counts[payer, default: 0] += 1
        return account
    }

    private func payer(of uid: UInt32) -> Payer { isUser(uid) ? .user(uid) : .strangers }

    private mutating func payer(_ payer: Payer, now: Int64) -> AuditAccount {
        if let known = payers[payer] { return known }
        let allowance =
            switch payer {
            case .user: bounds.user
            case .strangers: bounds.strangers
            }
        let made = AuditAccount(owner: nil, payer: payer, allowance, now: now)
        payers[payer] = made
        return made
    }

    private func isFull(_ payer: Payer) -> Bool { counts[payer, default: 0] >= bounds.appsPerUser }

    /// Drops idle accounts of this payer only: one user's many apps must not affect other users.
    private mutating func dropIdle(of payer: Payer, now: Int64) {
        for (owner, account) in accounts where account.payer == payer && account.isIdle(now: now) {
            accounts[owner] = nil
            exhausted[ObjectIdentifier(account)] = nil
        }
        counts[payer] = accounts.values.count { $0.payer == payer }
        if let shared = overflow[payer], shared.isIdle(now: now) {
            exhausted[ObjectIdentifier(shared)] = nil
            overflow[payer] = nil
        }
    }

    var hasExhausted: Bool { !exhausted.isEmpty }

    /// Returns how long this app must wait; `nil` if it does not have to wait.
    mutating func wait(_ owner: Owner, now: Int64) -> Duration? {
        guard !exhausted.isEmpty else { return nil }
        let payer = accounts[owner]?.payer ?? payer(of: owner.uid)
        let app = accounts[owner] ?? (isFull(payer) ? overflow[payer] : nil)
        return [app, payers[payer]].compactMap { $0 }.compactMap { wait($0, now: now) }.max()
    }

    private mutating func wait(_ account: AuditAccount, now: Int64) -> Duration? {
        guard exhausted[ObjectIdentifier(account)] != nil else { return nil }
        guard let wait = account.wait(now: now) else {
            exhausted[ObjectIdentifier(account)] = nil
            return nil
        }
        return .microseconds(wait)
    }

    /// Returns the number of repeated disclosures that no count record includes yet, and the time of the last
    /// one.
    func openUses(of owner: Owner) -> (uses: Int, last: Int64?) {
        let counted = accounts[owner]?.tables[WindowKind.disclosure.rawValue].repeats
        return (counted?.count ?? 0, counted?.last)
    }

    // MARK: Windows

    var nextEnd: Int64? {
        guard weight > 0 else { return nil }
        var next: Int64?
        for account in accounts.values {
            for kind in WindowKind.allCases {
                guard let first = account.tables[kind.rawValue].first else { continue }
                next = min(next ?? .max, first.opened + length(kind))
            }
        }
        return next
    }

    /// - Parameter now: `nil` closes all windows.
    mutating func close(at now: Int64?, into records: inout [AuditRecord]) {
        for account in accounts.values where account.weight > 0 {
            for kind in WindowKind.allCases { closeEnded(kind, of: account, at: now, into: &records) }
        }
    }

    private mutating func closeEnded(
        _ kind: WindowKind, of account: AuditAccount, at now: Int64?, into records: inout [AuditRecord]
    ) {
        let length = length(kind)
        while now.map({ account.tables[kind.rawValue].firstHasEnded(at: $0, length: length) }) ?? true {
            guard closeFirst(kind, of: account, into: &records) else { return }
        }
    }

    private mutating func closeFirst(
        _ kind: WindowKind, of account: AuditAccount, into records: inout [AuditRecord]
    ) -> Bool {
        guard let owner = account.owner, let closed = account.tables[kind.rawValue].closeFirst() else { return false }
        let key = closed.key
        weight -= key.weight
        guard closed.repeats > 0 else { return true }
        let count = AuditRecord(
            time: closed.lastRepeat, uid: owner.uid, app: owner.app, strength: owner.strength, event: key.event,
            status: key.status, keys: key.keys, count: key.count, contacts: key.contacts, revision: key.revision,
            repeats: closed.repeats, detail: key.detail)
        write(count, account, into: &records)
        return true
    }

    private mutating func makeRoom(
        _ needed: Int, for account: AuditAccount, into records: inout [AuditRecord]
    ) -> Bool {
        while account.weight + needed > bounds.windowsPerApp || weight + needed > bounds.windows {
            // Closes only this app's windows, so one app cannot end the deduplication of other apps.
            let kind = WindowKind.allCases.first { !account.tables[$0.rawValue].isEmpty } ?? .refusal
            guard closeFirst(kind, of: account, into: &records) else { return false }
        }
        return true
    }

    private func length(_ kind: WindowKind) -> Int64 {
        let window =
            switch kind {
            case .disclosure: bounds.disclosureWindow
            case .refusal: bounds.refusalWindow
            case .unshown: bounds.unshownWindow
            }
        return window.microseconds
    }

    // MARK: Commits

    mutating func committed() { uncommitted.removeAll(keepingCapacity: true) }

    /// Removes the windows that were opened since the last commit: a failed commit did not write their first
    /// records.
    mutating func rolledBack() {
        for (account, kind) in uncommitted.reversed() {
            let before = account.weight
            account.tables[kind.rawValue].removeLast()
            weight -= before - account.weight
        }
        uncommitted.removeAll()
    }
}

extension AuditEvent {
    /// Whether records of this event count against the app's audit allowance. Records about actions of the
    /// person, an administrator or the broker do not.
    var isCausedByApp: Bool {
        switch self {
        case .disclosure, .refusal, .prompt, .save, .saveNotDone, .authentication, .agent: true
        case .withheld, .answer, .grant, .revocation, .declaration, .connection, .agentSearch, .lookUp, .alarm, .purge,
            .backup, .restore, .bin, .policy, .retention, .start, .stop, .gap:
            false
        }
    }
}
