import CBrokerICU

/// Country codes and names.
public enum Country {
    /// Returns the upper-case code, if the text is two letters other than `ZZ`; otherwise `nil`. Does not
    /// check that ISO 3166-1 assigns the code. `UK` becomes `GB`.
    static func code(_ text: String) -> String? {
        let code = text.uppercased()
        guard code.utf8.count == 2, code.utf8.allSatisfy({ (0x41...0x5A).contains($0) }), code != "ZZ" else {
            return nil
        }
        return code == "UK" ? "GB" : code
    }

    /// Returns the country's name in a language, from ICU; `nil` if ICU has no name for the code.
    ///
    /// - Parameter language: a BCP 47 tag; malformed tags count as English.
    public static func name(_ code: String, language: String) -> String? {
        guard let code = Self.code(code) else { return nil }
        let isTag =
            language.utf8.count < 36
            && language.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D || $0 == 0x5F }
        return CText.read { cicu_region_name(code, isTag ? language : "en", $0, $1) }
    }

    /// Returns the code of a country, given its code or its name. The name can be in the country's own
    /// language or in one of ``languages``. Ignores case.
    static func named(_ name: String) -> String? {
        if let code = code(name) { return AddressFormat.all[code] == nil ? nil : code }
        return byName[name.lowercased()]
    }

    /// The languages in which every country's name is recognised.
    private static let languages = [
        "en", "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "tr", "ar", "fa", "hi", "ja", "zh", "zh-Hant", "ko",
    ]

    private static let byName: [String: String] = {
        var codes: [String: String] = [:]
        for code in AddressFormat.all.keys.sorted() where code != "ZZ" {
            let own = CText.read { cicu_region_language(code, $0, $1) }
            for language in languages + [own ?? "en"] {
                guard let name = name(code, language: language)?.lowercased(), codes[name] == nil else { continue }
                codes[name] = code
            }
        }
        // Other common names take precedence over ICU's.
        for (name, code) in others where AddressFormat.all[code] != nil { codes[name] = code }
        return codes
    }()

    private static let others = [
        ("usa", "US"), ("u.s.a.", "US"), ("u.s.", "US"), ("united states of america", "US"), ("great britain", "GB"),
        ("england", "GB"), ("scotland", "GB"), ("wales", "GB"), ("northern ireland", "GB"), ("u.k.", "GB"),
        ("the netherlands", "NL"), ("holland", "NL"), ("czech republic", "CZ"), ("turkey", "TR"), ("korea", "KR"),
        ("republic of korea", "KR"), ("대한민국", "KR"), ("中华人民共和国", "CN"), ("臺灣", "TW"), ("日本国", "JP"),
        ("hong kong", "HK"), ("macau", "MO"), ("macao", "MO"), ("香港", "HK"), ("澳門", "MO"), ("澳门", "MO"),
        ("russian federation", "RU"), ("viet nam", "VN"), ("burma", "MM"), ("ivory coast", "CI"),
    ]
}
