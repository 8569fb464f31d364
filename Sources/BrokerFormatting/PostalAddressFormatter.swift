import BrokerModel

/// A field of an address, by its name on the wire.
public enum PostalAddressField: String, CaseIterable, Hashable, Sendable {
    case street, subLocality, city, subAdministrativeArea, state, postalCode, country, isoCountryCode

    func text(of address: PostalAddress) -> String {
        PostalAddress.fields.first { $0.name == rawValue }?.get(address) ?? ""
    }
}

/// Formats an address by the rules of its country, from Google's address data.
///
/// The result is the contact's own text: pass each line through ``DisplayText`` before writing it to a terminal.
public struct PostalAddressFormatter: Hashable, Sendable {
    public enum Style: Hashable, Sendable {
        /// The address as on an envelope. If the address gives only a code of the person's own country, omits the
        /// country.
        case mailing
        /// The address with its country.
        case complete
    }

    public typealias Run = FormattedRun<PostalAddressField>

    public var style: Style
    /// The person's country, such as `SE`; `nil` if it is unknown.
    public let region: String?
    /// The language of the country's name, as a BCP 47 tag. It applies if the address gives only the
    /// country's code.
    private let language: String

    /// - Parameters:
    ///   - region: the person's country; it applies to addresses without a country.
    ///   - language: the language of the country's name, as a BCP 47 tag. It applies if the address gives
    ///     only the country's code.
    public init(region: String?, language: String = "en", style: Style = .mailing) {
        self.region = Country.code(region ?? "")
        self.language = language
        self.style = style
    }

    /// Returns the lines of the address. None is empty.
    public func lines(of address: PostalAddress) -> [String] {
        runs(of: address).map(\.text).joined().split(whereSeparator: \.isNewline).map(String.init)
    }

    /// Returns the address in pieces, each with the field of its value, and with `\n` between lines.
    public func runs(of address: PostalAddress) -> [Run] {
        var lines = lineRuns(of: address)
        if let country = countryRun(of: address) { lines.append([country]) }
        return Array(lines.joined(separator: [Run("\n")]))
    }

    /// Returns the code of the country whose rules apply to the address. Uses the address's country code or,
    /// if that is not valid, the country's name (``Country/named(_:)``). Returns the person's country if the
    /// address has neither, and `nil` if the name is unknown.
    public func countryCode(of address: PostalAddress) -> String? {
        let code = address.isoCountryCode.trimmed
        if !code.isEmpty, let known = Country.code(code) { return known }
        let country = address.country.trimmed
        return country.isEmpty ? region : Country.named(country)
    }

    // MARK: - Lines

    private func lineRuns(of address: PostalAddress) -> [[Run]] {
        let country = countryCode(of: address)
        let format = AddressFormat.of(country)
        let tokens = placed(format.latin.flatMap { isLatin(address) ? $0 : nil } ?? format.local, address)
        var lines: [[Run]] = [[]]
        for (place, token) in tokens.enumerated() {
            switch token {
            case .newLine:
                lines.append([])
            case .field(let field):
                let text = text(of: field, address, format)
                if !text.isEmpty { lines[lines.count - 1].append(Run(text, field)) }
            case .literal(let literal):
                // A literal is dropped if a field next to it is empty, as in libaddressinput.
                let isBeforeText =
                    switch place + 1 < tokens.count ? tokens[place + 1] : .newLine {
                    case .field(let next): !next.text(of: address).trimmed.isEmpty
                    case .literal, .newLine: true
                    }
                let isAfterText =
                    lines[lines.count - 1].last?.field != nil || place == 0 || tokens[place - 1] == .newLine
                guard isBeforeText, isAfterText else { continue }
                let shown =
                    country == region && !format.prefix.isEmpty ? literal.removing(suffix: format.prefix) : literal
                if !shown.isEmpty { lines[lines.count - 1].append(Run(shown)) }
            }
        }
        return lines.filter { $0.contains { $0.field != nil } }
    }

    /// Returns the format, extended by fields that the address has and the country's format lacks. A field with the same
    /// text as one of the format is left out.
    private func placed(_ format: [AddressFormat.Token], _ address: PostalAddress) -> [AddressFormat.Token] {
        var tokens = format
        func lacks(_ field: PostalAddressField) -> Bool {
            !field.text(of: address).trimmed.isEmpty && !tokens.contains(.field(field))
        }
        if lacks(.subLocality), let street = tokens.firstIndex(of: .field(.street)) {
            let city = tokens.firstIndex(of: .field(.city)) ?? tokens.endIndex
            // In large-to-small formats the sub-locality directly follows the city; in others it gets its own line
            // after the street.
            if city < street {
                tokens.insert(.field(.subLocality), at: city + 1)
            } else {
                tokens.insert(contentsOf: [.newLine, .field(.subLocality)], at: street + 1)
            }
        }
        for field in [PostalAddressField.street, .city, .postalCode, .subAdministrativeArea, .state]
        where lacks(field) {
            let text = field.text(of: address).trimmed
            let isRepeated = PostalAddressField.allCases.contains {
                tokens.contains(.field($0)) && $0.text(of: address).trimmed == text
            }
            if !isRepeated { tokens += [.newLine, .field(field)] }
        }
        return tokens
    }

    private func text(
        of field: PostalAddressField, _ address: PostalAddress, _ format: AddressFormat
    ) -> String {
        var text = field.text(of: address).trimmed
        if field == .postalCode, !format.prefix.isEmpty {
            // A prefix that was typed with the code is removed, because the format adds it.
            let letters = format.prefix.filter(\.isLetter)
            let rest = text.dropFirst(letters.count).drop { $0 == "-" || $0 == " " }
            if text.uppercased().hasPrefix(letters), rest.first?.isNumber ?? false { text = String(rest) }
        }
        return text
    }

    /// Returns the country's name if the address has one, as Apple's formatter does. If the address has only
    /// a code, returns the name of that country; ``Style/mailing`` then omits the person's own country.
    private func countryRun(of address: PostalAddress) -> Run? {
        let country = address.country.trimmed
        if !country.isEmpty { return Run(country, .country) }
        guard let code = Country.code(address.isoCountryCode.trimmed), style == .complete || code != region,
            let name = Country.name(code, language: language)
        else { return nil }
        return Run(name, .isoCountryCode)
    }

    /// Whether the address has letters, and all of them are Latin. The country does not count.
    private func isLatin(_ address: PostalAddress) -> Bool {
        var hasLetters = false
        for field in [PostalAddressField.street, .subLocality, .city, .subAdministrativeArea, .state] {
            for scalar in field.text(of: address).unicodeScalars where scalar.properties.isAlphabetic {
                guard scalar.value < 0x0370 || (0x1E00...0x1EFF).contains(scalar.value) else { return false }
                hasLetters = true
            }
        }
        return hasLetters
    }
}

extension String {
    /// The text without white space at its ends.
    fileprivate var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }

    fileprivate func removing(suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
