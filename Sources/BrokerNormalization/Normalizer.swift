import CBrokerICU
import CBrokerPhoneNumber

/// Turns names, words, addresses and numbers into the forms in which they are compared.
///
/// It holds objects of ICU, which belong to one thread: whoever owns it makes one of their own.
public final class Normalizer {
    private let collator: OpaquePointer
    private let folder: OpaquePointer

    /// Whose alphabet decides the order.
    public let locale: String

    /// Where numbers are dialled that are written without a country: two capital letters, or `ZZ` for nobody knows where.
    public let region: String

    /// By which rules forms are made: ours, ICU's and the locale's. Forms of different rules do not compare.
    public let version: String

    /// Rises with every change of what this module makes of a text, and of what a book keeps of that.
    private static let rules = 3

    /// - Parameters:
    ///   - locale: whose alphabet decides the order, as in `de_DE`; `""` and unknown ones are the root's.
    ///   - region: where phone numbers are dialled that are written without a country, as in `DE`; `""` and unknown ones
    ///     are nowhere, so that such numbers match by their digits, whatever the country.
    /// - Returns: `nil` where ICU's data are missing.
    public init?(locale: String, region: String = "") {
        // The environment's form has an encoding and perhaps a modifier behind it: de_DE.UTF-8@euro.
        let locale = String(locale.prefix { $0 != "." && $0 != "@" })
        guard let collator = cicu_collator_open(locale.isEmpty ? "root" : locale) ?? cicu_collator_open("root") else {
            return nil
        }
        guard let folder = cicu_folder_open() else {
            cicu_collator_close(collator)
            return nil
        }
        self.collator = collator
        self.locale = locale
        self.folder = folder
        // Whether there is such a region is for libphonenumber to say when it reads a number: its plans are large.
        let isRegion = region.utf8.count == 2 && region.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        self.region = isRegion ? region : "ZZ"
        var version: [UInt8] = [0, 0, 0, 0]
        cicu_collator_version(collator, &version)
        self.version =
            "\(Self.rules) " + version.map { String($0) }.joined(separator: ".") + " " + locale
            + " " + self.region
    }

    /// Reads what the first text with other than plain letters, the first phone number and the first Chinese character would
    /// otherwise wait for: some 100 ms, once for each process. From any thread.
    public static func prepare() {
        cphonenumber_prepare()
        cicu_prepare()
    }

    deinit {
        cicu_collator_close(collator)
        cicu_folder_close(folder)
    }

    func collationBytes(_ text: String, capacity: Int) -> [UInt8] {
        var text = text
        return text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { characters in
                // ICU writes at most the capacity it is told, and `count` is what it wrote of that.
                [UInt8](unsafeUninitializedCapacity: capacity + 1) { out, count in
                    // One byte more than is kept: ICU ends a key that fits with a zero.
                    let size = cicu_collation_key(
                        collator, characters.baseAddress, characters.count, out.baseAddress, capacity + 1)
                    count = min(max(size, 0), capacity)
                }
            }
        }
    }

    /// The text in its compared form: NFKC, case folded, accents off, Latin letters in ASCII.
    public func folded(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
        }
        return transformed(text, cicu_fold)
    }

    /// The text with capitals and wide forms made small and plain (NFKC_Casefold), accents kept.
    func caseFolded(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 } ? folded(text) : transformed(text, cicu_case_fold)
    }

    /// The compared form of the text in Latin letters.
    func foldedLatin(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 } ? folded(text) : transformed(text, cicu_fold_latin)
    }

    /// The compared form of a Russian text as English speakers write it.
    func foldedRussian(_ text: String) -> String { transformed(text, cicu_fold_russian) }

    private typealias Transform = (
        OpaquePointer?, UnsafePointer<CChar>?, Int, UnsafeMutablePointer<CChar>?, Int
    ) -> Int

    private func transformed(_ text: String, _ transform: Transform) -> String {
        var text = text
        return text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { characters in
                var capacity = characters.count * 2 + 16
                // Twice is enough: the first time tells what the second needs.
                for _ in 0..<2 {
                    var size = 0
                    // ICU writes at most the capacity it is told; what did not fit counts as nothing written.
                    let bytes = [CChar](unsafeUninitializedCapacity: capacity) { out, count in
                        size = transform(folder, characters.baseAddress, characters.count, out.baseAddress, capacity)
                        count = size >= 0 && size <= capacity ? size : 0
                    }
                    if size <= capacity { return String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self) }
                    capacity = size
                }
                return ""
            }
        }
    }

    /// The beginning of a text, at most so many bytes of UTF-8 and whole characters.
    func clipped(_ text: String, to size: Int) -> String {
        guard text.utf8.count > size else { return text }
        var end = text.utf8.index(text.utf8.startIndex, offsetBy: size)
        while String.Index(end, within: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
