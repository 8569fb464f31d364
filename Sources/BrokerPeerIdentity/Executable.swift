/// The file that a process runs, from `/proc/PID/exe`.
public struct Executable: Hashable, Sendable {
    /// The link's text without ` (deleted)`, in the form of ``ExecutablePath``.
    public let path: String
    /// Whether the file at this path was deleted or replaced, for example by an upgrade. The process still
    /// runs the old file.
    public let isDeleted: Bool
    public let file: FileIdentity
    public let digest: Digest
    /// The group that the file gives to a process that executes it (setgid); `nil` if it is not setgid.
    public var setGroup: UInt32?
    /// The path of the system's interpreter that is this file or has the same contents, or `nil`.
    public let sameAsInterpreter: String?

    /// SHA-256 of the file, or why there is none.
    public enum Digest: Hashable, Sendable {
        /// 64 lower-case hexadecimal digits.
        case sha256(String)
        case notRegular
        /// More than ``HashCache/sizeLimit`` bytes.
        case tooLarge
        /// The file is not on a local file system. A server or a program can answer every read differently,
        /// or never.
        case notLocal
        /// The file was written to while it was read.
        case changing
        case unreadable(errno: CInt)
    }

    /// The part of the path after the last slash.
    public var name: String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }
}

/// Converts an executable's path, which is a byte string, to text.
///
/// Any program can choose the bytes of a path. Control characters, backslashes and bytes that are not UTF-8
/// are written as `\xNN`. Two paths therefore never have the same text, and no path breaks a line.
enum ExecutablePath {
    static func text(of bytes: some Sequence<UInt8>) -> String {
        var text = ""
        var rest = Array(bytes)[...]
        while let byte = rest.first {
            let length = scalarLength(startingWith: byte)
            let piece = rest.prefix(length)
            if let scalar = String(validating: piece, as: UTF8.self)?.unicodeScalars.first, isPlain(scalar) {
                text.unicodeScalars.append(scalar)
                rest = rest.dropFirst(length)
            } else {
                text += "\\x" + hexadecimal(byte)
                rest = rest.dropFirst()
            }
        }
        return text
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && !(0x7f...0x9f).contains(scalar.value) && scalar != "\\"
    }

    private static func scalarLength(startingWith byte: UInt8) -> Int {
        switch byte {
        case 0xc2...0xdf: 2
        case 0xe0...0xef: 3
        case 0xf0...0xf4: 4
        default: 1
        }
    }
}

/// Returns two lower-case hexadecimal digits.
func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return byte < 16 ? "0" + digits : digits
}
