import BookSamples
import BrokerJSON
import BrokerModel
import BrokerVCard
import Testing

/// Cards that other programs wrote, in the folder of `CONTACTBROKER_CARDS`. Each has an `.expected.json` with what
/// three other parsers read from it. The project may not ship these cards, so other tests cover the same features.
struct CollectedFile {
    /// The path below the folder.
    let name: String
    let bytes: [UInt8]
    let validity: Validity
    /// The values that the other parsers read from its cards, in the order of the file.
    let cards: [JSONValue]

    enum Validity: String {
        /// `lenient` cards break a rule, but can be read.
        case valid, lenient, malformed
    }

    static func all() throws -> [CollectedFile] {
        let folder = try #require(CardFolder.path)
        let ending = ".expected.json"
        return try CardFolder.files(below: folder).filter { $0.hasSuffix(ending) }.map { path in
            let expected = try JSONDocument(parsing: try #require(CardFolder.contents(of: path), "\(path)")).root
            let file = String(path.dropLast(ending.utf8.count))
            return CollectedFile(
                name: String(file.dropFirst(folder.utf8.count + 1)),
                bytes: try #require(CardFolder.contents(of: file), "\(file)"),
                validity: try #require(expected["validity"]?.string.flatMap(Validity.init)),
                cards: (expected["cards"]?.elements.map(Array.init) ?? []).map {
                    $0["fields"] ?? JSONDocument.emptyObject.root
                })
        }
    }
}

/// One field as the other parsers and as our reader read it, both in a form that can be compared.
struct KeptValue: Sendable {
    let field: String
    /// Takes the values of the other parsers.
    let theirs: @Sendable ([JSONValue]) -> [String]
    let ours: @Sendable (Contact) -> [String]

    static let all = [
        KeptValue(field: "N", theirs: { [$0[0].texts.map(words).joined(separator: "|")] }) {
            [
                [$0.familyName, $0.givenName, $0.middleName, $0.namePrefix, $0.nameSuffix].map(words).joined(
                    separator: "|")
            ]
        },
        KeptValue(field: "NICKNAME", theirs: { [words($0.map { $0.text }.joined(separator: ","))] }) {
            [words($0.nickname)]
        },
        // The other parsers leave an extension in the URI (RFC 3966).
        KeptValue(
            field: "TEL",
            theirs: { $0.map { without("tel:", $0["value"]?.text).replacing(";ext=", with: " ext. ") } }
        ) {
            $0.phoneNumbers.map(\.value)
        },
        KeptValue(field: "EMAIL", theirs: { $0.map { without("mailto:", $0["value"]?.text) } }) {
            $0.emailAddresses.map(\.value)
        },
        KeptValue(field: "URL", theirs: { $0.map { $0["value"]?.text ?? "" } }) { $0.urlAddresses.map(\.value) },
        KeptValue(
            field: "ADR",
            theirs: { values in
                values.map { value in
                    let parts = (value["value"]?.texts ?? []) + Array(repeating: "", count: 7)
                    let street = parts[..<3].filter { !$0.isEmpty }.joined(separator: "\n")
                    return ([street] + parts[3..<7]).joined(separator: "|")
                }
            }
        ) {
            $0.postalAddresses.map { [$0.street, $0.city, $0.state, $0.postalCode, $0.country].joined(separator: "|") }
        },
        // A contact has one organisation. Another test checks that further ones are kept.
        KeptValue(
            field: "ORG",
            theirs: {
                let units = $0.first { $0.texts.contains { !$0.isEmpty } }?.texts ?? [""]
                return [
                    ([units[0]] + [units.dropFirst().filter { !$0.isEmpty }.joined(separator: ", ")])
                        .joined(separator: "|")
                ]
            }
        ) { ["\($0.organizationName)|\($0.departmentName)"] },
        KeptValue(field: "TITLE", theirs: { [$0[0].text] }) { [$0.jobTitle] },
        // A text that is not a calendar day is kept as an extra property, and so is a second birthday.
        KeptValue(field: "BDAY", theirs: { $0.map { birthday($0.text) } }) {
            [$0.birthday].filter { !$0.isEmpty }
                + $0.extraProperties.filter { $0.uppercased().hasPrefix("BDAY") && !$0.hasSuffix(":") }.map {
                    birthday(String($0.drop { $0 != ":" }.dropFirst()))
                }.filter { !$0.isEmpty }
        },
        KeptValue(field: "NOTE", theirs: { [$0.map(\.text).joined(separator: "\n")] }) { [$0.note] },
        // A picture is compared by its size and first bytes. A picture's URI is an extra property.
        KeptValue(field: "PHOTO", theirs: { $0.map(photo) }) {
            ($0.imageData.isEmpty ? [] : ["\(base64Size($0.imageData))"])
                + $0.extraProperties.filter { !($0.uppercased().firstMatch(of: /^([^.:;]+\.)?PHOTO[;:]/) == nil) }.map {
                    String($0.drop { $0 != ":" }.dropFirst())
                }.filter { !$0.isEmpty }
        },
    ]

    private static func words(_ text: String) -> String {
        text.split { $0 == "," || $0.isWhitespace }.joined(separator: " ")
    }

    private static func without(_ scheme: String, _ value: String?) -> String {
        let value = value ?? ""
        return value.hasPrefix(scheme) ? String(value.dropFirst(scheme.count)) : value
    }

    private static func photo(_ value: JSONValue) -> String {
        value["uri"]?.text ?? value["bytes"].map { "\($0.integer ?? 0)" } ?? ""
    }

    private static func base64Size(_ text: String) -> Int {
        text.utf8.count / 4 * 3 - text.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
    }

    /// The calendar day of the text, parsed independently of the reader: digits by position.
    private static func birthday(_ text: String) -> String {
        let day = text.prefix { $0 != "T" }
        let digits = day.filter(\.isNumber)
        let isYearless = day.hasPrefix("--")
        guard day.allSatisfy({ $0.isNumber || $0 == "-" }), digits.count == (isYearless ? 4 : 8) else { return text }
        let (month, dayOfMonth) = (digits.suffix(4).prefix(2), digits.suffix(2))
        guard let number = Int(month), (1...12).contains(number) else { return text }
        // Apple's programs write 1604 for no year.
        let year = isYearless || digits.hasPrefix("1604") ? "-" : String(digits.prefix(4))
        return "\(year)-\(month)-\(dayOfMonth)"
    }
}

extension JSONValue {
    fileprivate var text: String { string ?? "" }
    fileprivate var texts: [String] { elements.map { $0.map(\.text) } ?? [] }
}
