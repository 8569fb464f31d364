import BrokerAccessControl
import BrokerSQLite

/// Silences prompts of apps for which the person chose "never ask again".
extension AccessStore {
    public func isSilenced(_ principal: Principal) -> Bool { silenced[principal] != nil }

    /// When prompts were silenced, in seconds since 1970; `nil` if they are not.
    public func silencedSince(_ principal: Principal) -> Int64? { silenced[principal] }

    /// The number of one user's silenced principals, including those bound to sessions and processes.
    public func silenceCount(_ uid: UInt32) -> Int { silenced.keys.count { $0.uid == uid } }

    /// All silenced principals, in no particular order.
    public var silencedPrincipals: [Principal] { Array(silenced.keys) }

    /// Silences a principal's prompts. The silence applies at once, even if commits fail. If the principal is
    /// persistent, the next successful commit writes the silence.
    ///
    /// - Parameter now: seconds since 1970.
    public func silence(_ principal: Principal, now: Int64) {
        guard silenced[principal] == nil else { return }
        if principal.binding == .persistent { noteOwner(of: principal.uid) }
        silenced[principal] = now
        noteSilence(principal)
    }

    /// Allows a silenced principal to prompt again.
    public func endSilence(of principal: Principal) {
        guard silenced.removeValue(forKey: principal) != nil else { return }
        noteSilence(principal)
    }

    /// Principals bound to a session or a process are never written.
    private func noteSilence(_ principal: Principal) {
        if principal.binding == .persistent { unwritten.silences.insert(principal) }
    }

    func writeSilences(_ connection: Database) throws(AccessStoreError) {
        for principal in unwritten.silences {
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
}
