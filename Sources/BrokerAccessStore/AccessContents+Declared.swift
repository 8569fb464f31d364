import BrokerAccessControl
import BrokerSQLite

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
