import BrokerModel
import CBrokerICU

/// The words of a stored text or of a query, in the form that a search compares.
///
/// Chinese, Japanese and Korean text is split by character.
public struct SearchWords: Hashable, Sendable {
    /// The maximum size of a word, in bytes of UTF-8. Stored words and query words are both truncated to this
    /// size, so a search finds longer words too.
    public static let wordSize = 64
    /// The maximum number of words in one stored text.
    public static let storedWords = 64
    /// The maximum number of words in one query. A query with more words matches nothing.
    public static let queryWords = 16

    public let words: [String]
}

extension Normalizer {
    /// Returns the words by which a search finds a stored text. A word that is not in Latin letters is
    /// included both as written and in Latin letters.
    public func storedWords(_ text: String) -> SearchWords {
        guard !text.isEmpty else { return SearchWords(words: []) }
        // The limit is four times the total size of the words that can be kept, so normally clipping drops
        // only text beyond the last kept word.
        let text = clipped(text, to: 4 * SearchWords.wordSize * SearchWords.storedWords)
        let native = folded(text)
        var words = split(native, apostrophes: .both)
        if !native.utf8.allSatisfy({ $0 < 0x80 }) {
            let latin = split(foldedLatin(text), apostrophes: .both)
            words += latin
            if native.unicodeScalars.contains(where: { (0x0400...0x052F).contains($0.value) }) {
                words += split(foldedRussian(text), apostrophes: .both)
            }
            if let script = EastAsianScript(native) { words += Self.joined(native, latin, script) }
        }
        return SearchWords(words: Self.once(words))
    }

    /// Returns the first occurrence of each word, up to the limit. For so few words, comparing is faster than
    /// a set.
    private static func once(_ words: [String]) -> [String] {
        var kept: [String] = []
        for word in words where kept.count < SearchWords.storedWords && !kept.contains(word) { kept.append(word) }
        return kept
    }

    /// Returns the words for a whole name that is typed without spaces, family name first: `wangxiaoming`,
    /// `wxm` for Chinese, and the initial consonants for Korean. Returns none for a name in a script that
    /// uses spaces, or a name with only one part.
    public func wholeNameWords(familyName: String, givenName: String) -> [String] {
        guard !familyName.isEmpty, !givenName.isEmpty, !familyName.utf8.allSatisfy({ $0 < 0x80 }),
            familyName.utf8.count + givenName.utf8.count <= 4 * SearchWords.wordSize
        else { return [] }
        let (family, given) = (folded(familyName), folded(givenName))
        guard let script = EastAsianScript(family), script == EastAsianScript(given) else { return [] }
        let latin =
            split(foldedLatin(familyName), apostrophes: .joined) + split(foldedLatin(givenName), apostrophes: .joined)
        return Self.joined(family + given, latin, script)
    }

    /// - Parameters:
    ///   - native: the folded text.
    ///   - latin: its words in Latin letters.
    private static func joined(_ native: String, _ latin: [String], _ script: EastAsianScript) -> [String] {
        var words = [latin.joined()]
        switch script {
        // Each character is a syllable and a word.
        case .chinese: words.append(String(latin.compactMap(\.first)))
        case .korean: words.append(KoreanInitials.of(native))
        case .japanese: break
        }
        return words.compactMap { word in
            var end = word.utf8.startIndex
            // Cuts between letters; Latin and Hangul letters take at most three bytes.
            for scalar in word.unicodeScalars {
                let next = word.utf8.index(end, offsetBy: UTF8.width(scalar))
                guard word.utf8.distance(from: word.utf8.startIndex, to: next) <= SearchWords.wordSize else { break }
                end = next
            }
            let cut = word[..<end]
            return cut.isEmpty ? nil : String(cut)
        }
    }

    /// Returns the words of a query, each of which must be a prefix of a stored word; `nil` if the text is
    /// too long or has too many words.
    public func queryWords(_ text: String) -> SearchWords? {
        guard text.utf8.count <= 4 * SearchWords.wordSize * SearchWords.queryWords else { return nil }
        let words = Set(split(folded(text), apostrophes: .joined))
        // A word that is a prefix of another query word adds nothing.
        let distinct = words.filter { word in !words.contains { $0 != word && $0.hasPrefix(word) } }
        guard distinct.count <= SearchWords.queryWords else { return nil }
        // The longest word is first, because it usually matches the fewest contacts.
        return SearchWords(
            words: distinct.sorted { ($0.utf8.count, $1) > ($1.utf8.count, $0) })
    }

    /// Returns the words of a name, to be compared with those of another name; `nil` if the name is
    /// implausibly long.
    func nameWords(_ text: String) -> [String]? {
        text.utf8.count <= 512 ? split(folded(text), apostrophes: .joined) : nil
    }

    private enum Apostrophes {
        /// O'Brien becomes obrien.
        case joined
        /// O'Brien becomes obrien and also brien, because some people omit the O.
        case both
    }

    private func split(_ text: String, apostrophes: Apostrophes) -> [String] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return splitASCII(text, apostrophes: apostrophes) }
        var words: [String] = []
        var word = String.UnicodeScalarView()
        var part = String.UnicodeScalarView()
        func end() {
            if !word.isEmpty { words.append(clipped(String(word), to: SearchWords.wordSize)) }
            if apostrophes == .both, part.count < word.count, !part.isEmpty {
                words.append(clipped(String(part), to: SearchWords.wordSize))
            }
            word = .init()
            part = .init()
        }
        for scalar in text.unicodeScalars {
            switch cicu_class_of(scalar.value) {
            case CICU_PART:
                word.append(scalar)
                part.append(scalar)
            case CICU_APOSTROPHE:
                part = .init()
            case CICU_IDEOGRAPH:
                end()
                words.append(String(scalar))
            default: end()
            }
        }
        end()
        return words
    }

    /// A fast path for ASCII, because most texts are ASCII.
    private func splitASCII(_ text: String, apostrophes: Apostrophes) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        // Start of the part after the last apostrophe.
        var part = 0
        func end() {
            if !word.isEmpty { words.append(String(decoding: word.prefix(SearchWords.wordSize), as: UTF8.self)) }
            if apostrophes == .both, part > 0, part < word.count {
                words.append(String(decoding: word[part...].prefix(SearchWords.wordSize), as: UTF8.self))
            }
            word.removeAll(keepingCapacity: true)
            part = 0
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): word.append(byte)
            case UInt8(ascii: "'"): part = word.count
            default: end()
            }
        }
        end()
        return words
    }
}
