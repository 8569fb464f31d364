import AccessControl
import ContactsModel

public final class AccessStore {
    init() {}
    public static func open(folder: String, now: Int64) throws(AccessStoreError) -> AccessStore {
        throw .unavailable(reason: "not written yet")
    }
    public func close(now: Int64) {}
    // grants
    public func grant(of principal: Principal) -> Grant? { nil }
    public var principals: [Principal] { [] }
    /// lastUsedAt: seconds since 1970. Counted from `.disclosure` records in `append`.
    public func usage(of principal: Principal) -> (lastUsedAt: Int64?, uses: Int) { (nil, 0) }
    public func displayName(of principal: Principal) -> String? { nil }
    public func nextRevision() -> Int64 { 0 }
    public func setGrant(_ grant: Grant, for principal: Principal, displayName: String) {}
    /// Reset: also drops the identifier key (of a standing principal, or a bound one's own).
    public func removeGrant(of principal: Principal) {}
    /// The grant ran out: removed, the identifier key stays.
    public func endGrant(of principal: Principal) {}
    /// Principals whose grant has run out by its time. now: seconds since 1970.
    public func expired(at now: Int64) -> [Principal] { [] }
    public func widen(_ principal: Principal, with records: Set<RecordNumber>) {}
    public func forget(_ records: Set<RecordNumber>, uid: UInt32) {}
    // identifiers
    public func identifiers(for principal: Principal, sharesStandingKey: Bool) -> IdentifierCipher? { nil }
    public func makeIdentifiers(
        for principal: Principal, sharesStandingKey: Bool
    ) throws(AccessStoreError) -> IdentifierCipher { throw .unavailable(reason: "not written yet") }
    // saves
    public func takeRecordNumbers(_ count: Int, now: Int64) -> [RecordNumber] { [] }
    public func beginSave(uid: UInt32, principal: Principal, adds: [RecordNumber]) -> Int64 { 0 }
    public func endSave(_ intent: Int64) {}
    public func openIntents() -> [SaveIntent] { [] }
    /// After a crash: what of `adds` is not among `existing` leaves the sets of that user, and the intent ends.
    public func resolveSave(_ intent: Int64, existing: Set<RecordNumber>) {}
    // batch
    public func append(_ record: AuditRecord) {}
    public var hasUncommitted: Bool { false }
    public func commit() throws(AccessStoreError) {}
    public var walSync: WALSync { WALSync() }
    /// Pages in the WAL after the last commit; past ``Checkpointer/pages`` run the checkpointer off the loop.
    public var walPages: Int { 0 }
    public var checkpointer: Checkpointer { Checkpointer() }
    // audit
    public func records(
        matching filter: AuditFilter, after sequence: Int64?, limit: Int, newestFirst: Bool = false
    ) throws(AccessStoreError) -> [AuditEntry] { [] }
    public func verify(from: Int64?, budget rows: Int) throws(AccessStoreError) -> AuditVerification {
        throw .unavailable(reason: "not written yet")
    }
    /// Reads the audit off the loop, on connections of its own.
    public var auditReader: AuditReader { AuditReader() }
    public var auditCount: Int64 { 0 }
    /// Hexadecimal digits.
    public var auditHead: String { "" }
    public func pseudonym(of record: RecordNumber, uid: UInt32) -> String { "" }
}

public final class WALSync: Sendable {
    public func sync() throws(AccessStoreError) {}
}
public struct Checkpointer: Sendable {
    public static let pages = 1_000
    public func run() throws(AccessStoreError) {}
}
public struct AuditReader: Sendable {
    public func records(
        matching filter: AuditFilter, after sequence: Int64?, limit: Int, newestFirst: Bool = false
    ) throws(AccessStoreError) -> [AuditEntry] { [] }
    public func verify(from: Int64?, budget rows: Int) throws(AccessStoreError) -> AuditVerification {
        throw .unavailable(reason: "not written yet")
    }
}
