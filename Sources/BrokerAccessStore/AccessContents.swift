import BrokerAccessControl
import BrokerDisclosure
import BrokerModel
import BrokerSQLite
import Glibc

/// The contents of the database file at startup.
struct AccessContents {
    var held: [Principal: StoredGrant] = [:]
    var identifierKeys: [Principal: IdentifierKey] = [:]
    var intents: [Int64: SaveIntent] = [:]
    var pseudonyms: [UInt32: Pseudonyms] = [:]
    var usages: [Principal: Usage] = [:]
    var owners: [UInt32: Owner] = [:]
    var silenced: [Principal: Int64] = [:]
    /// By table.
    var unconfirmed: [String: [UInt32: [RecordNumber: Int64]]] = [:]
    var declared: [UInt32: [String: DeclaredFolder]] = [:]
    var connections: [CardDAVConnection] = []
    var outboxMarks: [UInt32: OutboxMark] = [:]
    var counters = Counters()
    /// The end of the chain.
    var end = AuditPosition.beginning
    var forwarded: Int64?
    /// The event of the last audit record; `nil` if there are no records.
    var lastEvent: String?
    var removal: AuditRemoval?
    /// Audit records about rows that could not be read.
    var findings: [AuditRecord] = []

    init(_ connection: Database, now: Int64) throws(AccessStoreError) {
        try readCounters(connection)
        try readPrincipals(connection, now: now)
        try readIntents(connection, now: now)
        try readSilences(connection, now: now)
        try readDeclared(connection)
        connections = try CardDAVConnections.read(connection)
        for table in ["unconfirmed", "changedContact"] {
            let rows = try PreparedStatement("SELECT uid, contact, time FROM \(table)", on: connection)
            while try rows.step() {
                guard let uid = rows.numberOrNil(0), let contact = rows.integerOrNil(1), let time = rows.integerOrNil(2)
                else { throw .damaged(reason: "\(table): a row cannot be read") }
                unconfirmed[table, default: [:]][uid, default: [:]][RecordNumber(contact)] = time
            }
        }
        let keys = try PreparedStatement("SELECT uid, key FROM auditKey", on: connection)
        while try keys.step() {
            guard let uid = keys.numberOrNil(0), let key = keys.bytesOrNil(1).flatMap(Pseudonyms.init(key:)) else {
                throw .damaged(reason: "auditKey: a key cannot be read")
            }
            pseudonyms[uid] = key
        }
        let marks = try PreparedStatement("SELECT uid, number, change FROM outboxMark", on: connection)
        while try marks.step() {
            guard let uid = marks.numberOrNil(0), let number = marks.integerOrNil(1), let change = marks.integerOrNil(2)
            else { throw .damaged(reason: "outboxMark: a number cannot be read") }
            outboxMarks[uid] = OutboxMark(number: number, change: change)
        }
        let owners = try PreparedStatement("SELECT uid, name, purged FROM owner", on: connection)
        while try owners.step() {
            guard let uid = owners.numberOrNil(0), let name = owners.textOrNil(1) else {
                throw .damaged(reason: "owner: a name cannot be read")
            }
            self.owners[uid] = Owner(name: name, isPurged: owners.integerOrNil(2) != 0)
        }
    }

    private mutating func readCounters(_ connection: Database) throws(AccessStoreError) {
        let state = try PreparedStatement("SELECT revision, recordNumber, intent, forwarded FROM state", on: connection)
        guard try state.step(), let revision = state.integerOrNil(0), let recordNumber = state.integerOrNil(1),
            let intent = state.integerOrNil(2)
        else { throw .damaged(reason: "the counters cannot be read") }
        forwarded = state.integerOrNil(3)
        let audit = AuditQuery(connection: connection)
        removal = try audit.announcedRemoval()
        let counted = try audit.counted()
        let last = try PreparedStatement(
            "SELECT sequence, event FROM audit ORDER BY sequence DESC LIMIT 1", on: connection)
        let lastSequence = try last.step() ? last.integerOrNil(0) ?? 0 : 0
        lastEvent = lastSequence > 0 ? last.textOrNil(1) : nil
        // After a crash the chain may extend past the stored counters. If the chain is broken, or shorter
        // than the counters say, another program changed the file. New records then continue after the larger
        // of the counter and the last record's sequence number, so verification still finds the break.
        var end = counted
        if let last = try audit.end(after: counted) { end = last }
        self.end = AuditPosition(sequence: max(end.sequence, lastSequence), hash: end.hash)
        counters = Counters(revision: revision, recordNumber: recordNumber, intent: intent)
    }

    /// Returns the loss if the last synced record is unknown or missing from the database; otherwise `nil`.
    ///
    /// If the last synced record is known but missing, new records are chained to its hash, so verification
    /// always detects the gap.
    ///
    /// - Parameter synced: the last synced position; `nil` if it is unknown.
    mutating func compare(
        with synced: SyncedPosition.Content?, _ connection: Database
    ) throws(AccessStoreError) -> AuditLoss? {
        let found = end.sequence
        guard let synced else { return AuditLoss(synced: nil, found: found) }
        let position = synced.position
        if position == .beginning { return nil }
        // After a power cut the position may be from before a removal. It then shows no loss: the removal is a later record.
        guard try !AuditQuery(connection: connection).has(position, after: removal) else { return nil }
        end = AuditPosition(sequence: max(found, position.sequence), hash: position.hash)
        counters.revision = max(counters.revision, synced.revision)
        return AuditLoss(synced: position.sequence, found: found)
    }

    private mutating func readPrincipals(_ connection: Database, now: Int64) throws(AccessStoreError) {
        let contacts = try PreparedStatement("SELECT contact FROM grantedContact WHERE principal = ?", on: connection)
        let shares = try PreparedStatement("SELECT kind, record FROM groupShare WHERE principal = ?", on: connection)
        let events = try PreparedStatement(
            "SELECT revision, contact, kind, change, time FROM setEvent WHERE principal = ? ORDER BY revision",
            on: connection)
        let rows = try PreparedStatement(
            """
            SELECT id, uid, strength, app, displayName, identifierKey,
                level, keys, expires, revision, decidedBy, decidedAt, lastUsedAt, uses, epoch, decision,
                decidedThrough, askedKeys, purposeHash, contactsRead, lastReadAt, changes
            FROM principal LEFT JOIN appGrant ON appGrant.principal = id
            """, on: connection)
        while try rows.step() {
            guard let id = rows.integerOrNil(0), let principal = Self.principal(rows, from: 1) else {
                // No caller can match this principal, so no grant needs to be denied.
                unreadable("unreadable principal", uid: rows.integerOrNil(1), app: rows.textOrNil(3), nil, now: now)
                continue
            }
            if let bytes = rows.bytesOrNil(5) {
                if let cipher = IdentifierCipher(key: bytes) {
                    identifierKeys[principal] = IdentifierKey(bytes: bytes, cipher: cipher)
                } else {
                    unreadable("unreadable identifier key", principal, now: now)
                }
            }
            guard let level = rows.textOrNil(6) else { continue }
            var grant = Self.grant(rows, level: level)
            // No version of the broker gives an app in a declared folder full access.
            if principal.strength == .declared, grant?.access == .full { grant = nil }
            var decision = rows.integerOrNil(15) ?? 0
            if grant == nil {
                decision = StoredGrant.newDecision()
                unreadable("unreadable grant", principal, now: now)
                counters.revision += 1
                grant = Grant(
                    access: .denied, keys: [], revision: counters.revision, decidedBy: .administrator,
                    decidedAt: now / 1_000_000)
            }
            guard var grant else { continue }
            var set: Set<RecordNumber> = []
            contacts.bind(1, id)
            while try contacts.step() {
                if let contact = contacts.integerOrNil(0) { set.insert(RecordNumber(contact)) }
            }
            if case .limited = grant.access {
                grant.access = .limited(to: set)
                grant.groups = try Self.groups(shares.bind(1, id), in: set)
            } else {
                grant.own = set
            }
            // If the history cannot be read, it starts empty.
            var history = SetHistory(epoch: grant.revision)
            if let epoch = rows.integerOrNil(14) {
                history = try Self.history(since: epoch, events.bind(1, id)) ?? history
            }
            held[principal] = StoredGrant(
                grant: grant, displayName: rows.textOrNil(4) ?? "", history: history, decision: decision)
            usages[principal] = Usage(
                lastUsedAt: rows.integerOrNil(12), uses: Int(rows.integerOrNil(13) ?? 0),
                contacts: Int(rows.integerOrNil(19) ?? 0), lastReadAt: rows.integerOrNil(20))
        }
    }

    private static func groups(
        _ rows: PreparedStatement, in set: Set<RecordNumber>
    ) throws(AccessStoreError) -> GrantedGroups {
        var groups = GrantedGroups()
        while try rows.step() {
            guard let record = rows.integerOrNil(1).map({ RecordNumber($0) }),
                let kind = rows.integerOrNil(0).flatMap(GroupShareKind.init)
            else { throw .damaged(reason: "groupShare: a row cannot be read") }
            switch kind {
            case .group: groups.records.insert(record)
            case .joined: groups.joined.insert(record)
            case .withheld: groups.withheld.insert(record)
            }
        }
        groups.joined.formIntersection(set)
        return groups
    }

    private static func history(
        since epoch: Int64, _ rows: PreparedStatement
    ) throws(AccessStoreError) -> SetHistory? {
        var history = SetHistory(epoch: epoch)
        var isWhole = true
        while try rows.step() {
            guard let revision = rows.integerOrNil(0), let record = rows.integerOrNil(1),
                let kind = rows.integerOrNil(2).flatMap(SetEvent.Kind.init), let change = rows.integerOrNil(3),
                let time = rows.integerOrNil(4)
            else {
                isWhole = false
                continue
            }
            history.events.append(
                SetEvent(
                    revision: revision, record: RecordNumber(record), kind: kind, change: change, time: time))
        }
        return isWhole ? history : nil
    }

    private static func principal(_ row: PreparedStatement, from column: Int32) -> Principal? {
        guard let uid = row.numberOrNil(column),
            let strength = row.textOrNil(column + 1).flatMap(IdentityStrength.init(rawValue:)),
            let app = row.textOrNil(column + 2)
        else { return nil }
        return Principal(uid: uid, strength: strength, app: app)
    }

    private static func grant(_ row: PreparedStatement, level: String) -> Grant? {
        let access: Access
        switch level {
        case "denied": access = .denied
        case "limited": access = .limited(to: [])
        case "full": access = .full
        default: return nil
        }
        guard let bits = row.integerOrNil(7), let revision = row.integerOrNil(9), let decidedAt = row.integerOrNil(11),
            let decidedBy = row.textOrNil(10).flatMap(Grant.Decider.init(rawValue:)),
            let changes = row.textOrNil(21).flatMap(ChangeRight.init(rawValue:))
        else { return nil }
        let keys = ContactKeySet(rawValue: UInt64(bitPattern: bits))
        // An unknown key may be a restriction that this version does not know.
        guard keys.isSubset(of: .grantable) else { return nil }
        var grant = Grant(
            access: access, keys: keys, changes: changes,
            lifetime: row.integerOrNil(8).map { .untilTime($0) } ?? .untilRevoked,
            revision: revision, decidedBy: decidedBy, decidedThrough: row.textOrNil(16), decidedAt: decidedAt)
        // Only narrows: a key that this version does not know is left out.
        grant.asked = ContactKeySet(rawValue: UInt64(bitPattern: row.integerOrNil(17) ?? 0)).intersection(.byName)
        grant.purposeHash = row.textOrNil(18)
        return grant
    }

    private mutating func readIntents(_ connection: Database, now: Int64) throws(AccessStoreError) {
        let rows = try PreparedStatement("SELECT id, uid, strength, app, adds FROM saveIntent", on: connection)
        while try rows.step() {
            guard let id = rows.integerOrNil(0), let principal = Self.principal(rows, from: 1),
                let adds = rows.bytesOrNil(4).flatMap(Self.records)
            else {
                unreadable("unreadable intent", uid: rows.integerOrNil(1), app: rows.textOrNil(3), nil, now: now)
                continue
            }
            intents[id] = SaveIntent(id: id, uid: principal.uid, principal: principal, adds: adds)
        }
    }

    /// Reads record numbers of 8 bytes each, little endian; `nil` if the length is not a multiple of 8.
    private static func records(_ bytes: [UInt8]) -> [RecordNumber]? {
        guard bytes.count.isMultiple(of: 8) else { return nil }
        return stride(from: 0, to: bytes.count, by: 8).map { start in
            RecordNumber(bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | Int64($1) })
        }
    }

    private mutating func readSilences(_ connection: Database, now: Int64) throws(AccessStoreError) {
        let rows = try PreparedStatement("SELECT uid, strength, app, since FROM silence", on: connection)
        while try rows.step() {
            guard let principal = Self.principal(rows, from: 0), let since = rows.integerOrNil(3) else {
                // No caller can match this principal, so nothing needs to be silenced.
                unreadable("unreadable silence", uid: rows.integerOrNil(0), app: rows.textOrNil(2), nil, now: now)
                continue
            }
            silenced[principal] = since
        }
    }

    private mutating func unreadable(_ what: String, _ principal: Principal, now: Int64) {
        unreadable(what, uid: Int64(principal.uid), app: principal.app, principal.strength, now: now)
    }

    private mutating func unreadable(
        _ what: String, uid: Int64?, app: String?, _ strength: IdentityStrength?, now: Int64
    ) {
        findings.append(
            AuditRecord(
                time: now, uid: uid.flatMap(UInt32.init(exactly:)) ?? geteuid(), app: app ?? "", strength: strength,
                event: .revocation, status: .denied, detail: what))
    }
}
