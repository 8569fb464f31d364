import BrokerAccessControl
import BrokerSQLite

/// The folders that the person declared; see ``DeclaredFolder``. Only a session's broker uses them.
public final class FolderDeclarations {
    /// Keyed by UID and path.
    private var declared: [UInt32: [String: DeclaredFolder]]
    /// Users whose declared folders changed.
    private var unwritten: Set<UInt32> = []
    private let owners: Owners

    init(_ declared: [UInt32: [String: DeclaredFolder]], owners: Owners) {
        self.declared = declared
        self.owners = owners
    }

    /// The declared folders of all users, in no particular order.
    var all: [DeclaredFolder] { declared.values.flatMap(\.values) }

    /// The declared folders of a user, by path. A folder stays until it is removed, even if its declaration has ended.
    public func folders(of uid: UInt32) -> [DeclaredFolder] {
        (declared[uid] ?? [:]).values.sorted { $0.path < $1.path }
    }

    /// The declared folder at this path; `nil` if there is none.
    public func folder(at path: String, of uid: UInt32) -> DeclaredFolder? { declared[uid]?[path] }

    /// Stores a declared folder, in place of an earlier one at the same path. The next successful commit writes it; a failed
    /// commit does not undo it.
    public func declare(_ folder: DeclaredFolder) {
        owners.note(folder.uid)
        declared[folder.uid, default: [:]][folder.path] = folder
        unwritten.insert(folder.uid)
    }

    /// Removes a declared folder. It is removed at once, even if commits fail.
    public func end(_ folder: DeclaredFolder) {
        declared[folder.uid]?[folder.path] = nil
        unwritten.insert(folder.uid)
    }

    func purge(_ uid: UInt32) {
        declared[uid] = nil
        unwritten.remove(uid)
    }

    // MARK: Rows

    var hasUnwritten: Bool { !unwritten.isEmpty }

    func write(_ connection: Database) throws(AccessStoreError) {
        for uid in unwritten {
            try connection.statement("DELETE FROM declaredFolder WHERE uid = ?").bind(1, Int64(uid)).run()
            for folder in folders(of: uid) {
                let identity = folder.identity
                try connection.statement(
                    """
                    INSERT INTO declaredFolder
                        (uid, path, deviceMajor, deviceMinor, inode, createdSeconds, createdNanoseconds, ends)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """
                )
                .bind(1, Int64(uid)).bind(2, folder.path).bind(3, Int64(identity.deviceMajor))
                .bind(4, Int64(identity.deviceMinor)).bind(5, Int64(bitPattern: identity.inode))
                .bind(6, identity.createdSeconds).bind(7, Int64(identity.createdNanoseconds)).bind(8, folder.ends)
                .run()
            }
        }
    }

    func committed() { unwritten.removeAll() }
}
