/// Cuts a stream of bytes into cards and their lines into unfolded lines (RFC 6350 §3.2), however the stream arrives.
///
/// It unfolds bytes, before anything is decoded: some writers fold within a character. LF, CRLF, CR and CR CR LF all
/// end a line, for all of them occur. Outside of cards everything is skipped.
struct CardSplitter {
    /// One line of a card, unfolded.
    struct Line {
        /// Where it begins in the file, from 1.
        let number: Int
        var bytes: [UInt8]
    }

    /// One card: what stands between BEGIN and END.
    struct Card {
        let firstLine: Int
        var lines: [Line] = []
        var isWithoutEnd = false
    }

    enum Item {
        case card(Card)
        case problem(CardProblem)
    }

    private enum State {
        case outside
        case inside(Card)
        /// In a card that is too long: nothing is kept of it.
        case skipping
    }

    private let limits: VCardLimits
    private var state = State.outside
    /// Cards opened within the card, whose lines are nobody's.
    private var depth = 0
    private var cardSize = 0
    /// The card's last line is quoted-printable, and goes on in the next physical line.
    private var goesOn = false
    private var items: [Item] = []
    private var nextItem = 0

    /// The physical line that has not ended yet.
    private var line: [UInt8] = []
    private var lineIsTooLong = false
    private var lineNumber = 1
    private var endedInCR = false
    private var isAtStart = true

    init(limits: VCardLimits) {
        self.limits = limits
    }

    mutating func append(_ chunk: [UInt8]) {
        var start = 0
        for (index, byte) in chunk.enumerated() where byte == 0x0A || byte == 0x0D {
            take(chunk[start..<index])
            start = index + 1
            if byte == 0x0A, endedInCR, line.isEmpty, !lineIsTooLong {
                // The line ended with the CR.
                endedInCR = false
                continue
            }
            if byte == 0x0D, endedInCR, line.isEmpty, !lineIsTooLong {
                // CR CR LF: one end.
                continue
            }
            endLine()
            endedInCR = byte == 0x0D
        }
        take(chunk[start...])
    }

    /// The stream is over.
    mutating func finish() {
        if !line.isEmpty || lineIsTooLong { endLine() }
        if case .inside(var card) = state {
            card.isWithoutEnd = true
            items.append(.card(card))
        }
        state = .outside
    }

    mutating func next() -> Item? {
        guard nextItem < items.count else {
            items.removeAll(keepingCapacity: true)
            nextItem = 0
            return nil
        }
        defer { nextItem += 1 }
        return items[nextItem]
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty, !lineIsTooLong else { return }
        guard line.count + bytes.count <= limits.cardSize else {
            line.removeAll()
            lineIsTooLong = true
            return
        }
        line.append(contentsOf: bytes)
    }

    private mutating func endLine() {
        defer {
            line.removeAll(keepingCapacity: true)
            lineIsTooLong = false
            lineNumber += 1
        }
        if isAtStart { skipByteOrderMark() }
        if lineIsTooLong {
            if case .inside(let card) = state { refuse(card) }
            return
        }
        guard !line.isEmpty else {
            // Some writers end the last line of a value as if another came.
            goesOn = false
            return
        }
        switch state {
        case .outside:
            guard isBoundary("BEGIN") else { return }
            open()
        case .skipping:
            if isBoundary("END") { state = .outside } else if isBoundary("BEGIN") { open() }
        case .inside(var card):
            // Not held twice while it grows.
            state = .outside
            add(to: &card)
        }
    }

    private mutating func open() {
        state = .inside(Card(firstLine: lineNumber))
        depth = 0
        cardSize = 0
        goesOn = false
    }

    /// Adds the line to the card that it stands in.
    private mutating func add(to card: inout Card) {
        if isBoundary("END") {
            guard depth > 0 else {
                items.append(.card(card))
                return
            }
            depth -= 1
        } else if isBoundary("BEGIN") {
            if depth > 0 || Self.opensCard(card.lines.last), depth < limits.depth {
                depth += 1
            } else {
                card.isWithoutEnd = true
                items.append(.card(card))
                open()
                return
            }
        } else if depth == 0 {
            cardSize += line.count
            let last = card.lines.count - 1
            if goesOn {
                // White space at the beginning is text here (RFC 2045 §6.7).
                card.lines[last].bytes.removeLast()
                card.lines[last].bytes.append(contentsOf: line)
            } else if line[0] == 0x20 || line[0] == 0x09, last >= 0 {
                card.lines[last].bytes.append(contentsOf: line[1...])
            } else {
                card.lines.append(Line(number: lineNumber, bytes: line))
            }
            goesOn = card.lines.last.map { QuotedPrintable.goesOn($0.bytes) } ?? false
            guard cardSize <= limits.cardSize, card.lines.count <= limits.cardLines else {
                refuse(card)
                return
            }
        }
        state = .inside(card)
    }

    private mutating func refuse(_ card: Card) {
        items.append(.problem(CardProblem(line: card.firstLine, reason: .tooLong)))
        state = .skipping
    }

    /// Whether a card that begins after this line is part of it: `AGENT:` in vCard 2.1.
    private static func opensCard(_ line: Line?) -> Bool {
        guard let line, line.bytes.count >= 6, line.bytes.last == UInt8(ascii: ":") else { return false }
        return ASCII.equal(line.bytes.prefix(5), "AGENT")
    }

    /// Whether the line says `BEGIN:VCARD` or `END:VCARD`, in any case and with white space around.
    private func isBoundary(_ word: String) -> Bool {
        guard line.count < 64 else { return false }
        let parts = ASCII.trimmed(line[...]).split(separator: UInt8(ascii: ":"), maxSplits: 1)
        return parts.count == 2 && ASCII.equal(ASCII.trimmed(parts[0]), word)
            && ASCII.equal(ASCII.trimmed(parts[1]), "VCARD")
    }

    private mutating func skipByteOrderMark() {
        isAtStart = false
        if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        if line.starts(with: [0xFE, 0xFF]) || line.starts(with: [0xFF, 0xFE]) {
            items.append(.problem(CardProblem(line: 1, reason: .utf16)))
        }
    }
}
