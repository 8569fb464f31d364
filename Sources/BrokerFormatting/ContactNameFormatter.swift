import BrokerModel

/// Formats a contact's name by the rules of its own script, as Apple's `CNContactFormatter` does.
///
/// The result is the contact's own text: pass it through ``DisplayText`` before writing it to a terminal.
public struct ContactNameFormatter: Hashable, Sendable {
    public enum Style: Hashable, Sendable {
        /// The whole name, with titles.
        case full
        /// The phonetic name.
        case phonetic
    }

    public enum Order: Hashable, Sendable {
        /// The order that the name's script implies; given name first if it implies none.
        case userDefault
        case givenNameFirst, familyNameFirst
    }

    /// A piece of a formatted name.
    public typealias Run = FormattedRun<ContactKey>

    private let style: Style
    /// The person's setting. It applies only if the name's script and the reader's language do not fix the order.
    private let userOrder: Order
    /// How the reader's language orders names; `nil` if the language is not known.
    private let rule: NameOrderRule?

    /// - Parameter language: the reader's language, a BCP 47 tag.
    public init(style: Style = .full, userOrder: Order = .userDefault, language: String? = nil) {
        self.style = style
        self.userOrder = userOrder
        rule = language.map(NameOrderRule.init(reader:))
    }

    /// Returns the contact's name; `nil` if it has none. For an organization, this is the organization name.
    /// For a contact with only a nickname, it is the nickname.
    public func string(from contact: Contact) -> String? {
        let runs = runs(of: contact)
        return runs.isEmpty ? nil : runs.map(\.text).joined()
    }

    /// Returns the name in pieces, each with the key of its value.
    public func runs(of contact: Contact) -> [Run] { runs(of: contact, withNickname: true) }

    /// - Parameter withNickname: whether to use the nickname if there is no other name.
    func runs(of contact: Contact, withNickname: Bool) -> [Run] {
        if style == .phonetic { return phoneticRuns(of: contact) }
        let organization = run(.organizationName, of: contact)
        if contact.contactType == .organization, let organization { return [organization] }
        let runs = fullRuns(of: contact)
        return runs.isEmpty && withNickname ? [run(.nickname, of: contact)].compactMap { $0 } : runs
    }

    /// Returns the order of the given and the family name; never ``Order/userDefault``.
    public func nameOrder(for contact: Contact) -> Order {
        switch script(of: contact) {
        case .han, .japanese, .hangul, .vietnamese: .familyNameFirst
        case .other where followsRule(contact): .familyNameFirst
        case .hanBySound: .givenNameFirst
        case .other, .katakana: userOrder == .userDefault ? .givenNameFirst : userOrder
        }
    }

    /// Whether the name belongs to a language whose names have the family name first for the reader.
    private func followsRule(_ contact: Contact) -> Bool {
        guard let rule else { return false }
        let name = contact.givenName + contact.middleName + contact.familyName
        let phonetic = contact.phoneticGivenName + contact.phoneticMiddleName + contact.phoneticFamilyName
        return rule.hasFamilyNameFirst(name.isEmpty ? phonetic : name)
    }

    /// The text between given and family name.
    public func delimiter(for contact: Contact) -> String { script(of: contact).delimiter }

    // MARK: - The styles

    private func fullRuns(of contact: Contact) -> [Run] {
        let script = script(of: contact)
        let (prefix, suffix) = (run(.namePrefix, of: contact), run(.nameSuffix, of: contact))
        var runs = join(named(contact), by: script.delimiter)
        guard !runs.isEmpty, script.hasTitlesAfter else {
            if let prefix { runs = [prefix] + (runs.isEmpty ? [] : [Run(" ")]) + runs }
            if let suffix { runs += (runs.isEmpty ? [] : [Run(Self.delimiter(beforeSuffix: suffix.text))]) + [suffix] }
            return runs
        }
        for title in [prefix, suffix].compactMap({ $0 }) {
            // Titles such as 様 and 博士 follow the name without a space. Korean titles and titles with Latin
            // letters follow after a space.
            let isOneWord = script != .hangul && title.text.unicodeScalars.allSatisfy { $0.value >= 0x2E80 }
            runs += (isOneWord ? [] : [Run(" ")]) + [title]
        }
        return runs
    }

    private func phoneticRuns(of contact: Contact) -> [Run] {
        let organization = run(.phoneticOrganizationName, of: contact)
        if contact.contactType == .organization, let organization { return [organization] }
        let (given, middle, family) = (
            run(.phoneticGivenName, of: contact), run(.phoneticMiddleName, of: contact),
            run(.phoneticFamilyName, of: contact)
        )
        return join(inOrder(given, middle, family, of: contact), by: " ")
    }

    // MARK: - Parts

    private func script(of contact: Contact) -> NameScript {
        var script = NameScript(
            given: contact.givenName, middle: contact.middleName, family: contact.familyName,
            language: rule?.language)
        if contact.givenName.isEmpty, contact.middleName.isEmpty, contact.familyName.isEmpty {
            script = NameScript(
                given: contact.phoneticGivenName, middle: contact.phoneticMiddleName,
                family: contact.phoneticFamilyName, language: rule?.language)
        }
        return script
    }

    private func named(_ contact: Contact) -> [Run] {
        inOrder(
            run(.givenName, of: contact), run(.middleName, of: contact), run(.familyName, of: contact), of: contact)
    }

    private func inOrder(_ given: Run?, _ middle: Run?, _ family: Run?, of contact: Contact) -> [Run] {
        guard nameOrder(for: contact) == .familyNameFirst else { return [given, middle, family].compactMap { $0 } }
        switch script(of: contact) {
        // In these scripts a middle name comes between family and given name: Nguyễn Văn An, 김·영·수.
        case .han, .japanese, .hangul, .vietnamese: return [family, middle, given].compactMap { $0 }
        case .other where rule?.language == "vi": return [family, middle, given].compactMap { $0 }
        case .katakana, .hanBySound, .other: return [family, given, middle].compactMap { $0 }
        }
    }

    /// Returns a key's text without white space at its ends; `nil` if the text has no visible character.
    private func run(_ key: ContactKey, of contact: Contact) -> Run? {
        guard let text = contact.text(of: key), !text.isEmpty, !DisplayText.line(text).isEmpty else { return nil }
        let start = text.drop { $0.isWhitespace }
        let end = start.lastIndex { !$0.isWhitespace }.map { start[...$0] } ?? start
        return Run(String(end), key)
    }

    private func join(_ parts: [Run], by delimiter: String) -> [Run] {
        var runs: [Run] = []
        for part in parts {
            if !runs.isEmpty, !delimiter.isEmpty { runs.append(Run(delimiter)) }
            runs.append(part)
        }
        return runs
    }

    /// Generation suffixes such as `Jr.` belong to the name; credentials follow after a comma (Unicode CLDR, person
    /// name fields `generation` and `credentials`).
    private static func delimiter(beforeSuffix suffix: String) -> String {
        if suffix.hasPrefix(",") { return "" }
        let first = suffix.prefix { !$0.isWhitespace && $0 != "," && $0 != "." }.lowercased()
        return generations.contains(first) ? " " : ", "
    }

    private static let generations: Set<String> = [
        "jr", "sr", "jnr", "snr", "junior", "senior", "ii", "iii", "iv", "v", "vi", "vii", "viii", "2nd", "3rd", "4th",
        "5th", "filho", "júnior", "neto", "sobrinho", "hijo", "fils", "père",
    ]
}
