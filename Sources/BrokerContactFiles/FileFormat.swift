/// The format of a file of contacts, detected from its beginning.
public enum FileFormat: String, CaseIterable, Hashable, Sendable {
    case vcard, csv, ldif

    /// The number of bytes to inspect at the beginning of a file.
    public static let beginning = 4_096

    /// Detects the format from a file's first bytes, never from its name. Returns `nil` if the file has
    /// none of the formats. An empty file counts as an empty vCard.
    public init?(beginning bytes: some Collection<UInt8>) {
        // In UTF-16 of either byte order, ASCII text consists of ASCII bytes with zero bytes between them.
        var text = bytes.filter { $0 != 0 }
        for mark in [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF]] as [[UInt8]] where text.starts(with: mark) {
            text.removeFirst(mark.count)
        }
        let words = String(decoding: text, as: UTF8.self).uppercased()
        let first = words.split(whereSeparator: \.isNewline).first {
            !$0.hasPrefix("#") && !$0.allSatisfy(\.isWhitespace)
        }
        // An entry's name, or the version of LDIF (RFC 2849, version-spec).
        if let first, first.hasPrefix("DN:") || ["VERSION: 1", "VERSION:1"].contains(first) {
            self = .ldif
            return
        }
        if words.allSatisfy(\.isWhitespace) || words.contains("BEGIN:VCARD") {
            self = .vcard
            return
        }
        let line = words.drop { $0.isWhitespace }.prefix { !$0.isNewline }
        guard CSVDelimiters.all.contains(where: { line.utf8.contains($0) }) else { return nil }
        self = .csv
    }
}
