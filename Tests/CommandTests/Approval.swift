import Glibc
import Testing

/// Compares output with the file of this name in `Tests/Approved/contactctl`, so that a change of a screen shows as
/// a difference of a readable file. `CONTACTBROKER_APPROVE=1` writes the files instead.
enum Approval {
    private static let folder =
        #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/Approved/contactctl"

    static func check(_ name: String, _ output: String) throws {
        let path = "\(folder)/\(name)"
        if getenv("CONTACTBROKER_APPROVE") != nil {
            let file = try #require(fopen(path, "w"))
            defer { fclose(file) }
            fputs(output, file)
            return
        }
        #expect(read(path) == output, "\(name) shows something else; CONTACTBROKER_APPROVE=1 swift test approves it")
    }

    static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
