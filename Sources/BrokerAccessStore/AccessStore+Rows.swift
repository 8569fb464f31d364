import BrokerAccessControl
import BrokerSQLite

/// Writes the changed rows. All functions here run within the transaction of a commit.
extension AccessStore {
    func writeGrants(_ connection: Database) throws(AccessStoreError) {
        for (principal, change) in unwritten.grants { try writeGrant(of: principal, change, connection) }
    }

    private func writeGrant(
        of principal: Principal, _ change: SetChange, _ connection: Database
    ) throws(AccessStoreError) {
        let held = held[principal].flatMap { $0.grant.outlivesDaemon ? $0 : nil }
        let key = identifierKeys[principal]?.bytes
        guard held != nil || key != nil else {
            try connection.statement("DELETE FROM principal WHERE uid = ? AND strength = ? AND app = ?")
                .bind(1, Int64(principal.uid)).bind(2, principal.strength.rawValue).bind(3, principal.app).run()
            return
        }
        let upsert = try connection.statement(
            """
            INSERT INTO principal (uid, strength, app, displayName, identifierKey) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET displayName = excluded.displayName, identifierKey = excluded.identifierKey
            RETURNING id
            """)
        upsert.bind(1, Int64(principal.uid)).bind(2, principal.strength.rawValue).bind(3, principal.app)
            .bind(4, held?.displayName ?? "").bind(5, key)
        guard let id = try upsert.all({ $0.integer(0) }).last else {
            throw .unavailable(reason: "a principal could not be written")
        }
        guard let held else {
            try connection.statement("DELETE FROM appGrant WHERE principal = ?").bind(1, id).run()
            return
        }
        try GrantRows.write(held, usages[principal] ?? Usage(), of: id, connection)
        usages[principal]?.unwritten = 0
        try GrantRows.write(change, held.grant, of: id, connection)
        try GrantRows.write(change, held.grant.groups, of: id, connection)
        try GrantRows.write(held.history, of: id, connection)
    }

    /// Deletes resolved intents. This version of the broker creates no intents.
    func writeIntents(_ connection: Database) throws(AccessStoreError) {
        for id in unwritten.intents where intents[id] == nil {
            try connection.statement("DELETE FROM saveIntent WHERE id = ?").bind(1, id).run()
        }
    }
}

extension Grant {
    /// Whether the grant is bound to neither a session nor a process, and therefore outlives the daemon.
    fileprivate var outlivesDaemon: Bool {
        switch lifetime {
        case .untilRevoked, .untilTime: true
        case .session, .process: false
        }
    }
}
