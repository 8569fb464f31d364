import BrokerAccessControl
import BrokerSQLite

/// The folders that the person declared; see ``DeclaredFolder``. Only a session's broker uses them.
extension AccessStore {
    /// The declared folders of a user, by path. A folder stays until it is removed, even if its declaration has ended.
    public func declaredFolders(of uid: UInt32) -> [DeclaredFolder] {
        (declared[uid] ?? [:]).values.sorted { $0.path < $1.path }
    }

    /// The declared folder at this path; `nil` if there is none.
    public func declaredFolder(at path: String, of uid: UInt32) -> DeclaredFolder? { declared[uid]?[path] }

    /// Stores a declared folder, in place of an earlier one at the same path. The next successful commit writes it; a failed
    /// commit does not undo it.
    public func declare(_ folder: DeclaredFolder) {
        noteOwner(of: folder.uid)
        declared[folder.uid, default: [:]][folder.path] = folder
        unwritten.declared.insert(folder.uid)
    }

    /// Removes a declared folder. It is removed at once, even if commits fail.
    public func endDeclaration(of folder: DeclaredFolder) {
        declared[folder.uid]?[folder.path] = nil
        unwritten.declared.insert(folder.uid)
    }

    func writeDeclared(_ connection: Database) throws(AccessStoreError) {
        for uid in unwritten.declared {
            try connection.statement("DELETE FROM declaredFolder WHERE uid = ?").bind(1, Int64(uid)).run()
            for folder in declaredFolders(of: uid) {
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
}

extension AccessContents {
    mutating func readDeclared(_ connection: Database) throws(AccessStoreError) {
        let rows = try PreparedStatement(
            """
            SELECT uid, path, deviceMajor, deviceMinor, inode, createdSeconds, createdNanoseconds, ends
            FROM declaredFolder
            """, on: connection)
        while try rows.step() {
            guard let uid = rows.numberOrNil(0), let path = rows.textOrNil(1),
                let major = rows.numberOrNil(2),
                let minor = rows.numberOrNil(3), let inode = rows.integerOrNil(4),
                let seconds = rows.integerOrNil(5),
                let nanoseconds = rows.numberOrNil(6), let ends = rows.integerOrNil(7)
            else { throw .damaged(reason: "declaredFolder: a row cannot be read") }
            declared[uid, default: [:]][path] = DeclaredFolder(
                uid: uid, path: path,
                identity: FolderIdentity(
                    deviceMajor: major, deviceMinor: minor, inode: UInt64(bitPattern: inode), createdSeconds: seconds,
                    createdNanoseconds: nanoseconds),
                ends: ends)
        }
    }
}
