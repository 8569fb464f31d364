import Glibc
import Testing

/// A temporary folder, which is removed with everything in it.
final class TestFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/command-test-XXXXXX".utf8CString)
        path = try #require(mkdtemp(&template).map { String(cString: $0) })
    }

    deinit { Self.remove(path) }

    /// The names of the files in the folder, sorted.
    var names: [String] { Self.names(in: path) }

    func has(_ name: String) -> Bool { access("\(path)/\(name)", F_OK) == 0 }

    func write(_ text: String, to name: String) throws {
        let file = try #require(fopen("\(path)/\(name)", "we"))
        fputs(text, file)
        fclose(file)
    }

    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func remove(_ path: String) {
        // Try to unlink it first, so that a symbolic link is removed and its target is never entered.
        guard unlink(path) != 0 else { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        rmdir(path)
    }
}
