/// Writes one JSON text as bytes, without white space.
///
/// The writer adds the commas. The code that uses it must name members and close brackets. Strings are always
/// escaped, so a string can never break out of its quotes.
public struct JSONWriter: Sendable {
    public private(set) var bytes: [UInt8]
    private var needsComma = false

    public init(reservingCapacity capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    public mutating func beginObject() { begin(UInt8(ascii: "{")) }
    public mutating func endObject() { end(UInt8(ascii: "}")) }
    public mutating func beginArray() { begin(UInt8(ascii: "[")) }
    public mutating func endArray() { end(UInt8(ascii: "]")) }

    public mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    public mutating func array<S: Sequence>(_ items: S, _ write: (inout JSONWriter, S.Element) -> Void) {
        beginArray()
        for item in items { write(&self, item) }
        endArray()
    }

    /// Writes a member's name. Write the member's value next.
    public mutating func name(_ name: String) {
        separate()
        appendQuoted(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    public mutating func value(_ string: String) {
        separate()
        appendQuoted(string)
    }

    public mutating func value(_ integer: some BinaryInteger) {
        separate()
        bytes.append(contentsOf: String(integer).utf8)
    }

    public mutating func value(_ integer: Int) {
        separate()
        if (0..<10).contains(integer) {
            bytes.append(UInt8(ascii: "0") + UInt8(integer))
        } else {
            bytes.append(contentsOf: String(integer).utf8)
        }
    }

    public mutating func value(_ bool: Bool) {
        separate()
        bytes.append(contentsOf: bool ? "true".utf8 : "false".utf8)
    }

    /// Writes a number in the shortest form that parses to the same value. Writes `null` for a number that is
    /// not finite, because JSON has no form for it.
    public mutating func value(_ double: Double) {
        separate()
        bytes.append(contentsOf: double.isFinite ? Array("\(double)".utf8) : Array("null".utf8))
    }

    public mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    /// Writes a value that is already JSON text, such as ``JSONValue/text``.
    public mutating func raw(_ text: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: text)
    }

    // Optional members: `nil` is not written, because Varlink treats an absent member as null.

    public mutating func member(_ name: String, _ string: String?) {
        guard let string else { return }
        self.name(name)
        value(string)
    }

    public mutating func member(_ name: String, _ integer: (some BinaryInteger)?) {
        guard let integer else { return }
        self.name(name)
        value(integer)
    }

    public mutating func member(_ name: String, _ integer: Int?) {
        guard let integer else { return }
        self.name(name)
        value(integer)
    }

    public mutating func member(_ name: String, _ bool: Bool?) {
        guard let bool else { return }
        self.name(name)
        value(bool)
    }

    public mutating func member(_ name: String, _ strings: [String]?) {
        guard let strings else { return }
        self.name(name)
        array(strings) { $0.value($1) }
    }

    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func appendQuoted(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        let isPlain =
            string.utf8.withContiguousStorageIfAvailable { text in
                guard text.allSatisfy(Self.isPlain) else { return false }
                bytes.append(contentsOf: text)
                return true
            } ?? false
        if !isPlain { appendEscaped(string) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether the byte needs no escape in a string (RFC 8259 §7).
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func appendEscaped(_ string: String) {
        for byte in string.utf8 {
            guard !Self.isPlain(byte) else {
                bytes.append(byte)
                continue
            }
            bytes.append(UInt8(ascii: "\\"))
            switch byte {
            case 0x0A: bytes.append(UInt8(ascii: "n"))
            case 0x0D: bytes.append(UInt8(ascii: "r"))
            case 0x09: bytes.append(UInt8(ascii: "t"))
            case 0..<0x20:
                bytes.append(contentsOf: "u00".utf8)
                bytes.append(Self.digits[Int(byte >> 4)])
                bytes.append(Self.digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
