import BrokerJSON
import Testing

private func parse(_ text: String, _ limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONValue {
    try JSONDocument(parsing: Array(text.utf8), limits: limits).root
}

private func isJSON(_ bytes: [UInt8]) -> Bool {
    (try? JSONDocument(parsing: bytes)) != nil
}

@Suite("Reading JSON")
struct JSONParsingTests {
    static let valid = [
        "{}", "[]", "null", "true", "false", "0", "-0", "12", "-1.5e+10", #""""#, #""a""#, " [ 1 , 2 ] \n", "\t{}\r",
        #"{"a":1,"b":[true,null,{"c":"d"}]}"#, #""\u00e9\n\\\"\/\b\f\r\t""#, #""\ud83d\ude00""#, "\"é漢😀\"",
        "[[],{},[{}]]", #"{"":0}"#, "1E5", "0.0", #"{"method":"a.B","parameters":{"keys":["x","y"]},"more":true}"#,
        #""exactly8""#, #""sixteen bytes ok""#, "\"\u{7F}\"",
    ]

    static let invalid = [
        "", " ", "{", "}", "[", "]", "[1,]", "[,1]", "[1 2]", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{a:1}", "{1:1}",
        "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "Infinity", "tru", "nul", "True", "truex", "'a'",
        "\"", "\"a", #""\x""#, #""\u12""#, #""\u12g4""#, #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#, #""\ud800x""#,
        "\"\u{01}\"", "\"a\nb\"", "1 2", "{} {}", "[1]]", "{}}", "\u{FEFF}{}", #""longer than eight \q""#,
        "\"1234567\u{1F}\"",
    ]

    @Test("Valid JSON is read", arguments: valid)
    func accepts(text: String) throws {
        _ = try parse(text)
    }

    @Test("Invalid JSON is an error", arguments: invalid)
    func refuses(text: String) {
        #expect(throws: JSONError.self) { try parse(text) }
    }

    @Test("A truncated array, object or string is an error", arguments: valid)
    func prefixes(text: String) {
        let bytes = Array(text.utf8)
        guard let last = bytes.last, "}]\"".utf8.contains(last) else { return }
        for length in 0..<bytes.count {
            #expect(!isJSON(Array(bytes[..<length])), "\(length) bytes of \(text)")
        }
    }

    @Test("Damaged texts are read or refused, and a text that is read can be written and read again")
    func mutations() throws {
        var random = SplitMix(state: 20)
        var read = 0
        for round in 0..<30_000 {
            var bytes = Array(Self.valid[round % Self.valid.count].utf8)
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let byte =
                    Bool.random(using: &random)
                    ? UInt8.random(in: 0...255, using: &random) : Self.signs.randomElement(using: &random) ?? 0
                let place = Int.random(in: 0...bytes.count, using: &random)
                if place < bytes.count, Bool.random(using: &random) {
                    bytes[place] = byte
                } else {
                    bytes.insert(byte, at: place)
                }
            }
            guard let document = try? JSONDocument(parsing: bytes) else { continue }
            read += 1
            // Writing the value that was read must give a text that reads the same.
            let again = try JSONDocument(parsing: written(document.root))
            #expect(written(again.root) == written(document.root))
        }
        #expect(read > 1_000)
    }

    private static let signs = Array(#"{}[]",:\u0123456789dDeE+-.tfn "#.utf8)

    @Test("A text may be nested as deep as the limit and no deeper", arguments: [1, 2, 64])
    func depth(limit: Int) throws {
        let limits = JSONLimits(depth: limit)
        _ = try parse(nested(limit), limits)
        #expect(throws: JSONError.tooDeep(maximum: limit)) { try parse(nested(limit + 1), limits) }
    }

    @Test("Extreme nesting is refused at the limit, before the stack overflows")
    func nestedToDeath() {
        let bytes = [UInt8](repeating: UInt8(ascii: "["), count: 16 * 1_048_576)
        #expect(throws: JSONError.tooDeep(maximum: 64)) { try JSONDocument(parsing: bytes) }
    }

    @Test("A text may have as many values as the limit and no more")
    func values() throws {
        let limits = JSONLimits(values: 4)
        _ = try parse("[1,2,3]", limits)
        _ = try parse(#"{"a":[0]}"#, limits)
        #expect(throws: JSONError.tooManyValues(maximum: 4)) { try parse("[1,2,3,4]", limits) }
    }

    @Test(
        "A duplicate member name is an error, however it is escaped",
        arguments: [
            #"{"a":1,"a":2}"#, #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"\u0061":2}"#, #"{"\u0061":1,"a":2}"#,
            #"[{"x":{"k":1,"k":1}}]"#,
        ])
    func duplicates(text: String) {
        #expect {
            try parse(text)
        } throws: {
            if case .duplicateMember = $0 as? JSONError { true } else { false }
        }
    }

    @Test("Among many members, duplicate names are found and different names are kept apart")
    func manyMembers() throws {
        let members = (0..<100).map { #""m\#($0)":\#($0)"# }
        let value = try parse("{" + members.joined(separator: ",") + "}")
        #expect(value["m99"]?.integer == 99)
        #expect(throws: JSONError.self) { try parse("{" + (members + [#""m7":0"#]).joined(separator: ",") + "}") }
    }

    @Test("The two Unicode forms of é are different names", arguments: [2, 20])
    func composedAndDecomposed(count: Int) throws {
        let others = (2..<count).map { #","x\#($0)":0"# }.joined()
        let value = try parse("{\"\u{E9}\":1,\"e\u{301}\":2\(others)}")
        #expect(value["\u{E9}"]?.integer == 1)
        #expect(value["e\u{301}"]?.integer == 2)
    }

    @Test(
        "Invalid UTF-8 is refused, even inside a string",
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80]]
            as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        #expect(throws: JSONError.invalidUTF8(offset: 1)) { try JSONDocument(parsing: [0x22] + bytes + [0x22]) }
    }

    private func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
}

/// The value as text, so that two readings can be compared.
func written(_ value: JSONValue) -> [UInt8] {
    var writer = JSONWriter()
    write(value, &writer)
    return writer.bytes
}

private func write(_ value: JSONValue, _ writer: inout JSONWriter) {
    switch value.kind {
    case .null: writer.null()
    case .bool: writer.value(value.bool ?? false)
    case .integer, .double: writer.raw(value.text)
    case .string: writer.value(value.string ?? "")
    case .array:
        writer.beginArray()
        if let elements = value.elements { for element in elements { write(element, &writer) } }
        writer.endArray()
    case .object:
        writer.beginObject()
        if let members = value.members {
            for (name, member) in members {
                writer.name(name.string ?? "")
                write(member, &writer)
            }
        }
        writer.endObject()
    }
}

/// Random numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
