/// What a file of contacts is written in, as far as its beginning tells.
public enum FileFormat: String, CaseIterable, Hashable, Sendable {
    case vcard, csv

    /// Bytes of a file's beginning that are looked at.
    public static let beginning = 4_096

    /// Looks at a file's first bytes, never at its name. `nil` where they are neither; an empty file is an empty vCard.
    public init?(beginning bytes: some Collection<UInt8>) {
        // UTF-16 in either order is ASCII with zeros between.
        var text = bytes.filter { $0 != 0 }
        for mark in [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF]] as [[UInt8]] where text.starts(with: mark) {
            text.removeFirst(mark.count)
        }
        let words = String(decoding: text, as: UTF8.self).uppercased()
        if words.allSatisfy(\.isWhitespace) || words.contains("BEGIN:VCARD") {
            self = .vcard
            return
        }
        let line = words.drop { $0.isWhitespace }.prefix { !$0.isNewline }
        guard CSVDelimiters.all.contains(where: { line.utf8.contains($0) }) else { return nil }
        self = .csv
    }
}
