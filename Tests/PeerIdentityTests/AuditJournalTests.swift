import BrokerAccessStore
import Glibc
import Testing

@testable import contactbrokerd

@Suite("The position of the journal, which earlier versions kept in a file")
struct AuditJournalTests {
    private static func withStore(_ body: (String, AccessStore) throws -> Void) throws {
        var template = Array("/tmp/audit-journal.XXXXXX".utf8CString)
        let folder = String(cString: try #require(mkdtemp(&template)))
        defer {
            for name in ["access.sqlite", "access.synced", "lock", "audit-journal"] { unlink(folder + "/" + name) }
            rmdir(folder + "/audit-journal")
            rmdir(folder)
        }
        let store = try AccessStore.open(folder: folder, now: 1)
        try body(folder, store)
        store.close(now: 2)
    }

    private static func write(_ text: String, to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let bytes = Array(text.utf8)
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    @Test(
        "The journal goes on after the record in the file; if the file cannot be read, it gets all records, with one warning",
        arguments: [
            ("12\n", 12, false), ("0\n", 0, false), ("", 0, true), ("1", 0, true), ("12", 0, true), ("-1\n", 0, true),
            ("\0\0\0\n", 0, true), ("99999999999999999999\n", 0, true),
        ])
    func file(text: String, position: Int64, warns: Bool) throws {
        try Self.withStore { folder, store in
            try Self.write(text, to: folder + "/audit-journal")
            #expect((AuditJournal.takeOverPosition(in: folder, store) != nil) == warns)
            #expect(store.audit.forwarded == position)
            // Once the audit has the position, the file is neither read nor needed.
            try Self.write("7\n", to: folder + "/audit-journal")
            #expect(AuditJournal.takeOverPosition(in: folder, store) == nil)
            #expect(store.audit.forwarded == position)
            #expect(access(folder + "/audit-journal", F_OK) != 0)
        }
    }

    @Test("Without a file the setting is new, and a file that is no file counts as unreadable")
    func none() throws {
        try Self.withStore { folder, store in
            #expect(AuditJournal.takeOverPosition(in: folder, store) == nil)
            #expect(store.audit.forwarded == nil)
            try #require(mkdir(folder + "/audit-journal", 0o700) == 0)
            #expect(AuditJournal.takeOverPosition(in: folder, store) != nil)
            #expect(store.audit.forwarded == 0)
        }
    }
}
