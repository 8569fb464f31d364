import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerDisclosure
import BrokerLedger
import BrokerVarlink

/// The connections of programs that speak CardDAV, and the passwords that open them. It lives on the event loop.
///
/// A password is made here, told once, and kept only as its hash. It has 130 random bits, so a plain hash is enough.
package final class CardDAVAccess {
    private let surroundings: Surroundings
    private let access: AccessStore
    private let groupCommit: GroupCommit
    private let grants: Grants
    private let sessions: Sessions
    private let history: History
    /// How fast wrong passwords of a user are answered. A right one never waits.
    private var wrong: Pace<UInt32>
    /// The service's connection on which it told where it listens.
    private weak var service: CallerSession?
    /// The port on which the service listens; `nil` while it is not connected.
    package private(set) var port: Int?

    package init(
        surroundings: Surroundings, access: AccessStore, groupCommit: GroupCommit, grants: Grants, sessions: Sessions,
        history: History
    ) {
        self.surroundings = surroundings
        self.access = access
        self.groupCommit = groupCommit
        self.grants = grants
        self.sessions = sessions
        self.history = history
        wrong = Pace(
            LeakyBucket.Size(
                amount: Int64(surroundings.limits.wrongPasswords),
                time: surroundings.limits.wrongPasswordsWithin.microseconds))
    }

    /// Notes where the service listens, until its connection closes.
    package func announce(_ port: Int, by service: CallerSession) { (self.service, self.port) = (service, port) }

    /// Call this when a connection to the broker has closed.
    package func closed(_ session: CallerSession) { if session === service { port = nil } }

    /// Makes a connection, or gives an existing one another password.
    ///
    /// - Returns: the password; `nil` if libcrypto has no random numbers.
    package func make(_ name: String, of uid: UInt32, by source: String) -> String? {
        let former = access.connections.connection(named: name, of: uid)
        guard let (password, hash) = Self.newPassword(), let random = IdentifierCipher.random(32) else { return nil }
        var connection =
            former
            ?? CardDAVConnection(
                uid: uid, name: name, identifier: Hexadecimal.text(random[..<16]), key: Array(random[16...]),
                passwordHash: hash,
                madeAt: surroundings.seconds)
        connection.passwordHash = hash
        access.connections.store(connection)
        if let former { close(former) }
        record(connection, former == nil ? "connected, \(source)" : "new password, \(source)")
        return password
    }

    /// Ends a connection with its grant. Another one of its name begins with nothing: it has another key for identifiers.
    package func end(_ connection: CardDAVConnection, by source: String) {
        access.connections.remove(connection)
        record(connection, "disconnected, \(source)")
        // A denial stays: only the person has the program ask again.
        if let grant = access.grant(of: connection.principal), grant.access != .denied {
            grants.endGrant(connection.principal, detail: "disconnected")
        }
        history.moved(connection.uid)
        close(connection)
    }

    /// Closes the connections on which this one is used.
    private func close(_ connection: CardDAVConnection) {
        for session in sessions.all where session.caller.principals.last == connection.principal {
            session.connection?.close()
        }
    }

    /// Whether the connection that opened a session still exists, with the same password. `true` for any other session.
    package func isStillOpen(_ session: CallerSession) -> Bool {
        guard let opened = session.openedBy else { return true }
        let now = access.connections.connection(named: opened.name, of: opened.uid)
        return now?.identifier == opened.identifier && now?.passwordHash == opened.passwordHash
    }

    // MARK: Passwords

    /// Returns the connection that this password opens. An unknown name and a wrong password are the same.
    package func connection(_ name: String, of uid: UInt32, opensWith password: String) -> CardDAVConnection? {
        let known = access.connections.connection(named: name, of: uid)
        guard let hash = PasswordHash.of(password) else { return nil }
        // Without such a connection, the hash is compared with one that no password has.
        let other = known?.passwordHash ?? [UInt8](repeating: 0, count: hash.count)
        return PasswordHash.areEqual(hash, other) ? known : nil
    }

    /// Whether the connection has been without access for longer than it may be. Until then its password opens an empty book,
    /// so that a program removes its copies. The time begins with its first use without access.
    ///
    /// - Parameter hasAccess: whether it has access now, by a grant or by a rule.
    package func hasLapsed(_ connection: CardDAVConnection, hasAccess: Bool) -> Bool {
        let now = surroundings.seconds
        let lapsedAt = hasAccess ? nil : connection.lapsedAt ?? now
        if lapsedAt != connection.lapsedAt {
            var connection = connection
            connection.lapsedAt = lapsedAt
            access.connections.store(connection)
            groupCommit.commitSoon()
        }
        return lapsedAt.map { now - $0 >= surroundings.limits.lapsedConnection.components.seconds } ?? false
    }

    /// Counts a wrong password.
    ///
    /// - Returns: how long its answer must wait.
    package func wait(afterWrongOf uid: UInt32) -> Duration {
        let now = surroundings.uptime()
        wrong.add(1, to: uid, now: now)
        return min(.microseconds(wrong.wait(of: uid, now: now)), surroundings.limits.longestWrongPasswordWait)
    }

    /// 26 characters of 5 bits each. Letters and digits that look alike are not among them.
    private static let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)

    private static func newPassword() -> (String, hash: [UInt8])? {
        guard let random = IdentifierCipher.random(26) else { return nil }
        // 256 is a multiple of 32, so each character is as likely as any other.
        let password = String(decoding: random.map { alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
        return PasswordHash.of(password).map { (password, $0) }
    }

    private func record(_ connection: CardDAVConnection, _ detail: String) {
        groupCommit.record(
            .connection, uid: connection.uid, app: connection.name, strength: .password, detail: detail)
    }
}
