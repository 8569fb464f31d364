import ContactsModel
import Glibc
import Testing

@testable import ContactsStore

@Suite("Room in the log of a book")
struct LogRoomTests {
    private func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : -1
    }

    @Test("After a checkpoint the log is begun and as long as the next saves need, and they do not make it longer")
    func room() throws {
        let book = try Book([person("Ada")])
        try book.store.checkpoint()
        let log = book.folder.file + "-wal"
        let ready = size(log)
        #expect(ready > 1 << 20)
        #expect(try book.folder.frames() == 1)
        for number in Int64(2)...5 { try book.store.apply([.add(RecordNumber(number), person("Bob"))], at: 0) }
        #expect(size(log) == ready)
        #expect(try book.folder.frames() > 4)
        #expect(try book.records().count == 5)
    }

    @Test("Room that is used up is made anew, and not after a save that is large in itself")
    func more() throws {
        let book = try Book([person("Ada")])
        try book.store.checkpoint()
        let log = book.folder.file + "-wal"
        let ready = size(log)
        book.store.makeRoom()
        #expect(size(log) == ready)
        let note = { (bytes: Int) in person("Bob") { $0.note = String(repeating: "n", count: bytes) } }
        try book.store.apply([.add(RecordNumber(2), note(900_000))], at: 0)
        try book.store.apply([.add(RecordNumber(3), note(400_000))], at: 0)
        let grown = size(log)
        #expect(grown > ready)
        book.store.makeRoom()
        #expect(size(log) == grown + 1 << 20)
        try book.store.apply([.add(RecordNumber(4), note(900_000)), .add(RecordNumber(5), note(900_000))], at: 0)
        try book.store.apply([.add(RecordNumber(6), note(900_000)), .add(RecordNumber(7), note(900_000))], at: 0)
        let large = size(log)
        book.store.makeRoom()
        #expect(size(log) == large)
    }

    @Test("A copy of the files, as a crash leaves them, has every save, with room behind it or without")
    func crash() throws {
        let book = try Book([person("Ada")])
        try book.store.checkpoint()
        try book.store.apply([.add(RecordNumber(2), person("Bob"))], at: 0)
        let survivor = try ScratchFolder()
        try #require(mkdir(survivor.book, 0o700) == 0)
        for name in ["", "-wal"] {
            let bytes = try book.folder.bytes(of: book.folder.file + name)
            let copy = open(survivor.file + name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try #require(copy >= 0)
            defer { close(copy) }
            try #require(write(copy, bytes, bytes.count) == bytes.count)
        }
        let store = try #require(try ContactsStore.open(folder: survivor.book, owner: owner, creating: false))
        defer { store.close() }
        #expect(try store.existing([RecordNumber(1), RecordNumber(2)]).count == 2)
        try store.apply([.add(RecordNumber(3), person("Carl"))], at: 0)
        #expect(try store.existing([RecordNumber(3)]).count == 1)
    }
}
