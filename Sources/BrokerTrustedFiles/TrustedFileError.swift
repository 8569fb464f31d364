/// Why a file that says what the broker does cannot be read: the file, the line where there is one, and what is wrong with which key.
public struct TrustedFileError: Error, Hashable, Sendable, CustomStringConvertible {
    public let file: String
    /// From 1.
    public let line: Int?
    /// With its table, as `rule[2].force`.
    public let key: String?
    public let reason: String

    public init(file: String, line: Int? = nil, key: String? = nil, reason: String) {
        self.file = file
        self.line = line
        self.key = key
        self.reason = reason
    }

    /// As compilers write it: `FILE:LINE: KEY: REASON`.
    public var description: String {
        file + (line.map { ":\($0)" } ?? "") + ": " + (key.map { $0 + ": " } ?? "") + reason
    }
}
