import Glibc

/// A folder that goes with its owner.
final class TemporaryFolder {
    let path: String
    private var names: Set<String> = ["carddav-port", "carddav-port.new"]

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

    struct Missing: Error {}
}
