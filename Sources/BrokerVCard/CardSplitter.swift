import BrokerBounds

/// Splits a stream of bytes into cards, and cards into unfolded lines (RFC 6350 §3.2). Chunk boundaries do not matter.
///
/// Lines are unfolded before they are decoded, because some writers fold within a character. LF, CRLF, CR and
/// CR CR LF each end a line, because files contain all of them. Bytes outside cards are skipped.
package struct CardSplitter {
    /// One unfolded line, as a range of the card's bytes.
    package struct Line {
        /// The line of the file on which it begins, counted from 1.
        package let number: Int
        package var range: Range<Int>
        /// Whether the line contains only printable ASCII and tabs.
        var isPlain: Bool
    }

    /// One card: the lines between BEGIN and END.
    package struct Card {
        package let firstLine: Int
        /// The lines, concatenated without line ends.
        package var bytes: [UInt8] = []
        package var lines: [Line] = []
        package var isWithoutEnd = false
        /// The line of an END with another value than VCARD.
        var oddEnd: Int?
        package var isVersion21 = false
        /// Whether a byte order mark before the file or the card declares UTF-8.
        var isUTF8 = false
        /// The lines on which properties began that were left out because they are too long.
        var tooLong: [Int] = []
    }

    package enum Item {
        case card(Card)
        case problem(CardProblem)
    }

    private enum State {
        case outside
        case inside
        /// In a card that is too long. Its lines are dropped.
        case skipping
    }

    /// Whether the stream begins with the byte order mark of UTF-8.
    var isUTF8 = false
    private let limits: VCardLimits
    private var state = State.outside
    /// The open card. Its bytes end with the unfinished physical line.
    private var card = Card(firstLine: 1)
    /// The nesting depth of cards within the open card. Nested cards become the text of its AGENT property.
    private var depth = 0
    private var cardSize = 0
    /// Whether the card's last line is quoted-printable and continues in the next physical line.
    private var goesOn = false
    /// Whether an empty line followed the card's last line.
    private var isCut = false
    /// Whether the last property was left out because it is too long. Its further lines are dropped.
    private var isDropping = false
    private var items: ArraySlice<Item> = []

    /// The offset in the card's bytes at which the physical line begins.
    private var lineStart = 0
    private var lineIsPlain = true
    private var lineIsTooLong = false
    /// Whether a line that is too long begins with white space, as a continuation does.
    private var continuesTooLong = false
    private var lineNumber = 1
    private var endedInCR = false

    package init(limits: VCardLimits) {
        self.limits = limits
    }

    /// Adds a chunk in UTF-8 or another superset of ASCII.
    package mutating func append(_ chunk: [UInt8]) {
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
                // The CR already ended the line. A second CR, as in CR CR LF, belongs to the same line end.
                if byte == 0x0A { endedInCR = false }
                continue
            }
            endLine()
            endedInCR = byte == 0x0D
        }
        take(chunk[start...])
    }

    /// Ends the stream.
    package mutating func finish() {
        if card.bytes.count > lineStart || lineIsTooLong { endLine() }
        if state == .inside { deliverWithoutEnd() }
        state = .outside
    }

    package mutating func next() -> Item? {
        // An array slice keeps its removed elements alive, so an empty slice is replaced.
        if items.isEmpty { items = [] }
        return items.popFirst()
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty, !lineIsTooLong else { return }
        guard card.bytes.count - lineStart + bytes.count <= limits.cardSize else {
            let first = card.bytes.count > lineStart ? card.bytes[lineStart] : bytes[bytes.startIndex]
            continuesTooLong = first == 0x20 || first == 0x09
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
            guard state == .inside else { return }
            if depth > 0 { refuse() } else { leaveOutTooLongLine() }
            return
        }
        guard card.bytes.count > lineStart else {
            // Some writers end a value's last line with a soft line break. The empty line ends the value.
            goesOn = false
            isCut = true
            return
        }
        takeLine()
    }

    /// Takes the physical line. A line that begins or ends a card can have more after it, because some programs
    /// concatenate files without a line end: `END:VCARDBEGIN:VCARD`.
    private mutating func takeLine() {
        guard var boundary else { return takeLine(nil) }
        guard boundary.length < line.count else { return takeLine(boundary) }
        var rest = Array(line)[...]
        dropLine()
        while true {
            lineStart = card.bytes.count
            card.bytes += rest.prefix(boundary.length)
            takeLine(boundary)
            rest = rest.dropFirst(boundary.length)
            guard let next = CardBoundary(rest) else { break }
            boundary = next
        }
        lineStart = card.bytes.count
        card.bytes += rest
        if !rest.isEmpty { takeLine(nil) }
    }

    private mutating func takeLine(_ boundary: CardBoundary?) {
        switch state {
        case .outside:
            if boundary?.word == .begin { open() } else { dropLine() }
        case .skipping:
            switch boundary?.word {
            case .begin:
                open()
                return
            case .end: state = .outside
            case nil: break
            }
            dropLine()
        case .inside: addLine(boundary)
        }
    }

    private mutating func open() {
        state = .inside
        let isMarked = line.starts(with: StreamDecoder.byteOrderMark)
        card = Card(firstLine: lineNumber)
        card.isUTF8 = isUTF8 || isMarked
        card.bytes.reserveCapacity(512)
        card.lines.reserveCapacity(16)
        lineStart = 0
        depth = 0
        cardSize = 0
        goesOn = false
        isCut = false
        isDropping = false
    }

    private mutating func deliver() { leave(.outside, with: .card(card)) }

    /// Delivers a card whose end is not on a line of its own. The end can be in its last line: `NOTE:teaEND:VCARD`.
    private mutating func deliverWithoutEnd() {
        card.isWithoutEnd = true
        if let last = card.lines.indices.last {
            let range = card.lines[last].range
            card.lines[last].range = range.lowerBound..<range.upperBound - CardBoundary.end(of: card.bytes[range])
        }
        deliver()
    }

    private mutating func refuse() {
        leave(.skipping, with: .problem(CardProblem(line: card.firstLine, reason: .tooLong)))
    }

    private mutating func leave(_ next: State, with item: Item) {
        items.append(item)
        state = next
        card = Card(firstLine: lineNumber)
        lineStart = 0
    }

    /// Adds the physical line to the open card.
    private mutating func addLine(_ boundary: CardBoundary?) {
        switch boundary?.word {
        case .end:
            guard depth > 0 else {
                dropLine()
                if boundary?.isOdd == true { card.oddEnd = lineNumber }
                deliver()
                return
            }
            addToAgent()
            depth -= 1
        case .begin:
            guard depth > 0 || opensCard, depth < limits.depth else {
                dropLine()
                deliverWithoutEnd()
                open()
                return
            }
            addToAgent(isFirst: depth == 0)
            depth += 1
        case nil:
            if depth > 0 { addToAgent() } else { addToCard() }
        }
        if cardSize > limits.cardSize, depth == 0, let last = card.lines.last,
            last.range.count > limits.cardSize / 2
        {
            // One property, such as a photo, makes the card too long. The others are kept.
            leaveOutLast(last)
        }
        if cardSize > limits.cardSize || card.lines.count > limits.cardLines { refuse() }
    }

    /// Leaves out the last property. Its further lines will be dropped.
    private mutating func leaveOutLast(_ last: Line) {
        card.bytes.removeLast(card.bytes.count - last.range.lowerBound)
        card.lines.removeLast()
        card.tooLong.append(last.number)
        cardSize = card.bytes.count
        goesOn = false
        isDropping = true
    }

    /// Leaves out the property to which a dropped line belongs.
    private mutating func leaveOutTooLongLine() {
        if isDropping, continuesTooLong { return }
        if continuesTooLong || goesOn, let last = card.lines.last {
            leaveOutLast(last)
        } else {
            card.tooLong.append(lineNumber)
            isDropping = true
        }
    }

    private mutating func addToCard() {
        let first = card.bytes[lineStart]
        if isDropping {
            let isBase64 = line.allSatisfy { PhotoValue.isBase64($0) || $0 == UInt8(ascii: "=") }
            if first == 0x20 || first == 0x09 || !isCut && isBase64 { return dropLine() }
            isDropping = false
        }
        cardSize += card.bytes.count - lineStart
        if goesOn {
            // Leading white space is part of the value (RFC 2045 §6.7), but not within a character.
            let isWithin = first == 0x20 && QuotedPrintable.isWithinCharacter(card.bytes, at: lineStart - 1)
            card.bytes.removeSubrange(lineStart - 1..<lineStart + (isWithin ? 1 : 0))
            extendLast()
        } else if first == 0x20 || first == 0x09, !card.lines.isEmpty {
            // vCard 2.1 folds at existing white space, which belongs to the value.
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

    /// Appends the physical line to the line before it.
    private mutating func extendLast() {
        let last = card.lines.count - 1
        card.lines[last].range = card.lines[last].range.lowerBound..<card.bytes.count
        if !lineIsPlain { card.lines[last].isPlain = false }
    }

    /// Whether the physical line continues base64 without leading white space, as in vCard 2.1.
    private var continuesBase64: Bool {
        guard let last = card.lines.last,
            line.allSatisfy({ PhotoValue.isBase64($0) || $0 == UInt8(ascii: "=") })
        else { return false }
        let head = card.bytes[last.range].prefix(256).prefix { $0 != UInt8(ascii: ":") }
        return head.split { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") }.dropFirst()
            .contains { ASCII.equal($0, "BASE64") || ASCII.equal($0, "B") }
    }

    /// Adds a line of a nested card as text of the AGENT property, escaped as in vCard 3.0 (RFC 2426 §3.5.4).
    /// The nested card is therefore kept, and its properties are not mistaken for the outer card's.
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

    /// Whether the last line is an `AGENT` without a value. In vCard 2.1, a nested card follows it.
    private var opensCard: Bool {
        guard let range = card.lines.last?.range else { return false }
        let bytes = card.bytes[range]
        return bytes.count >= 6 && bytes.last == UInt8(ascii: ":") && ASCII.equal(bytes.prefix(5), "AGENT")
    }

    /// The boundary with which the line begins. If the card already has a line, leading white space makes this line a
    /// continuation instead.
    private var boundary: CardBoundary? {
        if state == .inside, !card.lines.isEmpty, line.first == 0x20 || line.first == 0x09 { return nil }
        return CardBoundary(line)
    }
}
