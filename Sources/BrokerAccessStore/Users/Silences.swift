import BrokerAccessControl
import BrokerSQLite

/// Silences prompts of apps for which the person chose "never ask again".
public final class Silences {
    /// The time of each decision, in seconds since 1970.
    private var silenced: [Principal: Int64]
    private var unwritten: Set<Principal> = []
    private let owners: Owners

    init(_ silenced: [Principal: Int64], owners: Owners) {
        self.silenced = silenced
        self.owners = owners
    }

    /// Whether a principal's prompts are silenced.
    public func contains(_ principal: Principal) -> Bool { silenced[principal] != nil }

    /// When prompts were silenced, in seconds since 1970; `nil` if they are not.
    public func since(_ principal: Principal) -> Int64? { silenced[principal] }

    /// The number of one user's silenced principals, including those bound to sessions and processes.
    public func count(of uid: UInt32) -> Int { silenced.keys.count { $0.uid == uid } }

    /// All silenced principals, in no particular order.
    public var principals: [Principal] { Array(silenced.keys) }

    /// Silences a principal's prompts. The silence applies at once, even if commits fail. If the principal is
    /// persistent, the next successful commit writes the silence.
    ///
    /// - Parameter now: seconds since 1970.
    public func silence(_ principal: Principal, now: Int64) {
        guard silenced[principal] == nil else { return }
        if principal.binding == .persistent { owners.note(principal.uid) }
        silenced[principal] = now
        note(principal)
    }

    /// Allows a silenced principal to prompt again.
    public func end(of principal: Principal) {
        guard silenced.removeValue(forKey: principal) != nil else { return }
        note(principal)
    }

    /// Principals bound to a session or a process are never written.
    private func note(_ principal: Principal) {
        if principal.binding == .persistent { unwritten.insert(principal) }
    }

    func purge(_ uid: UInt32) {
        for principal in silenced.keys where principal.uid == uid { silenced[principal] = nil }
        unwritten = unwritten.filter { $0.uid != uid }
    }

    // MARK: Rows

    var hasUnwritten: Bool { !unwritten.isEmpty }

    func write(_ connection: Database) throws(AccessStoreError) {
        for principal in unwritten {
            let (uid, strength) = (Int64(principal.uid), principal.strength.rawValue)
            guard let time = silenced[principal] else {
                try connection.statement("DELETE FROM silence WHERE uid = ? AND strength = ? AND app = ?")
                    .bind(1, uid).bind(2, strength).bind(3, principal.app).run()
                continue
            }
            try connection.statement(
                "INSERT INTO silence (uid, strength, app, since) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
            )
            .bind(1, uid).bind(2, strength).bind(3, principal.app).bind(4, time).run()
        }
    }

    func committed() { unwritten.removeAll() }
}
