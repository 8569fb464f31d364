import CBrokerLinux
import Glibc
import Testing

@testable import BrokerPeerIdentity

@Suite("Hashing executables")
struct HashCacheTests {
    private let cache = HashCache(capacity: 256, settlingTime: 0)
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func inspect(at path: String) throws -> (CInt, clinux_file) {
        let file = clinux_open_path(AT_FDCWD, path, 1)
        try #require(file >= 0)
        var status = clinux_file()
        try #require(clinux_file_status(file, &status) == 0)
        return (file, status)
    }

    private func digest(_ path: String, with cache: HashCache? = nil) throws -> Executable.Digest {
        let (file, status) = try inspect(at: path)
        defer { close(file) }
        return (cache ?? self.cache).digest(of: file, status)
    }

    private func identity(_ path: String) throws -> FileIdentity {
        let (file, status) = try inspect(at: path)
        close(file)
        return FileIdentity(status)
    }

    @Test("The hash is the contents' SHA-256, even of an empty file")
    func hash() throws {
        // FIPS 180-2, appendix B.1, and the hash of an empty file.
        let abc = try folder.write(Array("abc".utf8), to: "abc")
        #expect(
            try digest(abc) == .sha256("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        let empty = try folder.write([], to: "empty")
        #expect(
            try digest(empty) == .sha256("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    }

    @Test("A file larger than the buffer is hashed to its end")
    func pieces() throws {
        var bytes = [UInt8](repeating: 7, count: 2 * 1_048_576 + 1)
        let one = try digest(try folder.write(bytes, to: "one"))
        bytes[bytes.count - 1] = 8
        let other = try digest(try folder.write(bytes, to: "other"))
        #expect(one != other)
    }

    @Test("A file is read once, and again after it was replaced or changed")
    func remembered() throws {
        let path = try folder.write(Array("first".utf8), to: "program")
        let before = try identity(path)
        let first = try digest(path)
        #expect(cache.remembered(before) != nil)

        let replacement = try folder.write(Array("other".utf8), to: "replacement")
        #expect(rename(replacement, path) == 0)
        #expect(try identity(path) != before)
        #expect(cache.remembered(try identity(path)) == nil)
        #expect(try digest(path) != first)
    }

    @Test("A change is detected even if size and modification time are the same")
    func timeSetBack() throws {
        let path = try folder.write(Array("first".utf8), to: "program")
        var before = stat()
        try #require(stat(path, &before) == 0)
        let first = try digest(path)
        let times = [before.st_atim, before.st_mtim]
        // A coarse clock can stand still for some milliseconds. Retry a limited number of times until it has moved.
        var after = stat()
        for _ in 0..<1_000_000 {
            _ = try folder.write(Array("other".utf8), to: "program")
            try #require(utimensat(AT_FDCWD, path, times, 0) == 0)
            try #require(stat(path, &after) == 0)
            if after.st_ctim.tv_nsec != before.st_ctim.tv_nsec { break }
        }
        #expect(after.st_size == before.st_size)
        #expect(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec)
        #expect(try digest(path) != first)
    }

    @Test("The cache is bounded, and drops the least recently used entry")
    func bound() throws {
        let cache = HashCache(capacity: 2, settlingTime: 0)
        let paths = try ["a", "b", "c"].map { try folder.write(Array($0.utf8), to: $0) }
        _ = try digest(paths[0], with: cache)
        _ = try digest(paths[1], with: cache)
        #expect(cache.remembered(try identity(paths[0])) != nil)
        _ = try digest(paths[2], with: cache)
        #expect(cache.remembered(try identity(paths[0])) != nil)
        #expect(cache.remembered(try identity(paths[1])) == nil)
        #expect(cache.remembered(try identity(paths[2])) != nil)
    }

    @Test("A file that has just changed is hashed but not cached")
    func unsettled() throws {
        let cache = HashCache(capacity: 256, settlingTime: 3_600)
        let path = try folder.write(Array("fresh".utf8), to: "program")
        #expect(try digest(path, with: cache) == digest(path))
        #expect(cache.remembered(try identity(path)) == nil)
    }

    @Test("A FIFO, a folder and a device are never opened")
    func notRegular() throws {
        let fifo = folder.path + "/fifo"
        try #require(mkfifo(fifo, 0o644) == 0)
        #expect(try digest(fifo) == .notRegular)
        #expect(try digest(folder.path) == .notRegular)
        #expect(try digest("/dev/zero") == .notRegular)
    }

    @Test("A file one byte above a gibibyte is not read; one of exactly a gibibyte is")
    func tooLarge() throws {
        let path = try folder.write([], to: "large")
        try #require(truncate(path, off_t(HashCache.sizeLimit) + 1) == 0)
        #expect(try digest(path) == .tooLarge)
        // At the bound the file is read, which fails here with another error.
        let (file, status) = try inspect(at: path)
        defer { close(file) }
        var atBound = status
        atBound.size = HashCache.sizeLimit
        try #require(truncate(path, 0) == 0)
        #expect(cache.digest(of: file, atBound) == .changing)
    }

    @Test("A file that grows while it is read gets no hash")
    func growing() throws {
        let path = try folder.write(Array("longer than it was".utf8), to: "program")
        let (file, status) = try inspect(at: path)
        defer { close(file) }
        var earlier = status
        earlier.size = 6
        #expect(cache.digest(of: file, earlier) == .changing)
        #expect(cache.digest(of: file, status) != .changing)
    }
}
