import BrokerModel
import CBrokerICU

/// The words of a text in the form in which they are looked for.
///
/// One form for what is stored and for what is typed; Chinese, Japanese and Korean text counts by character.
public struct SearchWords: Hashable, Sendable {
    /// Longest word kept, in bytes of UTF-8; both sides are cut alike, so that a longer one is still found.
    public static let wordSize = 64
    /// Most words kept of one stored text.
    public static let storedWords = 64
    /// Most words looked for at once; a text of more finds nobody.
    public static let queryWords = 16

    public let words: [String]
}

extension Normalizer {
    /// The words under which a stored text is found: each as written and, from another script, in Latin letters.
    public func storedWords(_ text: String) -> SearchWords {
        guard !text.isEmpty else { return SearchWords(words: []) }
        // Far more than the words kept can be long.
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

    /// Each word where it stands first, as many as are kept: so few that comparing them is quicker than a set.
    private static func once(_ words: [String]) -> [String] {
        var kept: [String] = []
        for word in words where kept.count < SearchWords.storedWords && !kept.contains(word) { kept.append(word) }
        return kept
    }

    /// The words of a whole name that is typed in one: `wangxiaoming`, `wxm` and, of Korean, the initial consonants. None of
    /// names in scripts with spaces, or of one part. Family name first, as they are said.
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
        // A character is a syllable, and a word.
        case .chinese: words.append(String(latin.compactMap(\.first)))
        case .korean: words.append(KoreanInitials.of(native))
        case .japanese: break
        }
        return words.compactMap { word in
            var end = word.utf8.startIndex
            // Whole letters of Latin or Hangul, none longer than three bytes.
            for scalar in word.unicodeScalars {
                let next = word.utf8.index(end, offsetBy: UTF8.width(scalar))
                guard word.utf8.distance(from: word.utf8.startIndex, to: next) <= SearchWords.wordSize else { break }
                end = next
            }
            let cut = word[..<end]
            return cut.isEmpty ? nil : String(cut)
        }
    }

    /// The words of what somebody typed, each of which must begin a stored word; `nil` where they are too many.
    public func queryWords(_ text: String) -> SearchWords? {
        guard text.utf8.count <= 4 * SearchWords.wordSize * SearchWords.queryWords else { return nil }
        let words = Set(split(folded(text), apostrophes: .joined))
        // A word that another one begins with says nothing more.
        let telling = words.filter { word in !words.contains { $0 != word && $0.hasPrefix(word) } }
        guard telling.count <= SearchWords.queryWords else { return nil }
        // The longest first: it finds the fewest.
        return SearchWords(
            words: telling.sorted { ($0.utf8.count, $1) > ($1.utf8.count, $0) })
    }

    /// The words of a name, to be compared with those of another; `nil` for one so long that nobody has it.
    func nameWords(_ text: String) -> [String]? {
        text.utf8.count <= 512 ? split(folded(text), apostrophes: .joined) : nil
    }

    private enum Apostrophes {
        /// O'Brien is obrien.
        case joined
        /// O'Brien is obrien, and brien for those who leave the O away.
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

    /// The same for what most texts are.
    private func splitASCII(_ text: String, apostrophes: Apostrophes) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        // Where the part after the last apostrophe begins.
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
