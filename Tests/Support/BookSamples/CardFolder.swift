import Glibc

/// Cards that other programs wrote, in the folder of `CONTACTBROKER_CARDS`.
public enum CardFolder {
    /// The folder; `nil` if there is none to test with.
    public static let path = getenv("CONTACTBROKER_CARDS").map { String(cString: $0) }

    /// Returns the paths of the files below a folder, in order, without those whose names begin with a dot.
    public static func files(below folder: String) -> [String] {
        var paths: [String] = []
        var pending = [folder]
        while let next = pending.popLast() {
            guard let directory = opendir(next) else { continue }
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name.hasPrefix(".") { continue }
                if entry.pointee.d_type == DT_DIR {
                    pending.append("\(next)/\(name)")
                } else {
                    paths.append("\(next)/\(name)")
                }
            }
        }
        return paths.sorted()
    }

    /// Returns what a file holds; `nil` if it cannot be opened.
    public static func contents(of path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { result += buffer[..<count] }
        return result
    }
}
