import CBrokerCurses

/// Combines what ncurses reads into keys: bytes into characters, and the sequences that the terminal's terminfo
/// entry does not list into one key each.
///
/// A sequence that begins with ESC is one key, whatever it means. Its letters must not count as answers: some come
/// from no keyboard, such as a terminal's report of its title, which any program can cause.
struct KeySequence {
    /// The maximum length of a control sequence, in bytes. Longer sequences are not from a keyboard.
    static let maximumLength = 32
    /// The maximum number of bytes to keep of a paste. Names are shorter.
    static let maximumPaste = 512
    /// A paste without an end counts as ended after this time without input.
    static let pasteTime = Duration.seconds(2)

    /// The longest time that ``keys(from:)`` takes, so that endless input does not keep the agent from its signals.
    private static let readTime = Duration.seconds(1)

    private enum State {
        case ground
        /// The first bytes of a UTF-8 scalar.
        case scalar([UInt8])
        case escape
        /// After ESC [ or ESC O, up to a final byte (ECMA-48 §5.4).
        case control([UInt8], isSS3: Bool)
        /// The button, column and row of a mouse report that is not in SGR form.
        case mouse([UInt8])
        /// After the beginning of a string, such as an operating system command (ECMA-48 §5.6).
        case string(afterEscape: Bool)
        case paste
    }

    private var state = State.ground
    private var pasted: [UInt8] = []
    /// The last bytes of a paste, among which its end mark is found.
    private var tail: [UInt8] = []
    private var isPasteDropped = false
    private var lastInput = ContinuousClock.now

    /// Reads the available input of a screen, and waits at most 50 ms for each byte of an incomplete sequence.
    mutating func keys(from screen: OpaquePointer) -> [Key] {
        var keys: [Key] = []
        let end = ContinuousClock.now + Self.readTime
        while ContinuousClock.now < end {
            let input = ccurses_next(screen, wait ?? 0)
            guard input >= 0 else { return keys + settle() }
            keys += take(input)
        }
        return keys
    }

    /// How long to wait for the rest of a sequence, in milliseconds; `nil` if none is incomplete. After an ESC,
    /// ncurses has waited already.
    private var wait: CInt? {
        switch state {
        case .ground, .paste: nil
        case .escape: 0
        case .scalar, .control, .mouse, .string: 50
        }
    }

    /// Discards an incomplete sequence. An incomplete paste is still read to its end, but then dropped.
    mutating func discard() {
        if case .paste = state { isPasteDropped = true } else { state = .ground }
    }

    /// Ends an incomplete sequence after which no input came. A lone ESC becomes ``Key/escape``.
    mutating func settle() -> [Key] {
        if wait == nil { return [] }
        defer { state = .ground }
        if case .escape = state { return [.escape] }
        return [.other]
    }

    /// Takes what `ccurses_next` returned, and returns the keys that are complete.
    mutating func take(_ input: CInt, at now: ContinuousClock.Instant = .now) -> [Key] {
        defer { lastInput = now }
        if case .paste = state, now >= lastInput + Self.pasteTime { state = .ground }
        if let byte = UInt8(exactly: input) { return take(byte) }
        // ncurses knows this key. Inside a paste or a string it has no meaning.
        switch state {
        case .paste, .string: return []
        case .ground, .scalar, .escape, .control, .mouse:
            let before = settle()
            if input == CInt(CCURSES_PASTE.rawValue) {
                beginPaste()
                return before
            }
            return before + [Self.known(input)]
        }
    }

    private static func known(_ input: CInt) -> Key {
        switch ccurses_key(UInt32(bitPattern: input)) {
        case CCURSES_UP: .up
        case CCURSES_DOWN: .down
        case CCURSES_LEFT: .left
        case CCURSES_RIGHT: .right
        case CCURSES_PAGE_UP: .pageUp
        case CCURSES_PAGE_DOWN: .pageDown
        case CCURSES_HOME: .home
        case CCURSES_END: .end
        case CCURSES_BACK_TAB: .backTab
        case CCURSES_DELETE: .delete
        case CCURSES_BACKSPACE: .backspace
        case CCURSES_ENTER: .enter
        default: .other
        }
    }

    private mutating func take(_ byte: UInt8) -> [Key] {
        switch state {
        case .ground: return ground(byte)
        case .scalar(let bytes): return scalar(bytes, byte)
        case .escape: return escape(byte)
        case .control(let bytes, let isSS3): return control(bytes + [byte], isSS3)
        case .mouse(let bytes):
            guard bytes.count == 2 else {
                state = .mouse(bytes + [byte])
                return []
            }
            state = .ground
            // X10's encoding: each number is 32 more, and positions begin with 1.
            let numbers = (bytes + [byte]).map { Int($0) - 32 }
            return Self.mouse(button: numbers[0], column: numbers[1], row: numbers[2])
        case .string(let afterEscape):
            // A string ends with ESC \ or BEL.
            guard byte == 0x07 || afterEscape && byte == UInt8(ascii: "\\") else {
                state = .string(afterEscape: byte == 0x1B)
                return []
            }
            state = .ground
            return [.other]
        case .paste: return paste(byte)
        }
    }

    private mutating func ground(_ byte: UInt8) -> [Key] {
        switch byte {
        case 0x1B:
            state = .escape
            return []
        case 0x09: return [.tab]
        case 0x0A, 0x0D: return [.enter]
        case 0x08, 0x7F: return [.backspace]
        case 0x15: return [.erase]
        case 0x20..<0x7F: return [.character(Character(Unicode.Scalar(byte)))]
        case 0xC2...0xF4:
            state = .scalar([byte])
            return []
        default: return [.other]
        }
    }

    private mutating func scalar(_ before: [UInt8], _ byte: UInt8) -> [Key] {
        state = .ground
        guard byte & 0xC0 == 0x80 else { return [.other] + ground(byte) }
        let bytes = before + [byte]
        let length = bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4
        guard bytes.count == length else {
            state = .scalar(bytes)
            return []
        }
        guard let character = String(validating: bytes, as: UTF8.self)?.first else { return [.other] }
        return [.character(character)]
    }

    private mutating func escape(_ byte: UInt8) -> [Key] {
        switch byte {
        case 0x1B: return [.escape]
        case UInt8(ascii: "["): state = .control([], isSS3: false)
        case UInt8(ascii: "O"): state = .control([], isSS3: true)
        case UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "]"), UInt8(ascii: "^"), UInt8(ascii: "_"):
            state = .string(afterEscape: false)
        default:
            // Alt with a key.
            state = .ground
            return [.other]
        }
        return []
    }

    /// The keys that a terminal may send in another form than its terminfo entry lists.
    private static let usual: [String: Key] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "Z": .backTab, "1~": .home, "3~": .delete,
        "4~": .end, "5~": .pageUp, "6~": .pageDown,
    ]

    private mutating func control(_ bytes: [UInt8], _ isSS3: Bool) -> [Key] {
        // After ESC [ [ follows one more byte: the first function keys of the Linux console.
        guard let last = bytes.last, (0x40...0x7E).contains(last), bytes != [UInt8(ascii: "[")] else {
            state = bytes.count < Self.maximumLength ? .control(bytes, isSS3: isSS3) : .ground
            return bytes.count < Self.maximumLength ? [] : [.other]
        }
        state = .ground
        let text = String(decoding: bytes, as: UTF8.self)
        if let key = Self.usual[text] { return [key] }
        if isSS3 { return [.other] }
        switch text {
        case "200~":
            beginPaste()
            return []
        case "M":
            state = .mouse([])
            return []
        default: return Self.sgrMouse(text) ?? [.other]
        }
    }

    /// A mouse report in SGR form (xterm, mode 1006); `nil` if this is none. The end of a click is no key.
    private static func sgrMouse(_ text: String) -> [Key]? {
        guard text.first == "<", let final = text.last, final == "M" || final == "m" else { return nil }
        let numbers = text.dropFirst().dropLast().split(separator: ";", omittingEmptySubsequences: false).map {
            Int($0)
        }
        guard numbers.count == 3, let button = numbers[0], let column = numbers[1], let row = numbers[2] else {
            return nil
        }
        return final == "M" ? mouse(button: button, column: column, row: row) : []
    }

    private static func mouse(button: Int, column: Int, row: Int) -> [Key] {
        // Shift, Alt and Ctrl add 4, 8 and 16.
        switch button & ~0x1C {
        case 0 where row > 0 && column > 0: [.click(row: row - 1, column: column - 1)]
        case 64: [.scrollUp]
        case 65: [.scrollDown]
        default: []
        }
    }

    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    private mutating func beginPaste() {
        state = .paste
        pasted = []
        tail = []
        isPasteDropped = false
    }

    private mutating func paste(_ byte: UInt8) -> [Key] {
        tail.append(byte)
        if tail == Self.pasteEnd {
            state = .ground
            return isPasteDropped ? [] : [.paste(String(decoding: pasted, as: UTF8.self))]
        }
        if tail.count == Self.pasteEnd.count {
            let first = tail.removeFirst()
            if pasted.count < Self.maximumPaste { pasted.append(first) }
        }
        return []
    }
}
