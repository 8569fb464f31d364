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

    @Test("New room is made before the last is used up, more each time, and not after a save that is large in itself")
    func more() throws {
        let book = try Book([person("Ada")])
        try book.store.checkpoint()
        let log = book.folder.file + "-wal"
        let ready = size(log)
        book.store.makeRoom()
        #expect(size(log) == ready)
        var number: Int64 = 1
        func save(_ sizes: Int...) throws {
            try book.store.apply(
                sizes.map { size in
                    number += 1
                    let note = String(repeating: "n", count: size)
                    return .add(RecordNumber(number), person("Bob") { $0.note = note })
                }, at: 0)
        }
        try save(300_000)
        book.store.makeRoom()
        #expect(size(log) == ready)
        try save(600_000)
        #expect(size(log) == ready)
        book.store.makeRoom()
        #expect(size(log) == ready + 2 << 20)
        // Large ones make the log longer themselves.
        for _ in 1...3 {
            try save(900_000, 900_000)
            let large = size(log)
            book.store.makeRoom()
            #expect(size(log) == large)
        }
        // A small one behind them has room again.
        let large = size(log)
        try save(1_000)
        book.store.makeRoom()
        #expect(size(log) >= large + 4 << 20)
        // And an emptied log begins as before.
        try book.store.checkpoint()
        #expect(size(log) == ready)
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
        let store = try #require(
            try ContactsStore.open(folder: survivor.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { store.close() }
        #expect(try store.existing([RecordNumber(1), RecordNumber(2)]).count == 2)
        try store.apply([.add(RecordNumber(3), person("Carl"))], at: 0)
        #expect(try store.existing([RecordNumber(3)]).count == 1)
    }
}
