/// The open files of the store: its locked folder, the connection that writes the database, and the sync of the log.
final class AccessFile {
    let folder: StateFolder
    /// `nil` after the store is closed.
    private(set) var writer: AccessWriter?
    let walSync: WALSync

    init(folder: StateFolder, writer: AccessWriter, position: SyncedPosition) throws(AccessStoreError) {
        self.folder = folder
        self.writer = writer
        walSync = try WALSync(database: folder.database, position: position)
    }

    // The connection closes before the folder's lock is released, so that no other broker opens the file in between.
    deinit { writer = nil }

    /// Returns the writer; throws if the store is closed.
    func openWriter() throws(AccessStoreError) -> AccessWriter {
        guard let writer else { throw .unavailable(reason: "the access database is closed") }
        return writer
    }

    /// Checks whether the files were removed while the store is open. Does not block.
    func check() throws(AccessStoreError) {
        guard !walSync.isRemoved else { throw .removed(path: folder.database) }
    }

    /// Closes the connection and releases the folder.
    func close() {
        writer = nil
        folder.release()
    }
}
