/// The address format of one country, from Google's Address Data Service (`Tools/address-formats`).
struct AddressFormat: Hashable, Sendable {
    enum Token: Hashable {
        case literal(String)
        case field(PostalAddressField)
        case newLine
    }

    let local: [Token]
    /// The format for Latin letters; `nil` if it is the same as the local format.
    let latin: [Token]?
    /// The prefix of a postal code in mail from abroad: `SE-`.
    let prefix: String

    /// All formats by country code; `ZZ` is the default format.
    static let all: [String: AddressFormat] = {
        var all: [String: AddressFormat] = [:]
        for line in String(decoding: PackageResources.AddressFormats_txt, as: UTF8.self).split(separator: "\n")
        where !line.hasPrefix("#") {
            let columns = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            guard columns.count == 4 else { continue }
            all[columns[0]] = AddressFormat(
                local: tokens(columns[1]), latin: columns[2].isEmpty ? nil : tokens(columns[2]), prefix: columns[3])
        }
        return all
    }()

    static func of(_ country: String?) -> AddressFormat {
        country.flatMap { all[$0] } ?? all["ZZ"] ?? AddressFormat(local: [], latin: nil, prefix: "")
    }

    private static func tokens(_ format: String) -> [Token] {
        var tokens: [Token] = []
        var literal = ""
        var characters = format.makeIterator()
        while let character = characters.next() {
            guard character == "%", let letter = characters.next() else {
                literal.append(character)
                continue
            }
            if !literal.isEmpty { tokens.append(.literal(literal)) }
            literal = ""
            tokens.append(field(letter).map { .field($0) } ?? .newLine)
        }
        if !literal.isEmpty { tokens.append(.literal(literal)) }
        return tokens
    }

    private static func field(_ letter: Character) -> PostalAddressField? {
        switch letter {
        case "A": .street
        case "D": .subLocality
        case "C": .city
        case "S": .state
        case "Z": .postalCode
        default: nil
        }
    }
}
