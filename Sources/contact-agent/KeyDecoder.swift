/// Decodes a terminal's bytes into keys, even if reads split a key's bytes.
///
/// A sequence that begins with ESC is one key. The letters in it must not count as answers.
struct KeyDecoder {
    /// The maximum length of a control sequence, in bytes. Longer sequences are not from a keyboard.
    static let maximumSequence = 32
    /// The maximum number of bytes to keep of a paste. Names are shorter.
    static let maximumPaste = 512

    private var pending: [UInt8] = []
    private var pasted: [UInt8]?

    /// Whether the pending bytes may be an incomplete sequence, such as a lone ESC.
    var isUndecided: Bool { !pending.isEmpty && pasted == nil }

    /// Discards pending bytes.
    mutating func reset() {
        pending = []
        pasted = nil
    }

    /// Returns the keys that are complete.
    mutating func keys(from bytes: [UInt8]) -> [Key] {
        pending += bytes
        var keys: [Key] = []
        while let key = next() { keys.append(key) }
        return keys
    }

    /// Ends an incomplete sequence: a lone ESC becomes ``Key/escape``, anything else ``Key/other``.
    mutating func settle() -> [Key] {
        guard isUndecided else { return [] }
        defer { pending = [] }
        return pending == [0x1B] ? [.escape] : [.other]
    }

    private mutating func next() -> Key? {
        if pasted != nil { return nextOfPaste() }
        guard let first = pending.first else { return nil }
        if first == 0x1B { return escapeSequence() }
        if first < 0x80 {
            pending.removeFirst()
            return control(first)
        }
        return scalar(first)
    }

    private func control(_ byte: UInt8) -> Key {
        switch byte {
        case 0x0A, 0x0D: .enter
        case 0x08, 0x7F: .backspace
        case 0x15: .erase
        case 0x20..<0x7F: .character(Character(Unicode.Scalar(byte)))
        default: .other
        }
    }

    private mutating func scalar(_ first: UInt8) -> Key? {
        let length =
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        guard pending.count >= length else { return nil }
        let bytes = pending.prefix(length)
        pending.removeFirst(length)
        guard let text = String(validating: bytes, as: UTF8.self), let character = text.first else { return .other }
        return .character(character)
    }

    /// Decodes control sequences (ECMA-48 §5.4), SS3 sequences, and Alt with a key.
    private mutating func escapeSequence() -> Key? {
        guard pending.count > 1 else { return nil }
        switch pending[1] {
        case UInt8(ascii: "["):
            guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
                guard pending.count > Self.maximumSequence else { return nil }
                pending = []
                return .other
            }
            let sequence = Array(pending[2...end])
            pending.removeFirst(end + 1)
            if sequence == Array("200~".utf8) {
                pasted = []
                return nextOfPaste()
            }
            return .other
        case UInt8(ascii: "O"):
            guard pending.count > 2 else { return nil }
            pending.removeFirst(3)
            return .other
        case 0x1B:
            pending.removeFirst()
            return .escape
        default:
            pending.removeFirst(2)
            return .other
        }
    }

    private mutating func nextOfPaste() -> Key? {
        let end = Array("\u{1B}[201~".utf8)
        if let start = pending.indices.first(where: { pending[$0...].starts(with: end) }) {
            let text = (pasted ?? []) + pending[..<start]
            pending.removeFirst(start + end.count)
            pasted = nil
            return .paste(String(decoding: text.prefix(Self.maximumPaste), as: UTF8.self))
        }
        // A read may split the end mark. Therefore the last bytes stay pending, one fewer than the mark has.
        // All bytes before them are text.
        let kept = min(pending.count, end.count - 1)
        let text = (pasted ?? []) + pending.dropLast(kept)
        pasted = Array(text.prefix(Self.maximumPaste))
        pending = Array(pending.suffix(kept))
        return nil
    }
}
