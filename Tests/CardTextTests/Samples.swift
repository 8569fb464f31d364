import BrokerCardText
import Testing

/// Returns a card of vCard 3.0 with these content lines.
func card(_ lines: String...) throws -> CardText { try card(lines) }

func card(_ lines: [String]) throws -> CardText {
    try CardText(Array((["BEGIN:VCARD", "VERSION:3.0"] + lines + ["END:VCARD", ""]).joined(separator: "\r\n").utf8))
}

extension CardText {
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The content lines between VERSION and END.
    var content: [String] {
        text.split(whereSeparator: \.isNewline).map(String.init)
            .filter { !["BEGIN:VCARD", "VERSION:3.0", "END:VCARD"].contains($0) }
    }

    /// How often the card has each meaning.
    var meaning: [[UInt8]: Int] { units.reduce(into: [:]) { $0[$1.canonical, default: 0] += 1 } }
}

/// SplitMix64: random numbers that are the same in every run.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: Int) { state = UInt64(seed) }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func one<Element>(of all: [Element]) -> Element { all[Int.random(in: all.indices, using: &self)] }

    mutating func text() -> String {
        let words = [
            "Ngozi", "Ærø", "東京", "a\\, b", "x\\;y", "line\\nbreak", "👩‍👩‍👧", "\\\\", "Straße 12", "http://a/?q=1",
        ]
        return (0...Int.random(in: 0...12, using: &self)).map { _ in one(of: words) }.joined(separator: " ")
            + " \(Int.random(in: 0..<1_000_000, using: &self))"
    }
}

/// A random card: its properties, each with the lines of its group.
struct SampleCard {
    typealias Property = (name: String, lines: [String])

    static let repeatable = ["TEL", "EMAIL", "ADR", "URL", "X-ABDATE", "X-FOO"]
    static let single = ["N", "FN", "BDAY", "NOTE", "ORG", "PHOTO"]

    var properties: [Property] = []
    private var lastGroup = 0

    init(_ random: inout Seeded) {
        for name in Self.single where Bool.random(using: &random) { properties.append(property(name, &random)) }
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            properties.append(property(random.one(of: Self.repeatable), &random))
        }
        properties.shuffle(using: &random)
    }

    private mutating func property(_ name: String, _ random: inout Seeded) -> Property {
        let text = random.text()
        let number = Int.random(in: 1_000_000..<9_999_999, using: &random)
        let day = 10 + number % 18
        lastGroup += 1
        let group = "item\(lastGroup)"
        let label = "\(group).X-ABLabel:\(random.one(of: ["_$!<Other>!$_", "Front desk", text]))"
        switch name {
        case "TEL":
            if Bool.random(using: &random) { return (name, ["\(group).TEL:+47 \(number)", label]) }
            return (name, ["TEL;TYPE=CELL;TYPE=\(random.one(of: ["HOME", "work"])):+47 \(number)"])
        case "EMAIL": return (name, ["EMAIL;type=INTERNET,pref:\(number)@example.com"])
        case "ADR": return (name, ["\(group).ADR;TYPE=HOME:;;\(text);Oslo;;;Norge", "\(group).X-ABADR:no"])
        case "URL": return (name, ["\(group).URL:http://\(number).example", label])
        case "X-ABDATE": return (name, ["\(group).X-ABDATE:1999-11-\(day)", label])
        case "X-FOO": return (name, ["X-FOO;X-BAR=\"a;b\":\(text)"])
        case "N": return (name, ["N:\(text);Ada;;;"])
        case "BDAY": return (name, ["BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-\(day)"])
        case "ORG": return (name, ["ORG:\(text);Sales \(number)"])
        case "PHOTO": return (name, ["PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQ\(number)"])
        default: return (name, ["\(name):\(text)"])
        }
    }

    /// Adds, removes or changes a value of this property.
    mutating func edit(_ name: String, _ random: inout Seeded) {
        let places = properties.indices.filter { properties[$0].name == name }
        guard !places.isEmpty, Bool.random(using: &random) || Self.single.contains(name) else {
            return properties.insert(
                property(name, &random), at: Int.random(in: 0...properties.count, using: &random))
        }
        let place = random.one(of: places)
        if Bool.random(using: &random) {
            properties.remove(at: place)
        } else {
            properties[place] = property(name, &random)
        }
    }

    /// Returns the text with LF or CRLF, folded at any width.
    func written(_ random: inout Seeded) throws -> CardText {
        let end = random.one(of: ["\r\n", "\n"])
        let lines = ["BEGIN:VCARD", "VERSION:3.0"] + properties.flatMap(\.lines) + ["END:VCARD"]
        let width = random.one(of: [20, 75, 1_000])
        let folded = lines.map { line in
            let characters = Array(line)
            return stride(from: 0, to: characters.count, by: width)
                .map { String(characters[$0..<min($0 + width, characters.count)]) }.joined(separator: end + " ")
        }
        return try CardText(Array((folded.joined(separator: end) + end).utf8))
    }

    /// Returns the text as a client rewrites it without a meaning: sorted anew, in upper case, with what it adds.
    func rewritten(_ random: inout Seeded) throws -> CardText {
        var copy = self
        copy.properties.shuffle(using: &random)
        for place in copy.properties.indices {
            copy.properties[place].lines = copy.properties[place].lines.shuffled(using: &random).map { line in
                let colon = line.firstIndex(of: ":") ?? line.endIndex
                let head = line[..<colon].replacing("TEL", with: "TEL;X-EVOLUTION-E164=1,\"+47\"")
                return (head.contains("X-BAR") ? String(head) : head.uppercased()) + line[colon...]
            }
        }
        copy.properties.append(("REV", ["REV:20261128T094737Z", "X-EVOLUTION-FILE-AS:Person\\, New"]))
        return try copy.written(&random)
    }
}
