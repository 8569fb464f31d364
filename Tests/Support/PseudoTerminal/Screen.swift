import CBrokerLinux

/// The content of a terminal's screen. It supports enough of ECMA-48 and of xterm's control sequences for programs that
/// draw simply.
///
/// Colours and other styles are parsed and ignored.
public struct Screen: Sendable {
    public private(set) var columns: Int
    public private(set) var rows: Int
    /// Whether the program uses xterm's alternate screen.
    public private(set) var isAlternate = false
    public private(set) var isCursorVisible = true
    public private(set) var cursor: (row: Int, column: Int) = (0, 0)

    /// One cell: a character with its combining marks, or `""` after a wide one.
    private var cells: [[String]]
    private var saved: (cells: [[String]], cursor: (row: Int, column: Int))?
    private var wraps = true
    /// Whether the last column was written, so that the next character goes to the next line.
    private var isWrapPending = false
    private var parser = SequenceParser()

    public init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        cells = Self.blank(columns, rows)
    }

    /// The lines without trailing spaces.
    public var lines: [String] {
        cells.map { row in
            let text = row.joined()
            return String(text.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// The whole screen without trailing empty lines.
    public var text: String {
        var lines = lines
        while lines.last == "" { lines.removeLast() }
        return lines.joined(separator: "\n")
    }

    /// Whether a line shows this text.
    public func contains(_ text: String) -> Bool { lines.contains { $0.contains(text) } }

    public mutating func resize(columns: Int, rows: Int) {
        cells = Self.fit(cells, columns, rows)
        if let saved { self.saved = (Self.fit(saved.cells, columns, rows), saved.cursor) }
        self.columns = columns
        self.rows = rows
        move(row: cursor.row, column: cursor.column)
    }

    public mutating func draw(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            guard let item = parser.next(byte) else { continue }
            switch item {
            case .scalar(let scalar): put(scalar)
            case .control(let byte): control(byte)
            case .sequence(let parameters, let final): sequence(parameters, final)
            case .escape(let byte): escape(byte)
            }
        }
    }

    // MARK: -

    private static func blank(_ columns: Int, _ rows: Int) -> [[String]] {
        Array(repeating: Array(repeating: " ", count: columns), count: rows)
    }

    private static func fit(_ cells: [[String]], _ columns: Int, _ rows: Int) -> [[String]] {
        var fitted = cells.prefix(rows).map { row in
            Array(row.prefix(columns)) + Array(repeating: " ", count: max(0, columns - row.count))
        }
        while fitted.count < rows { fitted.append(Array(repeating: " ", count: columns)) }
        return fitted
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        let width = max(0, Int(clinux_columns(scalar.value)))
        guard width > 0 else {
            let column = isWrapPending ? cursor.column : cursor.column - 1
            if column >= 0 { cells[cursor.row][column].unicodeScalars.append(scalar) }
            return
        }
        if isWrapPending, wraps {
            cursor.column = 0
            lineFeed()
        }
        isWrapPending = false
        if cursor.column + width > columns { cursor.column = max(0, columns - width) }
        cells[cursor.row][cursor.column] = String(scalar)
        if width == 2, cursor.column + 1 < columns { cells[cursor.row][cursor.column + 1] = "" }
        cursor.column += width
        if cursor.column >= columns {
            cursor.column = columns - 1
            isWrapPending = true
        }
    }

    private mutating func control(_ byte: UInt8) {
        switch byte {
        case 0x08: move(row: cursor.row, column: cursor.column - 1)
        case 0x09: move(row: cursor.row, column: (cursor.column / 8 + 1) * 8)
        case 0x0A, 0x0B, 0x0C:
            isWrapPending = false
            lineFeed()
        case 0x0D: move(row: cursor.row, column: 0)
        default: break
        }
    }

    private mutating func lineFeed() {
        guard cursor.row == rows - 1 else {
            cursor.row += 1
            return
        }
        cells.removeFirst()
        cells.append(Array(repeating: " ", count: columns))
    }

    private mutating func escape(_ byte: UInt8) {
        // ESC c, reset to initial state; ESC M, reverse index.
        if byte == UInt8(ascii: "c") {
            self = Screen(columns: columns, rows: rows)
        } else if byte == UInt8(ascii: "M") {
            move(row: cursor.row - 1, column: cursor.column)
        }
    }

    private mutating func sequence(_ parameters: SequenceParser.Parameters, _ final: UInt8) {
        let first = max(1, parameters.number(0) ?? 1)
        switch Character(Unicode.Scalar(final)) {
        case "A": move(row: cursor.row - first, column: cursor.column)
        case "B": move(row: cursor.row + first, column: cursor.column)
        case "C": move(row: cursor.row, column: cursor.column + first)
        case "D": move(row: cursor.row, column: cursor.column - first)
        case "G": move(row: cursor.row, column: first - 1)
        case "d": move(row: first - 1, column: cursor.column)
        case "H", "f": move(row: first - 1, column: max(1, parameters.number(1) ?? 1) - 1)
        case "J": eraseDisplay(parameters.number(0) ?? 0)
        case "K": eraseLine(parameters.number(0) ?? 0)
        case "h" where parameters.isPrivate: setModes(parameters, to: true)
        case "l" where parameters.isPrivate: setModes(parameters, to: false)
        default: break
        }
    }

    private mutating func setModes(_ parameters: SequenceParser.Parameters, to isSet: Bool) {
        for mode in parameters.numbers {
            switch mode {
            case 7: wraps = isSet
            case 25: isCursorVisible = isSet
            case 47, 1047, 1049: setAlternate(isSet)
            default: break
            }
        }
    }

    private mutating func setAlternate(_ isWanted: Bool) {
        guard isWanted != isAlternate else { return }
        isAlternate = isWanted
        isWrapPending = false
        if isWanted {
            saved = (cells, cursor)
            cells = Self.blank(columns, rows)
        } else if let saved {
            cells = Self.fit(saved.cells, columns, rows)
            move(row: saved.cursor.row, column: saved.cursor.column)
            self.saved = nil
        }
    }

    private mutating func move(row: Int, column: Int) {
        isWrapPending = false
        cursor = (min(max(0, row), rows - 1), min(max(0, column), columns - 1))
    }

    private mutating func eraseDisplay(_ what: Int) {
        switch what {
        case 0:
            eraseLine(0)
            for row in cursor.row + 1..<max(cursor.row + 1, rows) { erase(row, 0..<columns) }
        case 1:
            eraseLine(1)
            for row in 0..<cursor.row { erase(row, 0..<columns) }
        default:
            for row in 0..<rows { erase(row, 0..<columns) }
        }
    }

    private mutating func eraseLine(_ what: Int) {
        switch what {
        // Once the last column is written, nothing after it is left to erase.
        case 0: erase(cursor.row, (isWrapPending ? columns : cursor.column)..<columns)
        case 1: erase(cursor.row, 0..<cursor.column + 1)
        default: erase(cursor.row, 0..<columns)
        }
    }

    private mutating func erase(_ row: Int, _ range: Range<Int>) {
        for column in range { cells[row][column] = " " }
    }
}
