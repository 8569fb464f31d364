/// Cuts a stream of bytes into cards and their lines into unfolded lines (RFC 6350 §3.2), however the stream arrives.
///
/// It unfolds bytes, before anything is decoded: some writers fold within a character. LF, CRLF, CR and CR CR LF all
/// end a line, for all of them occur. Outside of cards everything is skipped.
struct CardSplitter {
    /// One line of a card, unfolded, and where in the card's bytes it stands.
    struct Line {
        /// Where it begins in the file, from 1.
        let number: Int
        var range: Range<Int>
        /// ASCII without control characters but tab.
        var isPlain: Bool
    }

    /// One card: what stands between BEGIN and END.
    struct Card {
        let firstLine: Int
        /// The lines, one after the other and without line ends.
        var bytes: [UInt8] = []
        var lines: [Line] = []
        var isWithoutEnd = false
        var isVersion21 = false
    }

    enum Item {
        case card(Card)
        case problem(CardProblem)
    }

    private enum State {
        case outside
        case inside
        /// In a card that is too long: nothing is kept of it.
        case skipping
    }

    private let limits: VCardLimits
    private var state = State.outside
    /// The card, where one is open. Its bytes end with the physical line that has not ended yet.
    private var card = Card(firstLine: 1)
    /// Cards opened within the card: they are the text of its AGENT.
    private var depth = 0
    private var cardSize = 0
    /// The card's last line is quoted-printable, and goes on in the next physical line.
    private var goesOn = false
    /// An empty line came after the card's last line.
    private var isCut = false
    private var items: ArraySlice<Item> = []

    /// Where in the card's bytes the physical line begins.
    private var lineStart = 0
    private var lineIsPlain = true
    private var lineIsTooLong = false
    private var lineNumber = 1
    private var endedInCR = false

    init(limits: VCardLimits) {
        self.limits = limits
    }

    /// Takes UTF-8, or what is taken for it.
    mutating func append(_ chunk: [UInt8]) {
        var start = 0
        for index in 0..<chunk.count {
            let byte = chunk[index]
            if byte &- 0x20 < 0x5F { continue }
            guard byte == 0x0A || byte == 0x0D else {
                if byte != 0x09 { lineIsPlain = false }
                continue
            }
            take(chunk[start..<index])
            start = index + 1
            if endedInCR, card.bytes.count == lineStart, !lineIsTooLong {
                // The line ended with the CR; and CR CR LF is one end.
                if byte == 0x0A { endedInCR = false }
                continue
            }
            endLine()
            endedInCR = byte == 0x0D
        }
        take(chunk[start...])
    }

    /// The stream is over.
    mutating func finish() {
        if card.bytes.count > lineStart || lineIsTooLong { endLine() }
        if state == .inside {
            card.isWithoutEnd = true
            deliver()
        }
        state = .outside
    }

    mutating func next() -> Item? {
        // What was taken is held as long as its slice is.
        if items.isEmpty { items = [] }
        return items.popFirst()
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty, !lineIsTooLong else { return }
        guard card.bytes.count - lineStart + bytes.count <= limits.cardSize else {
            dropLine()
            lineIsTooLong = true
            return
        }
        card.bytes.append(contentsOf: bytes)
    }

    private mutating func dropLine() { card.bytes.removeLast(card.bytes.count - lineStart) }

    private var line: ArraySlice<UInt8> { card.bytes[lineStart...] }

    private mutating func endLine() {
        defer {
            lineIsTooLong = false
            lineIsPlain = true
            lineNumber += 1
            lineStart = card.bytes.count
        }
        if lineIsTooLong {
            if state == .inside { refuse() }
            return
        }
        guard card.bytes.count > lineStart else {
            // Some writers end the last line of a value as if another came.
            goesOn = false
            isCut = true
            return
        }
        switch state {
        case .outside:
            if boundary == .begin { open() } else { dropLine() }
        case .skipping:
            switch boundary {
            case .begin:
                open()
                return
            case .end: state = .outside
            case nil: break
            }
            dropLine()
        case .inside: addLine()
        }
    }

    private mutating func open() {
        state = .inside
        card = Card(firstLine: lineNumber)
        card.bytes.reserveCapacity(512)
        card.lines.reserveCapacity(16)
        lineStart = 0
        depth = 0
        cardSize = 0
        goesOn = false
        isCut = false
    }

    private mutating func deliver() { leave(.outside, with: .card(card)) }

    private mutating func refuse() {
        leave(.skipping, with: .problem(CardProblem(line: card.firstLine, reason: .tooLong)))
    }

    private mutating func leave(_ next: State, with item: Item) {
        items.append(item)
        state = next
        card = Card(firstLine: lineNumber)
        lineStart = 0
    }

    /// Adds the line to the card that it stands in.
    private mutating func addLine() {
        switch boundary {
        case .end:
            guard depth > 0 else {
                dropLine()
                deliver()
                return
            }
            addToAgent()
            depth -= 1
        case .begin:
            guard depth > 0 || opensCard, depth < limits.depth else {
                dropLine()
                card.isWithoutEnd = true
                deliver()
                open()
                return
            }
            addToAgent(isFirst: depth == 0)
            depth += 1
        case nil:
            if depth > 0 { addToAgent() } else { addToCard() }
        }
        if cardSize > limits.cardSize || card.lines.count > limits.cardLines { refuse() }
    }

    private mutating func addToCard() {
        cardSize += card.bytes.count - lineStart
        let first = card.bytes[lineStart]
        if goesOn {
            // White space at the beginning is text here (RFC 2045 §6.7).
            card.bytes.remove(at: lineStart - 1)
            extendLast()
        } else if first == 0x20 || first == 0x09, !card.lines.isEmpty {
            // vCard 2.1 folds where white space stands, and it stays.
            if !card.isVersion21 { card.bytes.remove(at: lineStart) }
            extendLast()
        } else if !isCut, !line.contains(UInt8(ascii: ":")), continuesBase64 {
            extendLast()
        } else {
            card.lines.append(Line(number: lineNumber, range: lineStart..<card.bytes.count, isPlain: lineIsPlain))
            if first == UInt8(ascii: "V") || first == UInt8(ascii: "v"), line.count < 64,
                ASCII.equal(line.filter { !ASCII.isSpace($0) }, "VERSION:2.1")
            {
                card.isVersion21 = true
            }
        }
        isCut = false
        if card.bytes.last == UInt8(ascii: "="), let last = card.lines.last {
            goesOn = QuotedPrintable.isSaid(by: card.bytes[last.range])
        } else {
            goesOn = false
        }
    }

    /// The physical line becomes part of the line before it.
    private mutating func extendLast() {
        let last = card.lines.count - 1
        card.lines[last].range = card.lines[last].range.lowerBound..<card.bytes.count
        if !lineIsPlain { card.lines[last].isPlain = false }
    }

    /// Whether the physical line goes on with base64 as vCard 2.1 has it: without white space before it.
    private var continuesBase64: Bool {
        guard let last = card.lines.last,
            line.allSatisfy({ PhotoValue.isBase64($0) || $0 == UInt8(ascii: "=") })
        else { return false }
        let head = card.bytes[last.range].prefix(256).prefix { $0 != UInt8(ascii: ":") }
        return head.split { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") }.dropFirst()
            .contains { ASCII.equal($0, "BASE64") || ASCII.equal($0, "B") }
    }

    /// A card within a card is the text of its AGENT, as vCard 3.0 has it (RFC 2426 §3.5.4): so it is kept, and none of
    /// it is the card's own.
    private mutating func addToAgent(isFirst: Bool = false) {
        let text = Array(line)
        dropLine()
        cardSize += text.count
        if !isFirst { card.bytes += "\\n".utf8 }
        for byte in text {
            if byte == UInt8(ascii: "\\") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";") {
                card.bytes.append(UInt8(ascii: "\\"))
            }
            card.bytes.append(byte)
        }
        extendLast()
        goesOn = false
    }

    /// Whether a card that begins after this line is part of it: `AGENT:` in vCard 2.1.
    private var opensCard: Bool {
        guard let range = card.lines.last?.range else { return false }
        let bytes = card.bytes[range]
        return bytes.count >= 6 && bytes.last == UInt8(ascii: ":") && ASCII.equal(bytes.prefix(5), "AGENT")
    }

    private enum Boundary {
        case begin, end
    }

    /// Whether the line says `BEGIN:VCARD` or `END:VCARD`, in any case and with white space around; behind a line of a
    /// card, white space before it makes it that line's.
    private var boundary: Boundary? {
        switch card.bytes[lineStart] {
        case UInt8(ascii: "B"), UInt8(ascii: "b"), UInt8(ascii: "E"), UInt8(ascii: "e"): break
        case 0x20, 0x09: if state == .inside, !card.lines.isEmpty { return nil }
        // Files that were put together have byte order marks within.
        case Self.byteOrderMark[0]: break
        default: return nil
        }
        guard card.bytes.count - lineStart < 64 else { return nil }
        var line = line
        if line.starts(with: Self.byteOrderMark) { line = line.dropFirst(3) }
        line = ASCII.trimmed(line)
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line.count >= 9,
            ASCII.equal(ASCII.trimmed(line[(colon + 1)...]), "VCARD")
        else { return nil }
        let word = ASCII.trimmed(line[..<colon])
        return ASCII.equal(word, "BEGIN") ? .begin : ASCII.equal(word, "END") ? .end : nil
    }

    private static let byteOrderMark = StreamDecoder.byteOrderMark
}
