import BrokerFormatting
import BrokerJSON
import Testing

@testable import contact_agent

/// Presses keys in a prompt's screen, and answers its searches with thirty people.
struct Driver {
    var screen: PromptScreen
    let size: ScreenSize
    var isArmed = true
    /// Changes the row with this number, which counts from 1.
    var row: (Int, inout Row) -> Void = { _, _ in }
    var card = Card(name: "Person", lines: [])
    var total = 30
    /// If set, searches and cards are answered with these instead, as the agent's real searches are.
    var people: [BrokerStandIn.Contact]?
    /// The first row's identifier for some queries.
    var names: [String: String] = [:]
    private(set) var searches: [Effect] = []
    /// What was put back, or looked at before that.
    private(set) var putBacks: [Effect] = []
    /// The number of keys that were pressed.
    private(set) var presses = 0

    static let size = ScreenSize(columns: 80, rows: 24)

    init(_ text: PromptText, own: Bool = false, on size: ScreenSize = Self.size, _ language: String = "en") throws {
        let names = LocalizedNames(languages: [language])
        var prompt = try #require(Prompt(JSONDocument(parsing: Array(text.json.utf8)).root))
        prompt.isOwn = own
        screen = PromptScreen(prompt, names)
        self.size = size
    }

    /// Shows the prompt, as the agent does before the first key.
    mutating func begin() { follow(screen.dialogue.begin(on: size)) }

    static func rows(_ range: Range<Int>) -> [Row] {
        range.map { Row(identifier: "r\($0)", name: "Person \($0)", isGranted: false, isEnabled: true) }
    }

    /// Presses the keys of a text, which ``key(_:)`` explains.
    ///
    /// - Returns: the effect of the last key.
    @discardableResult
    mutating func press(_ text: String) -> Effect {
        var last = Effect.nothing
        for character in text { last = press(Self.key(character)) }
        return last
    }

    @discardableResult
    mutating func press(_ key: Key) -> Effect {
        presses += 1
        let effect = screen.press(key, on: size, isArmed: isArmed)
        follow(effect)
        return effect
    }

    private mutating func follow(_ effect: Effect) {
        switch effect {
        case .search(let query, let offset, let limit, let sharedOnly):
            searches.append(effect)
            if let people {
                let found = BrokerStandIn.found(people, query, offset: offset, limit: limit, sharedOnly: sharedOnly)
                let reply = try? JSONDocument(parsing: Array(found.utf8)).root
                let rows = reply?["rows"]?.elements.map { $0.compactMap { Row($0, screen.dialogue.names) } } ?? []
                let total = Int(reply?["total"]?.integer ?? 0)
                return screen.dialogue.found(SearchResult(rows: rows, total: total, offset: offset))
            }
            let total = sharedOnly ? min(12, total) : total
            var rows = Self.rows(offset + 1..<max(offset, min(total, offset + limit)) + 1)
            for index in rows.indices { row(offset + index + 1, &rows[index]) }
            if let name = names[query], !rows.isEmpty { rows[0].identifier = name }
            screen.dialogue.found(SearchResult(rows: rows, total: total, offset: offset))
        case .show(let identifier):
            let person = people?.first { $0.identifier == identifier }
            let reply = person.flatMap { try? JSONDocument(parsing: Array(BrokerStandIn.shown($0).utf8)).root }
            screen.dialogue.shown(reply.flatMap { Card(reply: $0, screen.dialogue.names) } ?? card)
        case .listChanges:
            let saves = Self.root(BrokerStandIn.changes)?["saves"]?.elements.map(Array.init) ?? []
            let names = screen.dialogue.names
            screen.changePast { $0.listed(saves.compactMap { PastSave($0, names) }) }
        case .foresee(let request), .putBack(let request):
            putBacks.append(effect)
            let reply = BrokerStandIn.putBack(
                contact: request.contact, isLater: request.later, isForced: request.force)
            guard let result = Self.root(reply).map({ PutBackResult($0, screen.dialogue.names) }) else { break }
            if case .foresee = effect { return screen.changePast { $0.foreseen(request, result) } }
            screen.changePast { $0.madeSo(result) }
            follow(.listChanges)
        case .nothing, .tooEarly, .answer: break
        }
    }

    private static func root(_ text: String) -> JSONValue? { try? JSONDocument(parsing: Array(text.utf8)).root }

    /// The key that a character stands for: ⏎ is Return, ⎋ Escape, ⇥ Tab, ⌫ Backspace, ⌧ Ctrl-U, ⇟ and ⇞ are Page Down
    /// and Page Up, ⤒ and ⤓ Home and End, and an arrow is an arrow key.
    static func key(_ character: Character) -> Key { special[character]?.key ?? .character(character) }

    /// What a terminal sends for these keys.
    static func bytes(_ keys: String) -> String { keys.map { special[$0]?.bytes ?? String($0) }.joined() }

    private static let special: [Character: (key: Key, bytes: String)] = [
        "⏎": (.enter, "\r"), "⎋": (.escape, "\u{1B}"), "⇥": (.tab, "\t"), "⌫": (.backspace, "\u{7F}"),
        "⌧": (.erase, "\u{15}"), "⇟": (.pageDown, "\u{1B}[6~"), "⇞": (.pageUp, "\u{1B}[5~"), "⤒": (.home, "\u{1B}[H"),
        "⤓": (.end, "\u{1B}[F"), "↑": (.up, "\u{1B}[A"), "↓": (.down, "\u{1B}[B"), "→": (.right, "\u{1B}[C"),
        "←": (.left, "\u{1B}[D"),
    ]

    var lines: [StyledLine] { screen.lines(on: size, isArmed: isArmed) }
    func shows(_ text: String) -> Bool { lines.contains { $0.text.contains(text) } }

    /// Expects that the screen fits, and that each line closes its bidirectional isolates.
    func expectFit(_ comment: Comment) {
        let lines = lines
        #expect(lines.count <= size.rows - 2, "\(comment): \(lines.map(\.text).joined(separator: "\n"))")
        let hints = Hint.line(screen.hints, columns: size.columns)
        for line in lines + [hints] {
            #expect(Columns.width(line.text) <= size.columns, "\(comment): \(line.text)")
            #expect(Isolates.open(in: line.text).isEmpty, "\(line.text)")
        }
        // Refusing must be visible everywhere. Help and text input end with any key or Return.
        #expect(hints.text.contains("[Esc]") || screen.cover == .help, "\(comment): \(hints.text)")
    }
}
