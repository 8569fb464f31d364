/// Why a trusted file cannot be read: the file, the line if known, the key, and the reason.
public struct TrustedFileError: Error, Hashable, Sendable, CustomStringConvertible {
    public let file: String
    /// Counted from 1.
    public let line: Int?
    /// The key with its table, such as `rule[2].force`.
    public let key: String?
    public let reason: String

    public init(file: String, line: Int? = nil, key: String? = nil, reason: String) {
        self.file = file
        self.line = line
        self.key = key
        self.reason = reason
    }

    /// In the format of compilers: `FILE:LINE: KEY: REASON`.
    public var description: String {
        file + (line.map { ":\($0)" } ?? "") + ": " + (key.map { $0 + ": " } ?? "") + reason
    }
}
