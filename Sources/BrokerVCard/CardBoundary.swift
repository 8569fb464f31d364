/// The beginning or the end of a card: `BEGIN:VCARD` or `END:VCARD`, in any case and with white space around each word.
package struct CardBoundary {
    package enum Word {
        case begin, end
    }

    package let word: Word
    /// The number of bytes from the beginning of the text that belong to the boundary. To an end belongs all that is
    /// before the next boundary.
    package let length: Int
    /// Whether an end has another value than VCARD.
    let isOdd: Bool

    /// - Parameter text: a line, or the remainder of a line after another boundary.
    package init?(_ text: ArraySlice<UInt8>) {
        // Concatenated files can have byte order marks in the middle.
        var start = text.startIndex
        while start < text.endIndex, ASCII.isSpace(text[start]) || text[start...].starts(with: Self.byteOrderMark) {
            start += ASCII.isSpace(text[start]) ? 1 : 3
        }
        guard let (word, end, hasValue) = Self.word(in: text, at: start) else { return nil }
        var next = end
        switch word {
        case .begin:
            guard hasValue else { return nil }
            while next < text.endIndex, ASCII.isSpace(text[next]) { next += 1 }
        case .end:
            while next < text.endIndex {
                if let found = Self.word(in: text, at: next), found.hasValue { break }
                next += 1
            }
            // An END without VCARD ends the card only if another one begins in the same line.
            guard hasValue || next < text.endIndex else { return nil }
        }
        self.word = word
        length = next - text.startIndex
        isOdd = word == .end && (!hasValue || next < text.endIndex || !text[end...].allSatisfy(ASCII.isSpace))
    }

    /// Finds BEGIN or END with its colon, and VCARD after it.
    private static func word(in text: ArraySlice<UInt8>, at start: Int) -> (Word, end: Int, hasValue: Bool)? {
        guard start < text.endIndex else { return nil }
        let word: Word
        var end = start
        switch ASCII.upper(text[start]) {
        case UInt8(ascii: "B"): (word, end) = (.begin, start + 5)
        case UInt8(ascii: "E"): (word, end) = (.end, start + 3)
        default: return nil
        }
        guard end < text.endIndex, ASCII.equal(text[start..<end], word == .begin ? "BEGIN" : "END") else { return nil }
        func skipSpace() { while end < text.endIndex, ASCII.isSpace(text[end]) { end += 1 } }
        skipSpace()
        guard end < text.endIndex, text[end] == UInt8(ascii: ":") else { return nil }
        end += 1
        let colon = end
        skipSpace()
        guard ASCII.equal(text[end...].prefix(5), "VCARD") else { return (word, colon, false) }
        return (word, end + 5, true)
    }

    /// Returns the length of an `END:VCARD` at the end of a text; 0 if there is none.
    static func end(of text: ArraySlice<UInt8>) -> Int {
        let tail = text.suffix(64)
        for start in tail.indices.reversed() {
            guard let found = word(in: tail, at: start), found.0 == .end, found.hasValue else { continue }
            return tail[found.end...].allSatisfy(ASCII.isSpace) ? tail.endIndex - start : 0
        }
        return 0
    }

    private static let byteOrderMark = StreamDecoder.byteOrderMark
}
