/// Splits what a program writes to a terminal into characters and control sequences (ECMA-48 §5).
struct SequenceParser: Sendable {
    enum Item {
        case scalar(Unicode.Scalar)
        case control(UInt8)
        case sequence(Parameters, final: UInt8)
        /// ESC and one byte.
        case escape(UInt8)
        /// ESC, an intermediate byte, which names one of the character sets G0 to G3, and the set.
        case designation(UInt8, set: UInt8)
    }

    struct Parameters {
        var text: String
        /// Whether the text begins with `?`: a private mode of the terminal.
        var isPrivate: Bool { text.hasPrefix("?") }
        /// Whether the text has only numbers, so that the sequence is none of xterm's own.
        var isPlain: Bool { text.allSatisfy { $0.isNumber || $0 == ";" } }
        var numbers: [Int] { text.drop { $0 == "?" }.split(separator: ";").compactMap { Int($0) } }

        func number(_ index: Int) -> Int? {
            let numbers = numbers
            return numbers.indices.contains(index) ? numbers[index] : nil
        }
    }

    private enum State {
        case ground
        case escape
        case intermediate(UInt8)
        case sequence([UInt8])
        /// An operating system command, such as a title, which is skipped to its end. `true` after an ESC in it.
        case command(Bool)
        case character([UInt8], missing: Int)
    }

    private var state = State.ground

    mutating func next(_ byte: UInt8) -> Item? {
        switch state {
        case .ground: return ground(byte)
        case .escape:
            state = .ground
            switch byte {
            case UInt8(ascii: "["): state = .sequence([])
            case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"): state = .command(false)
            case 0x20...0x2F: state = .intermediate(byte)
            default: return .escape(byte)
            }
            return nil
        case .intermediate(let first):
            state = .ground
            return .designation(first, set: byte)
        case .sequence(let so):
            guard (0x40...0x7E).contains(byte) else {
                state = .sequence(so + [byte])
                return nil
            }
            state = .ground
            return .sequence(Parameters(text: String(decoding: so, as: UTF8.self)), final: byte)
        case .command(let afterEscape):
            if byte == 0x07 || afterEscape && byte == UInt8(ascii: "\\") {
                state = .ground
            } else {
                state = .command(byte == 0x1B)
            }
            return nil
        case .character(let bytes, let missing):
            guard byte & 0xC0 == 0x80 else {
                state = .ground
                return ground(byte)
            }
            guard missing == 1 else {
                state = .character(bytes + [byte], missing: missing - 1)
                return nil
            }
            state = .ground
            return String(decoding: bytes + [byte], as: UTF8.self).unicodeScalars.first.map(Item.scalar)
        }
    }

    private mutating func ground(_ byte: UInt8) -> Item? {
        switch byte {
        case 0x1B:
            state = .escape
            return nil
        case 0x00..<0x20, 0x7F: return .control(byte)
        case 0x20..<0x7F: return .scalar(Unicode.Scalar(byte))
        case 0xC2...0xDF: state = .character([byte], missing: 1)
        case 0xE0...0xEF: state = .character([byte], missing: 2)
        case 0xF0...0xF4: state = .character([byte], missing: 3)
        default: return .scalar("\u{FFFD}")
        }
        return nil
    }
}
