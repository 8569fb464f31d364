import BrokerVCard

/// One property of a card: its content line, and the lines of its group that belong to it, such as `item1.TEL` with
/// `item1.X-ABLabel`.
public struct PropertyUnit: Sendable {
    /// The property's name in upper case, without the group.
    public let name: String
    /// The content line, unfolded, decoded to UTF-8, and without its group.
    let text: String
    let companions: [String]
    /// The meaning of the content line, and of its companions.
    let form: [UInt8]
    let companionForm: [UInt8]
    /// The group's name in lower case.
    let group: String?
    /// The group with its dot, as written; empty for none.
    let writtenGroup: String
    /// The part of the card's text with the content line.
    let part: Int
    /// The last part that belongs to the unit.
    let lastPart: Int

    /// The meaning of the property as bytes: two units mean the same if and only if these are equal. `CanonicalForm`
    /// documents which differences do not count.
    public var canonical: [UInt8] { form + companionForm }

    init(_ line: ContentLine, _ companions: GroupCompanions, group: String?, part: Int, lastPart: Int) {
        name = line.nameText
        writtenGroup = line.groupText ?? ""
        text = String(line.text.dropFirst(writtenGroup.count))
        let own = companions.lines(for: name)
        self.companions = own.map { String($0.text.dropFirst(($0.groupText ?? "").count)) }
        form = CanonicalForm.property(line, label: companions.label?.valueText)
        companionForm = CanonicalForm.companions(own)
        (self.group, self.part, self.lastPart) = (group, part, lastPart)
    }

    /// Whether the line is a property that a person can change. The others are BEGIN, END and VERSION, the card's UID,
    /// what a program notes about its own writing (PRODID, and REV, which khard adds), and companions.
    static func isCompared(_ line: ContentLine) -> Bool {
        let name = line.nameText
        if notCompared.contains(name) { return false }
        // evolution-data-server adds X-EVOLUTION-FILE-AS and similar properties for its own use.
        return !ASCII.hasPrefix(name, "X-EVOLUTION-") || writtenInEvolution.contains(name)
    }

    private static let notCompared: Set<String> = GroupCompanions.names.union([
        "BEGIN", "END", "VERSION", "PRODID", "REV", "UID",
    ])

    /// The properties of Evolution that a person fills in.
    private static let writtenInEvolution: Set<String> = [
        "X-EVOLUTION-ANNIVERSARY", "X-EVOLUTION-ASSISTANT", "X-EVOLUTION-BLOG-URL", "X-EVOLUTION-LIST",
        "X-EVOLUTION-MANAGER", "X-EVOLUTION-SPOUSE", "X-EVOLUTION-VIDEO-URL",
    ]
}

/// The lines that describe the other properties of their group: a label and a country code. If a group has several of
/// one kind, the first that is not empty counts, as it does for `CardReading`.
struct GroupCompanions {
    private(set) var label: ContentLine?
    private var country: ContentLine?

    static let names: Set<String> = ["X-ABLABEL", "X-ABADR"]

    static func isCompanion(_ line: ContentLine) -> Bool { names.contains(line.nameText) }

    mutating func add(_ line: ContentLine) {
        guard !line.isValueEmpty else { return }
        if line.nameText == "X-ABLABEL" { label = label ?? line } else { country = country ?? line }
    }

    /// Returns the companions of a property. A country code belongs to addresses only.
    func lines(for name: String) -> [ContentLine] {
        [label, name == "ADR" ? country : nil].compactMap(\.self)
    }

    /// The size of the lines in bytes.
    var size: Int { [label, country].compactMap { $0?.value.count }.reduce(0, +) }
}
