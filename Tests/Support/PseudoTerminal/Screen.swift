import CBrokerLinux

/// The content of a terminal's screen. It supports the parts of ECMA-48 and of xterm's control sequences that ncurses
/// uses for xterm, screen, tmux, the Linux console and the VT100.
public struct Screen: Sendable {
    public private(set) var columns: Int
    public private(set) var rows: Int
    /// Whether the program uses xterm's alternate screen.
    public private(set) var isAlternate = false
    public private(set) var isCursorVisible = true
    /// Whether the terminal marks pastes, and reports the mouse in SGR form.
    public private(set) var marksPastes = false
    public private(set) var reportsMouse = false
    public private(set) var cursor: (row: Int, column: Int) = (0, 0)

    /// A character with its combining marks, or `""` after a wide one.
    private struct Cell {
        var text = " "
        var style = CellStyle()
    }

    private var cells: [[Cell]]
    private var saved: (cells: [[Cell]], cursor: (row: Int, column: Int))?
    private var savedCursor = (row: 0, column: 0)
    private var style = CellStyle()
    /// The rows that scroll.
    private var region: Range<Int>
    private var wraps = true
    private var inserts = false
    /// Whether G0 and G1 are the line-drawing set, and which is in use.
    private var drawsLines = [false, false]
    private var charset = 0
    /// The last character, for REP.
    private var last: Unicode.Scalar = " "
    /// Whether the last column was written, so that the next character goes to the next line.
    private var isWrapPending = false
    private var parser = SequenceParser()

    public init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        region = 0..<rows
        cells = Self.blank(columns, rows)
    }

    /// The lines without trailing spaces.
    public var lines: [String] {
        cells.map { row in
            let text = row.map(\.text).joined()
            return String(text.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// The whole screen without trailing empty lines.
    public var text: String {
        var lines = lines
        while lines.last == "" { lines.removeLast() }
        return lines.joined(separator: "\n")
    }

    /// The lines with each run of reverse cells in `⟦⟧`, without trailing spaces that are not reverse.
    public var styledLines: [String] {
        cells.map { row in
            var line = ""
            var isReverse = false
            for cell in row {
                if cell.style.isReverse != isReverse { line += isReverse ? "⟧" : "⟦" }
                isReverse = cell.style.isReverse
                line += cell.text
            }
            if isReverse { line += "⟧" }
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// The style of the first cell that shows this text; `nil` if no line contains it.
    public func style(of text: String) -> CellStyle? {
        for row in cells {
            for start in row.indices where !row[start].text.isEmpty {
                if row[start...].map(\.text).joined().hasPrefix(text) { return row[start].style }
            }
        }
        return nil
    }

    /// Whether a line shows this text.
    public func contains(_ text: String) -> Bool { lines.contains { $0.contains(text) } }

    public mutating func resize(columns: Int, rows: Int) {
        cells = Self.fit(cells, columns, rows)
        if let saved { self.saved = (Self.fit(saved.cells, columns, rows), saved.cursor) }
        self.columns = columns
        self.rows = rows
        region = 0..<rows
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
            case .designation(let first, let set): designate(first, set)
            }
        }
    }

    // MARK: -

    private static func blank(_ columns: Int, _ rows: Int) -> [[Cell]] {
        Array(repeating: Array(repeating: Cell(), count: columns), count: rows)
    }

    private static func fit(_ cells: [[Cell]], _ columns: Int, _ rows: Int) -> [[Cell]] {
        var fitted = cells.prefix(rows).map { row in
            Array(row.prefix(columns)) + Array(repeating: Cell(), count: max(0, columns - row.count))
        }
        while fitted.count < rows { fitted.append(Array(repeating: Cell(), count: columns)) }
        return fitted
    }

    /// What erased cells look like: ncurses expects the background colour, and no other style (terminfo, `bce`).
    private var erased: Cell {
        var cell = Cell()
        cell.style.background = style.background
        return cell
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        let width = max(0, Int(clinux_columns(scalar.value)))
        guard width > 0 else {
            var column = isWrapPending ? cursor.column : cursor.column - 1
            if column > 0, cells[cursor.row][column].text.isEmpty { column -= 1 }
            if column >= 0 { cells[cursor.row][column].text.unicodeScalars.append(scalar) }
            return
        }
        last = scalar
        if isWrapPending, wraps {
            cursor.column = 0
            lineFeed()
        }
        isWrapPending = false
        if cursor.column + width > columns { cursor.column = max(0, columns - width) }
        if inserts { shift(from: cursor.column, by: width) }
        let isLine = drawsLines[charset] && (0x60...0x7E).contains(scalar.value)
        for column in cursor.column..<min(cursor.column + width, columns) { clearHalf(column) }
        cells[cursor.row][cursor.column] = Cell(text: isLine ? "─" : String(scalar), style: style)
        if width == 2, cursor.column + 1 < columns {
            cells[cursor.row][cursor.column + 1] = Cell(text: "", style: style)
        }
        cursor.column += width
        if cursor.column >= columns {
            cursor.column = columns - 1
            isWrapPending = true
        }
    }

    /// If this cell has half of a wide character, blanks the other half.
    private mutating func clearHalf(_ column: Int) {
        if cells[cursor.row][column].text.isEmpty, column > 0 { cells[cursor.row][column - 1].text = " " }
        if column + 1 < columns, cells[cursor.row][column + 1].text.isEmpty {
            cells[cursor.row][column + 1].text = " "
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
        case 0x0E: charset = 1
        case 0x0F: charset = 0
        default: break
        }
    }

    private mutating func designate(_ first: UInt8, _ set: UInt8) {
        switch Character(Unicode.Scalar(first)) {
        case "(": drawsLines[0] = set == UInt8(ascii: "0")
        case ")": drawsLines[1] = set == UInt8(ascii: "0")
        default: break
        }
    }

    private mutating func lineFeed() {
        guard cursor.row == region.upperBound - 1 else {
            cursor.row = min(cursor.row + 1, rows - 1)
            return
        }
        scroll(region, by: 1)
    }

    /// Moves these rows up, or down if the number is negative.
    private mutating func scroll(_ range: Range<Int>, by count: Int) {
        let empty = Array(repeating: erased, count: columns)
        for _ in 0..<min(abs(count), range.count) {
            if count > 0 {
                cells.remove(at: range.lowerBound)
                cells.insert(empty, at: range.upperBound - 1)
            } else {
                cells.remove(at: range.upperBound - 1)
                cells.insert(empty, at: range.lowerBound)
            }
        }
    }

    /// Moves the rest of the row right, or left if the number is negative.
    private mutating func shift(from column: Int, by count: Int) {
        let number = min(abs(count), columns - column)
        let blanks = Array(repeating: erased, count: number)
        if count > 0 {
            cells[cursor.row].removeLast(number)
            cells[cursor.row].insert(contentsOf: blanks, at: column)
        } else {
            cells[cursor.row].removeSubrange(column..<column + number)
            cells[cursor.row] += blanks
        }
    }

    private mutating func escape(_ byte: UInt8) {
        switch Character(Unicode.Scalar(byte)) {
        case "c": self = Screen(columns: columns, rows: rows)
        case "D": lineFeed()
        case "E":
            move(row: cursor.row, column: 0)
            lineFeed()
        case "M":
            // Reverse index.
            if cursor.row == region.lowerBound {
                scroll(region, by: -1)
            } else {
                move(row: cursor.row - 1, column: cursor.column)
            }
        case "7": savedCursor = cursor
        case "8": move(row: savedCursor.row, column: savedCursor.column)
        default: break
        }
    }

    private mutating func sequence(_ parameters: SequenceParser.Parameters, _ final: UInt8) {
        // A terminal does no more than its size permits.
        let first = min(max(1, parameters.number(0) ?? 1), max(columns, rows))
        switch Character(Unicode.Scalar(final)) {
        case "A": move(row: cursor.row - first, column: cursor.column)
        case "B", "e": move(row: cursor.row + first, column: cursor.column)
        case "C", "a": move(row: cursor.row, column: cursor.column + first)
        case "D": move(row: cursor.row, column: cursor.column - first)
        case "E": move(row: cursor.row + first, column: 0)
        case "F": move(row: cursor.row - first, column: 0)
        case "G", "`": move(row: cursor.row, column: first - 1)
        case "d": move(row: first - 1, column: cursor.column)
        case "H", "f": move(row: first - 1, column: max(1, parameters.number(1) ?? 1) - 1)
        case "I": for _ in 0..<first { control(0x09) }
        case "Z": for _ in 0..<first { move(row: cursor.row, column: max(0, (cursor.column - 1) / 8 * 8)) }
        case "J": eraseDisplay(parameters.number(0) ?? 0)
        case "K": eraseLine(parameters.number(0) ?? 0)
        case "X": erase(cursor.row, cursor.column..<min(columns, cursor.column + first))
        case "@": shift(from: cursor.column, by: first)
        case "P": shift(from: cursor.column, by: -first)
        case "b": for _ in 0..<first { put(last) }
        case "L" where region.contains(cursor.row): scroll(cursor.row..<region.upperBound, by: -first)
        case "M" where region.contains(cursor.row): scroll(cursor.row..<region.upperBound, by: first)
        case "S": scroll(region, by: first)
        case "T": scroll(region, by: -first)
        case "m" where parameters.isPlain: style.apply(parameters.numbers)
        case "r" where parameters.isPlain: setRegion(first, parameters.number(1) ?? rows)
        case "h": setModes(parameters, to: true)
        case "l": setModes(parameters, to: false)
        default: break
        }
    }

    private mutating func setRegion(_ top: Int, _ bottom: Int) {
        guard top < bottom, bottom <= rows else { return }
        region = top - 1..<bottom
        move(row: 0, column: 0)
    }

    private mutating func setModes(_ parameters: SequenceParser.Parameters, to isSet: Bool) {
        for mode in parameters.numbers {
            switch (parameters.isPrivate, mode) {
            case (false, 4): inserts = isSet
            case (true, 7): wraps = isSet
            case (true, 25): isCursorVisible = isSet
            case (true, 1006): reportsMouse = isSet
            case (true, 2004): marksPastes = isSet
            case (true, 47), (true, 1047), (true, 1049): setAlternate(isSet)
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
        for column in range { cells[row][column] = erased }
    }
}
