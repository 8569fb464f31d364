import BrokerFormatting
import BrokerModel

/// What a save does to one contact, value by value. Values that stay the same are left out.
///
/// Each text is one line that is safe for a terminal, and as long as the value, up to ``DisplayText``'s bound. A value
/// with an identifier is the same one before and after the save; one without is the same if it is equal.
struct ContactDiff: Hashable, Sendable {
    /// What a save does to a contact's photo, as the interface names it.
    enum Photo: String, Sendable {
        case added, changed, removed
    }

    struct Line: Hashable, Sendable {
        enum Mark: Hashable, Sendable {
            case removed, added
            /// A value that becomes another one, which the next line has.
            case former, latter
            /// The values of a key get another order. A line with this mark says so, and the values follow in their new
            /// order.
            case order
        }

        var mark: Mark
        var label: String
        var text: String
    }

    private(set) var lines: [Line] = []
    private let names: LocalizedNames

    /// A value as the person reads it.
    private struct Value: Hashable {
        var label: String
        var text: String
    }

    /// - Parameters:
    ///   - former: `nil` if the save adds the contact.
    ///   - latter: `nil` if the save deletes the contact.
    ///   - photo: `nil` if the contacts themselves say whether they have a photo.
    init(from former: Contact?, to latter: Contact?, photo: Photo? = nil, _ names: LocalizedNames = .inEnglish) {
        self.names = names
        let isWhole = former == nil || latter == nil
        func kind(_ contact: Contact?) -> String? {
            switch contact?.contactType {
            case .organization: names.text(.kindOrganization)
            case .person where !isWhole: names.text(.kindPerson)
            case .person, nil: nil
            }
        }
        let (old, new) = (former ?? Contact(), latter ?? Contact())
        for key in ContactKey.allCases {
            switch key {
            case .contactType: replace(value(key, nil, kind(former)), value(key, nil, kind(latter)))
            case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
                .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
                .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday, .note:
                add(key, old.text(of: key) ?? "", new.text(of: key) ?? "")
            case .phoneNumbers: add(key, old.phoneNumbers, new.phoneNumbers) { [$0.value] }
            case .emailAddresses: add(key, old.emailAddresses, new.emailAddresses) { [$0.value] }
            case .postalAddresses: add(key, old.postalAddresses, new.postalAddresses) { Card.parts(of: $0, names) }
            case .dates: add(key, old.dates, new.dates) { [$0.value] }
            case .urlAddresses: add(key, old.urlAddresses, new.urlAddresses) { [$0.value] }
            case .contactRelations: add(key, old.contactRelations, new.contactRelations) { [$0.value] }
            case .socialProfiles:
                add(key, old.socialProfiles, new.socialProfiles) { Card.parts(of: $0, names) + [$0.userIdentifier] }
            case .instantMessageAddresses:
                add(key, old.instantMessageAddresses, new.instantMessageAddresses) { Card.parts(of: $0, names) }
            case .extraProperties:
                func values(_ texts: [String]) -> [LabeledString] { texts.map { LabeledString(value: $0) } }
                add(key, values(old.extraProperties), values(new.extraProperties)) { [$0.value] }
            case .imageData: add(photo ?? Self.photo(from: former, to: latter))
            // The broker sets these; no save does.
            case .creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData: break
            }
        }
    }

    private static func photo(from former: Contact?, to latter: Contact?) -> Photo? {
        func hasPhoto(_ contact: Contact?) -> Bool {
            contact.map { $0.imageDataAvailable || !$0.imageData.isEmpty } ?? false
        }
        switch (hasPhoto(former), hasPhoto(latter)) {
        case (false, true): return .added
        case (true, false): return .removed
        case (true, true), (false, false): return nil
        }
    }

    // MARK: - Values

    private func value(_ key: ContactKey, _ label: String?, _ text: String?) -> Value? {
        text.map { text in
            let label = label.flatMap { $0.isEmpty ? nil : names.label($0) } ?? names.key(key)
            let isCut = text.unicodeScalars.count > DisplayText.inputSize
            return Value(label: ShownText.line(label), text: ShownText.line(text) + (isCut ? "…" : ""))
        }
    }

    /// An empty text is no value. Texts that differ are listed, even if they look the same.
    private mutating func add(_ key: ContactKey, _ former: String, _ latter: String) {
        guard former != latter else { return }
        list(value(key, nil, former.isEmpty ? nil : former), value(key, nil, latter.isEmpty ? nil : latter))
    }

    private mutating func replace(_ former: Value?, _ latter: Value?) {
        if former != latter { list(former, latter) }
    }

    private mutating func list(_ former: Value?, _ latter: Value?) {
        if let former { list(latter == nil ? .removed : .former, former) }
        if let latter { list(former == nil ? .added : .latter, latter) }
    }

    private mutating func list(_ mark: Line.Mark, _ value: Value) {
        lines.append(Line(mark: mark, label: value.label, text: value.text))
    }

    private mutating func add(_ photo: Photo?) {
        let text: (mark: Line.Mark, phrase: Phrase)
        switch photo {
        case .added: text = (.added, .photoThere)
        case .removed: text = (.removed, .photoThere)
        case .changed: text = (.latter, .otherPhoto)
        case nil: return
        }
        lines.append(Line(mark: text.mark, label: names.key(.imageData), text: names.text(text.phrase)))
    }

    private mutating func add<Element: ContactValue>(
        _ key: ContactKey, _ former: [Element], _ latter: [Element], _ parts: (Element) -> [String]
    ) {
        func shown(_ element: Element) -> Value? {
            value(key, element.label, parts(element).filter { !$0.isEmpty }.joined(separator: ", "))
        }
        let places = Self.places(of: latter, in: former)
        let kept = places.compactMap(\.self)
        for place in former.indices where !kept.contains(place) { list(shown(former[place]), nil) }
        for (element, place) in zip(latter, places) {
            guard let place else {
                list(nil, shown(element))
                continue
            }
            var same = element
            same.identifier = former[place].identifier
            guard same != former[place] else { continue }
            let fields = Element.fields.filter { $0.get(former[place]) != $0.get(element) }
            guard shown(former[place]) == shown(element), !fields.isEmpty else {
                list(shown(former[place]), shown(element))
                continue
            }
            // They differ in what is not part of the text.
            for field in fields {
                let label = names.field(field.name) ?? element.label
                list(value(key, label, field.get(former[place])), value(key, label, field.get(element)))
            }
        }
        guard kept != kept.sorted() else { return }
        lines.append(Line(mark: .order, label: names.key(key), text: names.text(.otherOrder)))
        for element in latter { if let value = shown(element) { list(.order, value) } }
    }

    /// For each value after the save, the place of the same one before it.
    private static func places<Element: ContactValue>(of latter: [Element], in former: [Element]) -> [Int?] {
        func unnamed(_ element: Element) -> Element {
            var element = element
            element.identifier = nil
            return element
        }
        var free = Set(former.indices)
        var named: [Int: Int] = [:]
        var equal: [Element: [Int]] = [:]
        for (place, element) in former.enumerated().reversed() {
            if let identifier = element.identifier { named[identifier] = place }
            equal[unnamed(element), default: []].append(place)
        }
        var places: [Int?] = latter.map { element in
            guard let place = element.identifier.flatMap({ named[$0] }) else { return nil }
            return free.remove(place)
        }
        for (index, element) in latter.enumerated() where places[index] == nil {
            while let place = equal[unnamed(element)]?.popLast() {
                guard free.remove(place) != nil else { continue }
                places[index] = place
                break
            }
        }
        return places
    }
}

// MARK: - Lines on the screen

extension ContactDiff {
    /// The columns of a label before a value. A longer label has lines of its own.
    private static let labelColumns = 14

    /// The lines of the screen. A long text continues on further lines, below its beginning.
    func styledLines(columns: Int) -> [StyledLine] {
        guard !lines.isEmpty else { return [.dim("   " + names.text(.noDifference))] }
        let indent = String(repeating: " ", count: 3 + Self.labelColumns + 1)
        return lines.flatMap { line -> [StyledLine] in
            let head = " \(sign(line.mark)) "
            let style = style(line.mark)
            let texts = Self.pieces(of: line.text, columns: columns - Columns.width(indent) - 1).map(names.isolated)
            var labels = Self.pieces(of: line.label, columns: columns - 4).map(names.isolated)
            if labels.count == 1, Columns.width(line.label) <= Self.labelColumns {
                let first = StyledLine(head + Columns.pad(labels[0], to: Self.labelColumns) + " " + texts[0], style)
                return [first] + texts.dropFirst().map { StyledLine(indent + $0, style) }
            }
            labels = labels.enumerated().map { ($0.offset == 0 ? head : "   ") + $0.element }
            return (labels + texts.map { indent + $0 }).map { StyledLine($0, style) }
        }
    }

    /// The text in lines of at most so many columns, broken inside a word if it is longer than a line.
    static func pieces(of text: String, columns: Int) -> [String] {
        let columns = max(8, columns)
        let lines = text.isEmpty ? [""] : LineBreaker.lines(of: text, columns: columns)
        return lines.flatMap { line -> [String] in
            guard Columns.width(line) > columns else { return [line] }
            var pieces = [""]
            var left = columns
            for character in line {
                let width = Columns.width(String(character))
                if width > left {
                    pieces.append("")
                    left = columns
                }
                left -= width
                pieces[pieces.count - 1].append(character)
            }
            return pieces
        }
    }

    private func sign(_ mark: Line.Mark) -> String {
        switch mark {
        case .removed: "−"
        case .added: "+"
        case .former: " "
        case .latter: names.isRightToLeft ? "←" : "→"
        case .order: "↕"
        }
    }

    private func style(_ mark: Line.Mark) -> StyledLine.Style {
        switch mark {
        case .removed: .warning
        case .added, .latter: .bold
        case .former, .order: .plain
        }
    }
}
