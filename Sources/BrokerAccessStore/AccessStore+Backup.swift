import BrokerAccessControl
import BrokerDisclosure
import BrokerModel

/// What the store keeps about one app of one user, as a backup contains it. Access for one terminal session or process
/// is not part of it.
public struct BackedUpApp: Hashable, Sendable {
    public var strength: IdentityStrength
    public var app: String
    public var displayName = ""
    public var identifierKey: [UInt8]?
    public var grant: Grant?
    /// When the person chose never to be asked again, in seconds since 1970.
    public var silencedSince: Int64?

    public init(strength: IdentityStrength, app: String) { (self.strength, self.app) = (strength, app) }

    public func principal(of uid: UInt32) -> Principal { Principal(uid: uid, strength: strength, app: app) }
}

extension AccessStore {
    /// The apps of a user that have a grant, an identifier key or a choice never to be asked, in a stable order.
    public func backedUpApps(of uid: UInt32) -> [BackedUpApp] {
        Set(principals(of: uid)).union(identifierKeys.keys).union(silences.principals)
            .filter { $0.uid == uid && $0.binding == .persistent }
            .sorted { ($0.app, $0.strength.rawValue) < ($1.app, $1.strength.rawValue) }
            .map { principal in
                var app = BackedUpApp(strength: principal.strength, app: principal.app)
                app.displayName = held[principal]?.displayName ?? ""
                app.identifierKey = identifierKeys[principal]?.bytes
                app.grant = held[principal]?.grant
                app.silencedSince = silences.since(principal)
                return app
            }
    }

    /// Restores the identifier key of an app that has none, so that its identifiers stay the same.
    ///
    /// - Returns: `false` if the app has a key, or the bytes are no key.
    public func restoreIdentifierKey(_ bytes: [UInt8], for principal: Principal) -> Bool {
        guard identifierKeys[principal] == nil, let cipher = IdentifierCipher(key: bytes) else { return false }
        identifierKeys[principal] = IdentifierKey(bytes: bytes, cipher: cipher)
        batch.identifiers.insert(principal)
        noteDecision()
        mark(principal, .rows(added: [], removed: []))
        return true
    }

    /// Makes later record numbers higher than this one.
    public func skipRecordNumbers(through record: RecordNumber) {
        counters.recordNumber = max(counters.recordNumber, record.rawValue)
    }
}
