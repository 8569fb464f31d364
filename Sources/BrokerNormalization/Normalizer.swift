import CBrokerICU
import CBrokerPhoneNumber

/// Converts names, words, addresses and numbers to forms that can be compared.
///
/// Only one thread at a time may use its ICU objects, so each owner creates its own normalizer.
public final class Normalizer {
    private var collator: OpaquePointer
    private let folder: OpaquePointer

    /// The locale whose collation determines the order, as ICU names it: `de_DE`; empty for the root locale.
    public private(set) var locale: String

    /// The region of numbers without a country code: two capital letters, or `ZZ` if it is unknown.
    public let region: String

    /// Identifies everything that determines the forms: this module's rules, ICU's collation version, the
    /// locale and the region. Forms from different versions must not be compared.
    public private(set) var version = ""

    /// Increase this number whenever this module's output changes, or a book stores a different part of the
    /// output.
    private static let rules = 3

    /// - Parameters:
    ///   - locale: determines the order, for example `de_DE` or `de-DE`; `""`, `C` and unknown locales mean the root
    ///     locale.
    ///   - region: the region of phone numbers without a country code, for example `DE`. With `""` or an
    ///     invalid region, such numbers match by their digits, whatever the country.
    /// - Returns: `nil` if ICU's data are missing.
    public init?(locale: String, region: String = "") {
        let locale = Self.icuName(ofLocale: locale)
        guard let collator = Self.collator(locale) else { return nil }
        guard let folder = cicu_folder_open() else {
            cicu_collator_close(collator)
            return nil
        }
        self.collator = collator
        self.locale = locale
        self.folder = folder
        // Only the region's form is checked here. libphonenumber checks the region when it parses a number.
        // Asking libphonenumber here would load its large metadata.
        let isRegion = region.utf8.count == 2 && region.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        self.region = isRegion ? region : "ZZ"
        version = madeVersion()
    }

    private static func collator(_ locale: String) -> OpaquePointer? {
        cicu_collator_open(locale.isEmpty ? "root" : locale) ?? cicu_collator_open("root")
    }

    private func madeVersion() -> String {
        var version: [UInt8] = [0, 0, 0, 0]
        cicu_collator_version(collator, &version)
        return "\(Self.rules) " + version.map { String($0) }.joined(separator: ".") + " \(locale) \(region)"
    }

    /// Changes the order. Sort keys of different orders must not be compared. If ICU has no memory, the order stays.
    public func use(locale: String) {
        let locale = Self.icuName(ofLocale: locale)
        guard locale != self.locale, let collator = Self.collator(locale) else { return }
        cicu_collator_close(self.collator)
        (self.collator, self.locale) = (collator, locale)
        version = madeVersion()
    }

    /// Returns the locale of the normalizer with this ``version``; `nil` if the text is none.
    public static func locale(ofVersion version: String) -> String? {
        let parts = version.split(separator: " ", omittingEmptySubsequences: false)
        return parts.count == 4 ? String(parts[2]) : nil
    }

    /// Returns ICU's name of a locale of the environment, or of a BCP 47 tag: `de_DE` for `de_DE.UTF-8@euro`, `sr_Latn_RS`
    /// for `sr_RS@latin`; empty for `C` and `POSIX`.
    public static func icuName(ofLocale name: String) -> String {
        let parts = name.prefix { $0 != "." && $0 != "@" }.split { $0 == "-" || $0 == "_" }
        guard let language = parts.first, language != "C", language != "POSIX" else { return "" }
        let script: [Substring] = name.hasSuffix("@latin") ? ["Latn"] : []
        return ([language] + script + Array(parts.dropFirst())).joined(separator: "_")
    }

    /// Loads the data for non-ASCII letters, phone numbers and Chinese characters before they are needed.
    /// This takes about 100 ms, once per process. Can be called from any thread.
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
                // ICU writes at most `capacity + 1` bytes; `count` is the number kept.
                [UInt8](unsafeUninitializedCapacity: capacity + 1) { out, count in
                    // The buffer has one byte more than is kept, because ICU ends a complete key with a zero.
                    let size = cicu_collation_key(
                        collator, characters.baseAddress, characters.count, out.baseAddress, capacity + 1)
                    count = min(max(size, 0), capacity)
                }
            }
        }
    }

    /// Returns the text in the form for comparison: NFKC, case folded, without accents, Latin letters in
    /// ASCII.
    public func folded(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
        }
        return transformed(text, cicu_fold)
    }

    /// Returns the text with case and width folded (NFKC_Casefold) and accents kept.
    func caseFolded(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 } ? folded(text) : transformed(text, cicu_case_fold)
    }

    /// Converts the text to Latin letters and returns the form for comparison.
    func foldedLatin(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 } ? folded(text) : transformed(text, cicu_fold_latin)
    }

    /// Transliterates a Russian text with the English romanisation (BGN/PCGN) and returns the form for
    /// comparison.
    func foldedRussian(_ text: String) -> String { transformed(text, cicu_fold_russian) }

    private typealias Transform = (
        OpaquePointer?, UnsafePointer<CChar>?, Int, UnsafeMutablePointer<CChar>?, Int
    ) -> Int

    private func transformed(_ text: String, _ transform: Transform) -> String {
        var text = text
        return text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { characters in
                var capacity = characters.count * 2 + 16
                // Two attempts are enough: the first reports the size that the second needs.
                for _ in 0..<2 {
                    var size = 0
                    // ICU writes at most `capacity` bytes. A result that does not fit is discarded.
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

    /// Returns the longest prefix of whole Unicode scalars that takes at most `size` bytes of UTF-8.
    func clipped(_ text: String, to size: Int) -> String {
        guard text.utf8.count > size else { return text }
        var end = text.utf8.index(text.utf8.startIndex, offsetBy: size)
        while String.Index(end, within: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
