import BrokerAccessControl
import BrokerSQLite

/// How often the apps read contacts, keyed by persistent principal. Uses by its sessions and processes count toward it.
struct Usages {
    private var apps: [Principal: Usage]
    /// Whether some app has so many unwritten uses that the next commit writes them.
    private(set) var areDue = false

    /// When one app has this many unwritten uses, the next commit writes the uses of all apps.
    private static let mostUnwritten = 64

    init(_ apps: [Principal: Usage]) { self.apps = apps }

    subscript(app: Principal) -> Usage? {
        get { apps[app] }
        set { apps[app] = newValue }
    }

    /// Counts the disclosures among committed records.
    mutating func count(_ records: [AuditRecord]) {
        for record in records where record.event == .disclosure {
            guard let strength = record.strength,
                let place = apps.index(forKey: Principal(uid: record.uid, strength: strength, app: record.app))
            else { continue }
            // A count covers only the repeats; the first disclosure has its own record.
            apps.values[place].uses += record.repeats ?? 1
            apps.values[place].unwritten += record.repeats ?? 1
            apps.values[place].lastUsedAt = max(apps.values[place].lastUsedAt ?? .min, record.time / 1_000_000)
            // The record of a number, such as that of CountContacts, has neither contacts nor keys.
            if let count = record.count, count > 0, record.contacts != nil || record.keys?.isEmpty == false {
                if record.repeats == nil { apps.values[place].contacts += count }
                apps.values[place].lastReadAt = max(apps.values[place].lastReadAt ?? .min, record.time / 1_000_000)
            }
            areDue = areDue || apps.values[place].unwritten >= Self.mostUnwritten
        }
    }

    mutating func purge(_ uid: UInt32) {
        for app in apps.keys where app.uid == uid { apps[app] = nil }
    }

    /// Writes the use counts of all apps with unwritten uses.
    mutating func write(_ connection: Database) throws(AccessStoreError) {
        areDue = false
        for (app, usage) in apps where usage.unwritten > 0 {
            try connection.statement(
                """
                UPDATE appGrant SET lastUsedAt = ?4, uses = ?5, contactsRead = ?6, lastReadAt = ?7
                WHERE principal = (SELECT id FROM principal WHERE uid = ?1 AND strength = ?2 AND app = ?3)
                """
            )
            .bind(1, Int64(app.uid)).bind(2, app.strength.rawValue).bind(3, app.app).bind(4, usage.lastUsedAt)
            .bind(5, Int64(usage.uses)).bind(6, Int64(usage.contacts)).bind(7, usage.lastReadAt).run()
            apps[app]?.unwritten = 0
        }
    }
}
