import BrokerModel

/// A field of an address, by its name on the wire.
public enum PostalAddressField: String, CaseIterable, Hashable, Sendable {
    case street, subLocality, city, subAdministrativeArea, state, postalCode, country, isoCountryCode

    func text(of address: PostalAddress) -> String {
        switch self {
        case .street: address.street
        case .subLocality: address.subLocality
        case .city: address.city
        case .subAdministrativeArea: address.subAdministrativeArea
        case .state: address.state
        case .postalCode: address.postalCode
        case .country: address.country
        case .isoCountryCode: address.isoCountryCode
        }
    }
}

/// Writes an address as its own country does, by Google's address data.
///
/// What comes out is the contact's own text: put each line through ``DisplayText`` before a terminal sees it.
public struct PostalAddressFormatter: Hashable, Sendable {
    public enum Style: Hashable, Sendable {
        /// As it stands on an envelope: what the country's post has no place for is left out.
        case mailing
        /// All that the address says, for whoever decides about it.
        case complete
    }

    public typealias Run = FormattedRun<PostalAddressField>

    public var style: Style
    /// Where the person lives, as `SE`; `nil` where that is not known.
    public let region: String?
    /// BCP 47: in which a country is named that the address gives by its code alone.
    private let language: String

    /// - Parameters:
    ///   - region: where the person lives: addresses without a country are there.
    ///   - language: BCP 47: in which a country is named that the address gives by its code alone.
    public init(region: String?, language: String = "en", style: Style = .mailing) {
        self.region = Country.code(region ?? "")
        self.language = language
        self.style = style
    }

    /// The address, line by line; none is empty.
    public func lines(of address: PostalAddress) -> [String] {
        runs(of: address).map(\.text).joined().split(whereSeparator: \.isNewline).map(String.init)
    }

    /// The address in pieces, each with the field that it came from; `\n` between lines.
    public func runs(of address: PostalAddress) -> [Run] {
        var lines = lineRuns(of: address)
        if let country = countryRun(of: address) { lines.append([country]) }
        return Array(lines.joined(separator: [Run("\n")]))
    }

    /// Which country's rules the address follows: by its code, or else by its country's name in any language that it is
    /// likely to be written in, or else where the person lives. `nil` where nobody knows.
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
                // What parts two fields goes with them (libaddressinput does the same).
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

    /// The format with a place for what the address says and the country's format has no place for.
    private func placed(_ format: [AddressFormat.Token], _ address: PostalAddress) -> [AddressFormat.Token] {
        var tokens = format
        func lacks(_ field: PostalAddressField) -> Bool {
            !field.text(of: address).trimmed.isEmpty && !tokens.contains(.field(field))
        }
        if lacks(.subLocality), let street = tokens.firstIndex(of: .field(.street)) {
            let city = tokens.firstIndex(of: .field(.city)) ?? tokens.endIndex
            // From the large to the small, a part of a town follows the town at once; otherwise it has a line before it.
            if city < street {
                tokens.insert(.field(.subLocality), at: city + 1)
            } else {
                tokens.insert(contentsOf: [.newLine, .field(.subLocality)], at: street + 1)
            }
        }
        guard style == .complete else { return tokens }
        for field in [PostalAddressField.city, .postalCode, .subAdministrativeArea, .state] where lacks(field) {
            tokens += [.newLine, .field(field)]
        }
        return tokens
    }

    private func text(
        of field: PostalAddressField, _ address: PostalAddress, _ format: AddressFormat
    ) -> String {
        var text = field.text(of: address).trimmed
        if field == .postalCode, !format.prefix.isEmpty {
            // Who typed the prefix finds it once.
            let letters = format.prefix.filter(\.isLetter)
            let rest = text.dropFirst(letters.count).drop { $0 == "-" || $0 == " " }
            if text.uppercased().hasPrefix(letters), rest.first?.isNumber ?? false { text = String(rest) }
        }
        return text
    }

    /// The country always stands where the address has it, as with Apple's formatter; one that is given by its code alone
    /// is named where it is not the person's own.
    private func countryRun(of address: PostalAddress) -> Run? {
        let country = address.country.trimmed
        if !country.isEmpty { return Run(country, .country) }
        guard let code = Country.code(address.isoCountryCode.trimmed), style == .complete || code != region,
            let name = Country.name(code, language: language)
        else { return nil }
        return Run(name, .isoCountryCode)
    }

    /// Nothing in it has letters of another script.
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
    /// Without white space at its ends.
    fileprivate var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }

    fileprivate func removing(suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
