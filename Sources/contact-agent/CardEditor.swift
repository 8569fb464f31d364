import BrokerFormatting
import BrokerModel

/// The list of an offered card's texts, each of which the person can change or leave out.
struct CardEditor: Hashable {
    /// One text of the card.
    private struct Field: Hashable {
        /// A field of one of several values.
        struct Place: Hashable {
            let value: Int
            let field: Int
        }

        let key: ContactKey
        /// `nil` for a key with one text.
        var place: Place?
        let label: String
        let original: String
        var text: String
        var isLeftOut = false

        /// The text as it will be saved; empty if the person leaves it out.
        var written: String { isLeftOut ? "" : text }
    }

    private let offered: WireContact
    private let names: LocalizedNames
    private var fields: [Field] = []
    private var cursor = Cursor()
    /// The text that is being typed.
    private var line: LineEditor?
    /// Why the last text could not be changed.
    private var remark: Phrase?

    init(_ offered: WireContact, _ names: LocalizedNames) {
        self.offered = offered
        self.names = names
        for key in offered.keys.keys {
            if let text = offered.contact.text(of: key), !text.isEmpty, !Self.unchangeable.contains(key) {
                let label = Card.label(nil, of: key, names)
                fields.append(Field(key: key, label: label, original: text, text: text))
            }
            for (place, value) in (ValueTexts.all[key]?.read(offered.contact) ?? []).enumerated() {
                let label = Card.label(value.label, of: key, names)
                for (field, text) in value.texts.enumerated() where !text.isEmpty {
                    let place = Field.Place(value: place, field: field)
                    fields.append(Field(key: key, place: place, label: label, original: text, text: text))
                }
            }
        }
    }

    /// Texts that no line can hold, or that have no meaning for the person.
    private static let unchangeable = ContactKeySet.images.union(
        ContactKeySet([.contactType, .creationDate, .modificationDate, .imageDataAvailable]))
    /// What the broker takes from the offered card.
    private static let unsent = ContactKeySet.images.union(ContactKeySet([.imageDataAvailable]))

    var isTyping: Bool { line != nil }
    /// Whether the person left out everything.
    var isEmpty: Bool { !fields.isEmpty && fields.allSatisfy(\.written.isEmpty) }
    private var isChanged: Bool { fields.contains { $0.written != $0.original } }

    /// The card with the person's changes; `nil` if there are none.
    var card: WireContact? {
        guard isChanged else { return nil }
        var card = offered
        card.keys.subtract(Self.unsent)
        for field in fields where field.place == nil { card.contact.setText(field.written, of: field.key) }
        for key in Set(fields.filter { $0.place != nil }.map(\.key)) {
            guard let values = ValueTexts.all[key] else { continue }
            var texts = values.read(offered.contact).map(\.texts)
            for field in fields where field.key == key {
                if let place = field.place { texts[place.value][place.field] = field.written }
            }
            values.write(&card.contact, texts)
        }
        return card
    }

    // MARK: - Keys

    /// - Returns: whether the key had an effect.
    mutating func press(_ key: Key, on size: ScreenSize) -> Bool {
        if var typed = line {
            switch key {
            case .enter: take(typed.text)
            case .left: line = nil
            default:
                _ = typed.press(key)
                line = typed
            }
            return true
        }
        if cursor.move(key, count: fields.count, page: Self.page(on: size)) {
            remark = nil
            guard case .row = key else { return true }
        }
        guard fields.indices.contains(cursor.place) else { return false }
        switch key {
        case .character(" "): fields[cursor.place].isLeftOut.toggle()
        case .enter, .row:
            let text = fields[cursor.place].text
            guard LineEditor.canHold(text) else {
                remark = .textTooLong
                return true
            }
            line = LineEditor(text)
        default: return false
        }
        remark = nil
        return true
    }

    private mutating func take(_ text: String) {
        let former = fields[cursor.place]
        line = nil
        fields[cursor.place].text = text
        fields[cursor.place].isLeftOut = text.allSatisfy(\.isWhitespace)
        // The broker would refuse the whole card.
        guard let card, (try? card.contact.validate(writing: card.keys)) == nil else { return }
        fields[cursor.place] = former
        remark = .textRefused
    }

    // MARK: - Lines

    /// The number of rows on the screen, without the title, the line that is typed and the hints.
    private static func page(on size: ScreenSize) -> Int { max(1, size.rows - 5) }

    /// The lines of the whole screen.
    func lines(_ title: StyledLine, on size: ScreenSize) -> [StyledLine] {
        let rows = cursor.visible(count: fields.count, page: Self.page(on: size)).map { place -> StyledLine in
            let field = fields[place]
            let head = "[\(field.isLeftOut ? " " : "x")] \(Columns.pad(field.label, to: 16)) "
            let text = ShownText.line(field.isLeftOut ? field.original : field.text)
            let isChanged = field.written != field.original
            return .row(
                place, isCurrent: place == cursor.place,
                head + names.isolated(Columns.clip(text, to: max(8, size.columns - 24))),
                field.isLeftOut ? .dim : isChanged ? .bold : .plain)
        }
        guard let line, fields.indices.contains(cursor.place) else {
            return [title] + rows + (remark.map { [.warning("   " + names.text($0))] } ?? [])
        }
        // The end of a long text is what is being typed.
        let head = "   \(fields[cursor.place].label): "
        let room = max(8, size.columns - 2 - Columns.width(head))
        var shown = ShownText.line(line.text)
        while Columns.width(shown) >= room, !shown.isEmpty { shown.removeFirst() }
        return [title] + rows + [.bold(head + names.isolated(shown + "_"))]
    }

    func hints(refuse: Phrase) -> [Hint] {
        let leave = [names.hint("Esc", refuse), names.hint("←", .back)]
        if isTyping { return [names.hint("Return", .goOn)] + leave }
        return [names.hint("Space", .hintOnOff), names.hint("Return", .change)] + leave
    }
}

/// The texts of a key with several values, in the order of the values and their fields.
private struct ValueTexts: Sendable {
    let read: @Sendable (Contact) -> [(label: String?, texts: [String])]
    /// Writes texts in the same order. A value whose texts are all empty, or that lacks a required one, is left out.
    let write: @Sendable (inout Contact, [[String]]) -> Void

    static let all: [ContactKey: ValueTexts] = [
        .phoneNumbers: ValueTexts(\.phoneNumbers), .emailAddresses: ValueTexts(\.emailAddresses),
        .postalAddresses: ValueTexts(\.postalAddresses), .dates: ValueTexts(\.dates),
        .urlAddresses: ValueTexts(\.urlAddresses), .contactRelations: ValueTexts(\.contactRelations),
        .socialProfiles: ValueTexts(\.socialProfiles),
        .instantMessageAddresses: ValueTexts(\.instantMessageAddresses),
        .extraProperties: ValueTexts(
            read: { $0.extraProperties.map { (nil, [$0]) } },
            write: { $0.extraProperties = $1.compactMap(\.first).filter { !$0.isEmpty } }),
    ]
}

extension ValueTexts {
    private init<Value: ContactValue>(_ values: WritableKeyPath<Contact, [Value]> & Sendable) {
        read = { $0[keyPath: values].map { value in (value.label, Value.fields.map { $0.get(value) }) } }
        write = { contact, texts in
            contact[keyPath: values] = zip(contact[keyPath: values], texts).compactMap { value, texts in
                var value = value
                for (field, text) in zip(Value.fields, texts) { field.set(&value, text) }
                let lacks = zip(Value.fields, texts).contains { $0.isRequired && $1.isEmpty }
                return lacks || texts.allSatisfy(\.isEmpty) ? nil : value
            }
        }
    }
}
