import Glibc

/// A file in `Tests/Approved` with which a test compares output, so that a change of a screen shows as a difference of
/// a readable file. `CONTACTBROKER_APPROVE=1` writes the files instead.
public struct Approval {
    public struct Difference: Error, CustomStringConvertible {
        public let description: String
    }

    private let path: String
    private let name: String

    public init(folder: String, name: String) {
        path = "\(Self.path(of: folder))/\(name)"
        self.name = name
    }

    private static func path(of folder: String) -> String {
        // This file is in Tests/Support/Approval.
        let tests = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        return "\(tests)/Approved/\(folder)"
    }

    /// The sorted names of the files in a folder, with which a test finds those that no test writes.
    public static func names(in folder: String) -> [String] {
        guard let directory = opendir(path(of: folder)) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Whether the files are written instead of compared.
    public static var isWriting: Bool { getenv("CONTACTBROKER_APPROVE") != nil }

    /// The approved output; empty if there is none.
    public var approved: String { Self.read(path) ?? "" }

    /// Compares the output with the file, or writes it.
    public func check(_ output: String) throws(Difference) {
        guard Self.isWriting else {
            guard approved != output else { return }
            throw Difference(
                description: "\(name) shows something else; CONTACTBROKER_APPROVE=1 swift test approves it:\n\(output)")
        }
        guard let file = fopen(path, "w") else { throw Difference(description: "cannot write \(path)") }
        defer { fclose(file) }
        fputs(output, file)
    }

    /// The text of a file of at most 1 MiB; `nil` if it cannot be opened.
    public static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
