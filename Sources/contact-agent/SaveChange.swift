import BrokerFormatting
import BrokerJSON
import BrokerModel

/// What a save would do to one record, as a row of the prompt says it. All text is safe for a terminal.
struct SaveChange: Hashable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case deleted, changed, added, joins, leaves, linked, unlinked, own, notOwn
    }

    enum Record: String, CaseIterable, Sendable {
        case contact, group, container
    }

    let kind: Kind
    let record: Record
    /// The record's name, and that of the other one that the change concerns.
    let name: String
    let other: String?

    init(_ kind: Kind, _ record: Record, name: String, other: String? = nil) {
        (self.kind, self.record, self.name, self.other) = (kind, record, name, other)
    }

    /// - Parameter row: a row as the interface describes it. A change or a record that this program does not know counts
    ///   as the change of a contact.
    /// - Returns: `nil` if the row has no change.
    init?(_ row: JSONValue, _ names: LocalizedNames) {
        guard let change = row["change"]?.string else { return nil }
        func name(_ record: JSONValue?) -> String {
            let contact = record.flatMap { try? WireContact($0) }?.contact ?? Contact()
            return ShownText.line(NameFormatter(names: names).string(from: contact))
        }
        kind = Kind(rawValue: change) ?? .changed
        record = row["record"]?.string.flatMap(Record.init) ?? .contact
        self.name = name(row["contact"])
        other = row["other"].flatMap { $0.isNull ? nil : name($0) }
    }

    /// Whether `Show` has the record's values.
    var hasCard: Bool {
        switch kind {
        case .deleted, .changed, .added: record == .contact
        case .joins, .leaves, .linked, .unlinked, .own, .notOwn: false
        }
    }

    /// Says what the save would do, in at most so many columns; the names are cut, and are in quotation marks, because the
    /// app may have chosen them.
    func words(columns: Int, _ names: LocalizedNames) -> String {
        let quoted = [name, other ?? ""].map { ShownText.quoted($0, columns: .max / 2, names) }
        let text = names.text(phrase, [.name: quoted[0], .other: quoted[1]])
        guard Columns.width(text) > columns else { return text }
        let left = max(8, columns - Columns.width(names.text(phrase, [.name: "", .other: ""])))
        let widths = quoted.map(Columns.width)
        // A short name leaves its room to the other one.
        let rooms =
            other == nil ? [left, 0] : [max(left / 2, left - widths[1]), max(left / 2, left - widths[0])]
        let cut = zip([name, other ?? ""], rooms).map { ShownText.quoted($0, columns: $1, names) }
        return Columns.clip(names.text(phrase, [.name: cut[0], .other: cut[1]]), to: columns)
    }

    /// Why the person should look at the names twice; `nil` for ordinary ones.
    var warning: Phrase? { Lookalike.warning(name) ?? other.flatMap(Lookalike.warning) }

    private var phrase: Phrase {
        switch (kind, record) {
        case (.deleted, .contact): .deletesContact
        case (.deleted, .group): .deletesGroup
        case (.deleted, .container): .deletesContainer
        case (.changed, .group): other == nil ? .changesGroup : .renamesGroup
        case (.changed, .container): other == nil ? .changesContainer : .renamesContainer
        case (.added, .contact): other == nil ? .addsContact : .addsContactInto
        case (.added, .group): other == nil ? .addsGroup : .addsGroupInto
        case (.added, .container): .addsContainer
        case (.joins, .group) where other != nil: .groupJoins
        case (.joins, _) where other != nil: .contactJoins
        case (.leaves, .group) where other != nil: .groupLeaves
        case (.leaves, _) where other != nil: .contactLeaves
        case (.linked, _) where other != nil: .linksContact
        case (.unlinked, _): other == nil ? .unlinksAll : .unlinksContact
        case (.own, _): .makesOwn
        case (.notOwn, _): .makesNotOwn
        case (.changed, .contact), (.joins, _), (.leaves, _), (.linked, _): .changesContact
        }
    }
}
