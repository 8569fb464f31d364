import BrokerVCard

/// The meaning of a property as bytes. Clients and servers rewrite cards without being asked to. The following changes,
/// which the named programs are known to make, do not change these bytes:
///
/// - upper and lower case of names and types, and the names of groups: Thunderbird writes `ITEM1.TEL`, khard
///   `itemtel1.TEL`;
/// - the order of parameters and types, and `TYPE=A;TYPE=B` for `TYPE=A,B`: Cyrus;
/// - quotes, folding, `\N`, and escapes that are not needed: Radicale writes `GEO:1\;2`, macOS `http\://`;
/// - VALUE: Thunderbird adds `VALUE=DATE` to BDAY and removes `VALUE=uri` from TEL. VALUE only says how to read the
///   value, which is compared itself;
/// - `tel:` before a number, as 4.0 has it (RFC 6350 §6.4.1), and `PREF=1` for `TYPE=pref`, which Thunderbird writes in
///   3.0 too;
/// - CHARSET and quoted-printable, because the text is compared after decoding;
/// - parameters `X-EVOLUTION-…`: evolution-data-server adds X-EVOLUTION-E164 to TEL;
/// - `TYPE=X-Front desk` beside an X-ABLabel with this text: khard;
/// - X-APPLE-OMIT-YEAR, which khard removes; the year 1604, which means no year; hyphens and colons in dates;
/// - the parameters of a photo, and base64 or a `data:` URI for the same data: converters between 3.0 and 4.0;
/// - empty components at the end of a value, and white space around it.
///
/// A loss that changes the meaning is a difference, although a program causes it: Thunderbird cuts `GEO:1;2` to
/// `GEO:1`, and Radicale cuts a photo's `data:` URI at its comma.
enum CanonicalForm {
    // Separators. No value contains these bytes: `ContentLine` removes control characters, and `append` removes those
    // that a telephone URI encodes.
    private static let end: UInt8 = 0
    private static let item: UInt8 = 1
    private static let component: UInt8 = 2
    private static let binary: UInt8 = 3
    private static let companion: UInt8 = 4

    /// - Parameter label: the X-ABLabel of the property's group.
    static func property(_ line: ContentLine, label: String?) -> [UInt8] {
        let name = line.nameText
        var parameters = line.parameters
        var bytes: [UInt8] = []
        append(name, to: &bytes)
        bytes.append(end)
        switch name {
        // N and ADR: RFC 6350 §6.2.2, §6.3.1. ORG and GENDER: §6.6.4, §6.2.7.
        case "N", "ADR": append(line.componentLists, to: &bytes)
        case "ORG", "GENDER": append(line.components.map { $0.isEmpty ? [] : [$0] }, to: &bytes)
        case "NICKNAME", "CATEGORIES": append([line.list], to: &bytes)
        case "TEL":
            let text = line.valueText
            // No number is longer. Reading a URI that repeats its scheme takes time in the square of its length.
            let uri = text.utf8.count <= 1_024 ? TelephoneURI(text).flatMap { $0.isSIP ? nil : $0 } : nil
            append(uri?.number ?? text, to: &bytes)
            parameters += uri?.parameters ?? []
        case _ where dates.contains(name): append(date(line) ?? line.valueText, to: &bytes)
        default:
            if let digits = base64(line) {
                bytes.append(binary)
                bytes += digits
            } else {
                append(line.valueText, to: &bytes)
            }
        }
        bytes.append(end)
        if name == "PHOTO" { return bytes }
        for parameter in canonical(parameters, line, label: label) {
            bytes += parameter
            bytes.append(end)
        }
        return bytes
    }

    static func companions(_ lines: [ContentLine]) -> [UInt8] {
        var bytes: [UInt8] = []
        for line in lines {
            bytes.append(companion)
            append(line.nameText, to: &bytes)
            bytes.append(item)
            append(line.valueText, to: &bytes)
            bytes.append(end)
        }
        return bytes
    }

    // MARK: Parameters

    private static let notCompared: Set<String> = [
        "TYPE", "PREF", "VALUE", "CHARSET", "ENCODING", "X-APPLE-OMIT-YEAR",
    ]

    /// Returns the parameters in order, and one for each type.
    private static func canonical(_ parameters: [Parameter], _ line: ContentLine, label: String?) -> [[UInt8]] {
        var all: Set<[UInt8]> = []
        func insert(_ name: String, _ values: [String]) {
            var bytes: [UInt8] = []
            append(name, to: &bytes)
            for value in values {
                bytes.append(item)
                append(value, to: &bytes)
            }
            all.insert(bytes)
        }
        for parameter in parameters {
            if notCompared.contains(parameter.name) || ASCII.hasPrefix(parameter.name, "X-EVOLUTION-") { continue }
            // The default (RFC 6350 §5.8).
            if parameter.name == "CALSCALE", parameter.values.allSatisfy({ ASCII.equal($0, "gregorian") }) { continue }
            insert(parameter.name, parameter.values)
        }
        for type in types(line, label: label) { insert("TYPE", [type]) }
        if line.preference != ContentLine.noPreference { insert("PREF", [String(line.preference)]) }
        return all.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static func types(_ line: ContentLine, label: String?) -> Set<String> {
        var types = Set(line.types.map(ASCII.lowercased))
        types.remove("pref")
        if let label {
            // A label with commas is several types for the reader.
            let copy = Set(ASCII.lowercased("x-\(label)").split(separator: ",").map { ASCII.trimmed($0) })
            if copy.isSubset(of: types) { types.subtract(copy) }
        }
        return types
    }

    // MARK: Values

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes += text.utf8.lazy.filter { $0 > companion }
    }

    /// Appends components, which are lists, without empty ones at the end.
    private static func append(_ components: [[String]], to bytes: inout [UInt8]) {
        let count = (components.lastIndex { !$0.isEmpty } ?? -1) + 1
        for list in components.prefix(count) {
            for text in list {
                append(text, to: &bytes)
                bytes.append(item)
            }
            bytes.append(component)
        }
    }

    /// The properties whose values are dates, in RFC 6350, RFC 6474 and Apple's and other programs' extensions.
    private static let dates: Set<String> = [
        "ALTBDAY", "ANNIVERSARY", "BDAY", "DEATHDATE", "X-ABDATE", "X-ALTBDAY", "X-ANNIVERSARY",
        "X-EVOLUTION-ANNIVERSARY", "X-KADDRESSBOOK-X-ANNIVERSARY", "X-MS-ANNIVERSARY",
    ]

    /// Returns a full date and its time; `nil` for any other value, such as `1985-04` or `circa 1800`.
    private static func date(_ line: ContentLine) -> String? {
        let value = line.storage[line.value]
        let omittedYear = line["X-APPLE-OMIT-YEAR"].flatMap { Int($0) }
        let calendar = line["CALSCALE"].flatMap { ASCII.equal($0, "gregorian") ? nil : $0 }
        let date =
            if let calendar {
                DateValue.date(value, in: calendar, era: line["X-ERA"], omittedYear: omittedYear)
            } else {
                DateValue.gregorian(value, omittedYear: omittedYear)
            }
        return date.map { $0 + DateValue.time(line).filter { $0 != ":" } }
    }

    /// Returns the base64 of an embedded photo, key or sound, without white space and padding; `nil` for another value.
    private static func base64(_ line: ContentLine) -> [UInt8]? {
        var value = ASCII.trimmed(line.storage[line.value])
        if ASCII.equal(value.prefix(5), "data:") {
            // Some programs also escape the comma (nextcloud/contacts#1919).
            guard let comma = value.prefix(256).firstIndex(of: UInt8(ascii: ",")),
                ASCII.lowercased(String(decoding: value[..<comma], as: UTF8.self)).contains("base64")
            else { return nil }
            value = value[(comma + 1)...]
        } else {
            // 2.1 and 3.0 have `BASE64` and `b` (RFC 2426 §2.4.1). Some cards have a photo without either.
            let encoding = line["ENCODING"] ?? ""
            let isSaid = ASCII.equal(encoding, "b") || ASCII.equal(encoding, "base64")
            guard isSaid || line.nameText == "PHOTO" && !value.prefix(16).contains(UInt8(ascii: ":")) else {
                return nil
            }
        }
        return value.filter { !ASCII.isSpace($0) && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "=") }
    }
}
