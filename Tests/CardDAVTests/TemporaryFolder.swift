import Glibc

/// A folder that goes with its owner.
final class TemporaryFolder {
    let path: String
    private var names: Set<String> = [
        "carddav-port", "carddav-port.new", "carddav.sqlite", "carddav.sqlite-wal", "carddav.sqlite-shm",
    ]

    init() throws {
        var template = Array("/tmp/carddav.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Missing() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { unlink(path + "/" + name) }
        rmdir(path)
    }

    func write(_ text: String, to name: String) throws {
        names.insert(name)
        let file = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let bytes = Array(text.utf8)
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count, close(file) == 0 else { throw Missing() }
    }

    /// The bytes of a file as text; empty if it cannot be read.
    static func bytes(of path: String) -> String {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1_048_576)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    struct Missing: Error {}
}
