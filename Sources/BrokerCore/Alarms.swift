import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerLedger
import BrokerModel
import BrokerVarlink
import Dispatch

/// Notices what an administrator should look at, and records it in the audit and the journal. An alarm changes no
/// access. It lives on the event loop.
final class Alarms: UsesServices {
    let services: BrokerServices
    private var raised = RaisedAlarms()
    private var reading: [Principal: ReadContacts] = [:]
    private var changing: [Principal: ChangedContacts] = [:]
    /// Where the next verification of the audit begins.
    private var unverified: Int64?

    private static let recordsPerStep = 10_000

    init(services: BrokerServices) { self.services = services }

    func begin() {
        // The first replies go out before the audit is read.
        surroundings.loop.later(after: services.limits.readsAuditAfter) { [weak self] in self?.readEarlier() }
        schedule(after: services.limits.alarmsAfter)
    }

    /// Reads the alarms of earlier runs, so that a restart does not repeat them.
    private func readEarlier() {
        feed.read(
            { (reader) throws(AccessStoreError) in
                try reader.records(matching: AuditFilter(event: .alarm), after: nil, limit: 1_000, newestFirst: true)
            }, failed: {},
            { [weak self] records in
                for record in records { self?.raised.note(record) }
            })
    }

    private func schedule(after delay: Duration) {
        surroundings.loop.later(after: delay) { [weak self] in
            guard let self else { return }
            lookAtGrants()
            verify()
            schedule(after: services.limits.alarmInterval)
        }
    }

    private func raise(_ kind: AlarmKind, of principal: Principal, count: Int? = nil, _ more: String? = nil) {
        raise(kind, uid: principal.uid, strength: principal.strength, app: principal.app, count: count, more)
    }

    private func raise(
        _ kind: AlarmKind, uid: UInt32, strength: IdentityStrength? = nil, app: String = "", count: Int? = nil,
        _ more: String?
    ) {
        let key = RaisedAlarms.Key(kind: kind, uid: uid, strength: strength, app: app)
        guard raised.mayRaise(key, at: services.seconds) else { return }
        raised.note(key, at: services.seconds)
        let detail = [kind.rawValue, more].compactMap(\.self).joined(separator: ", ")
        groupCommit.record(.alarm, uid: uid, app: app, strength: strength, { $0.count = count }, detail: detail)
        surroundings.notice(
            .alarm, "alarm: \(detail)\(app.isEmpty ? "" : ": \(app)")",
            [("kind", kind.rawValue), ("uid", "\(uid)"), ("app", app)])
    }

    // MARK: Reads

    /// Counts the contacts that a reply discloses under a grant.
    func disclosed(_ records: [RecordNumber], to principal: Principal) {
        let app = principal.bound(to: .persistent)
        let key = RaisedAlarms.Key(kind: .readsEverything, uid: app.uid, strength: app.strength, app: app.app)
        guard raised.mayRaise(key, at: services.seconds) else { return }
        let now = services.surroundings.uptime()
        // In place: a copy of the set would cost more with each contact. At once: each look-up hashes the app's path.
        let (read, almostAll) = { (app: inout ReadContacts) in
            if now - app.began >= ReadContacts.hour { app = ReadContacts(began: now) }
            app.add(records)
            return (app.records.count, app.almostAll)
        }(&reading[app, default: ReadContacts(began: now)])
        if reading.count > StoreLimits.appsCounted, let oldest = reading.min(by: { $0.value.began < $1.value.began }) {
            reading[oldest.key] = nil
        }
        guard read >= ReadContacts.fewest else { return }
        guard let almostAll else { return count(app) }
        guard read >= almostAll else { return }
        reading[app] = nil
        raise(.readsEverything, of: app, count: read)
    }

    /// Finds how many contacts are almost all of those that the app did not add itself, once for each hour that is counted.
    private func count(_ app: Principal) {
        guard reading[app]?.isCounted == false else { return }
        reading[app]?.isCounted = true
        let maker = access.identifiers(for: app, sharesPersistentKey: true)?.mark
        books.with(app.uid) { [weak self, surroundings, books] result in
            guard case .success(let book?) = result else { return }
            surroundings.loop.run(on: books.queue(of: app.uid)) { () throws(StoreError) in
                (total: try book.count(ContactQuery(scope: .all)), own: try maker.map(book.contacts) ?? [])
            } then: { found in
                guard let self, let found = try? found.get() else { return }
                self.reading[app]?.count(total: found.total, own: Set(found.own))
                self.disclosed([], to: app)
            }
        }
    }

    // MARK: Changes

    /// Counts the contacts that an app's save changed or deleted. What the person saved, put back or restored does not count.
    func changed(_ changes: [BookChange], by principal: Principal) {
        let app = principal.bound(to: .persistent)
        let key = RaisedAlarms.Key(kind: .changesMuch, uid: app.uid, strength: app.strength, app: app.app)
        guard raised.mayRaise(key, at: services.seconds) else { return }
        let records = changes.filter {
            ($0.kind == .updateContact || $0.kind == .deleteContact) && $0.author != .nobody
        }
        .map(\.record)
        guard !records.isEmpty else { return }
        let now = services.surroundings.uptime()
        var changed = changing[app] ?? ChangedContacts(began: now)
        if now - changed.began >= ReadContacts.hour { changed = ChangedContacts(began: now) }
        changed.records.formUnion(records)
        changing[app] = changed
        if changing.count > StoreLimits.appsCounted, let oldest = changing.min(by: { $0.value.began < $1.value.began })
        {
            changing[oldest.key] = nil
        }
        guard changed.records.count > ChangedContacts.most else { return }
        changing[app] = nil
        raise(.changesMuch, of: app, count: changed.records.count)
    }

    // MARK: Identities

    /// Compares an app that makes its first call with the apps of the user that have access.
    func connected(_ caller: Caller) {
        let own = Principal(uid: caller.uid, strength: caller.strength, app: caller.app)
        guard access.grant(of: own) == nil else { return }
        let path = caller.strength == .unverified ? own.path : nil
        for other in access.principals(of: own.uid) where other.binding == .persistent {
            guard let grant = access.grant(of: other), grant.access != .denied else { continue }
            if other.app == own.app, Self.isWeaker(own.strength, than: other.strength) {
                raise(.weakerIdentity, of: other, "now \(own.strength.rawValue)")
            } else if let path, other.strength == .unverified, other.app != own.app, other.path == path {
                raise(.executableChanged, of: other)
            }
        }
    }

    private static func isWeaker(_ strength: IdentityStrength, than other: IdentityStrength) -> Bool {
        let order = IdentityStrength.allCases
        return order.firstIndex(of: strength) ?? 0 > order.firstIndex(of: other) ?? 0
    }

    // MARK: Every day

    private func lookAtGrants() {
        let now = services.seconds
        for principal in access.principals where principal.binding == .persistent {
            guard let grant = access.grant(of: principal), grant.access != .denied, !grant.hasExpired(at: now) else {
                continue
            }
            let used = max(access.usage(of: principal).lastUsedAt ?? .min, grant.decidedAt)
            guard now - used >= Self.unused else { continue }
            raise(.unusedGrant, of: principal, "since \(Timestamp.text(seconds: used).prefix(10))")
        }
        lookAtInstalledApps()
    }

    /// Seconds after which a grant counts as unused.
    private static let unused: Int64 = 90 * 86_400

    private func lookAtInstalledApps() {
        surroundings.loop.run(on: Self.queue) { [installed = surroundings.installedApps] in
            installed()
        } then: { [weak self] result in
            guard let self, let installed = result.get() else { return }
            for principal in access.principals where principal.strength == .installed {
                guard !installed.contains(principal.app), let grant = access.grant(of: principal),
                    grant.access != .denied
                else { continue }
                raise(.notInstalled, of: principal)
            }
        }
    }

    private static let queue = DispatchQueue(label: "installed apps", qos: .utility)

    /// Verifies the records since the last time, in steps, so that queries of administrators can go between.
    private func verify() {
        feed.read(
            { [from = unverified] (reader) throws(AccessStoreError) in
                try reader.verify(from: from, budget: Self.recordsPerStep)
            }, failed: {},
            { [weak self] step in
                guard let self else { return }
                if let broken = step.brokenAt {
                    return raise(.auditBroken, uid: surroundings.ownUID, "at record \(broken)")
                }
                guard let next = step.next else { return }
                unverified = next
                verify()
            })
    }
}
