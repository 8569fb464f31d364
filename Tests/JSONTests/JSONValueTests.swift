import BrokerJSON
import Testing

private func parse(_ text: String) throws -> JSONValue {
    try JSONDocument(parsing: Array(text.utf8)).root
}

@Suite("Values of parsed JSON")
struct JSONValueTests {
    @Test(
        "Only an integer that fits 64 bits has an integer value",
        arguments: [
            ("0", 0), ("-0", 0), ("7", 7), ("-12", -12), ("9223372036854775807", Int64.max),
            ("-9223372036854775808", Int64.min), ("9223372036854775808", nil), ("-9223372036854775809", nil),
            ("99999999999999999999999", nil), ("1.0", nil), ("1e3", nil), (#""1""#, nil), ("true", nil),
        ] as [(String, Int64?)])
    func integers(text: String, expected: Int64?) throws {
        #expect(try parse(text).integer == expected)
    }

    @Test(
        "Every number has a floating-point value, and nothing else has one",
        arguments: [("1", 1), ("-2.5", -2.5), ("1e3", 1_000), ("3.141592653589793", .pi), (#""1""#, nil)]
            as [(String, Double?)])
    func doubles(text: String, expected: Double?) throws {
        #expect(try parse(text).double == expected)
    }

    @Test(
        "Escapes are decoded",
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u6f22""#, "é漢"),
            (#""a\ud83d\ude00b""#, "a😀b"),
            (#""\u0000""#, "\0"), (#""\uFFFF\uD7FF\uE000""#, "\u{FFFF}\u{D7FF}\u{E000}"),
            (#""\uDBFF\uDFFF""#, "\u{10FFFF}"),
        ])
    func strings(text: String, expected: String) throws {
        let value = try parse(text)
        #expect(value.string == expected)
        #expect(value.says(expected))
        #expect(!value.says(expected + "x"))
    }

    @Test("Reading a value as another type gives nil")
    func otherKinds() throws {
        let value = try parse(#"{"s":"x","n":null,"a":[1,"two"],"t":true}"#)
        #expect(value["s"]?.bool == nil)
        #expect(value["t"]?.string == nil)
        #expect(value["t"]?.bool == true)
        #expect(value["n"]?.isNull == true)
        #expect(value["missing"] == nil)
        #expect(value["a"]?["s"] == nil)
        #expect(value["a"]?.members == nil)
        #expect(value.elements == nil)
        #expect(value["a"]?.elements?.map { $0.string ?? "" } == ["", "two"])
        #expect(value.members?.map { $0.name.string ?? "" } == ["s", "n", "a", "t"])
        #expect(value["a"]?.count == 2)
    }

    @Test("A value's text is exactly its source text")
    func text() throws {
        let value = try parse(#"{"a": [1,  {"b":"\u0041"}] , "c":-1.50}"#)
        #expect(String(decoding: value["a"]?.text ?? [], as: UTF8.self) == #"[1,  {"b":"\u0041"}]"#)
        #expect(String(decoding: value["c"]?.text ?? [], as: UTF8.self) == "-1.50")
    }

    @Test("Nested members are found past long siblings")
    func siblings() throws {
        let value = try parse(#"{"x":{"y":[[1,2],{"z":3}]},"w":{"z":4}}"#)
        #expect(value["w"]?["z"]?.integer == 4)
        #expect(value["z"] == nil)
    }
}

@Suite("Writing JSON")
struct JSONWriterTests {
    @Test(
        "A written string is read back unchanged",
        arguments: ["", "plain", "é漢😀", "\"\\\n\r\t\u{1}\u{1F}\u{7F}", "a\0b", "</script>"])
    func roundTrip(text: String) throws {
        var writer = JSONWriter()
        writer.object { $0.member(text, text) }
        let value = try JSONDocument(parsing: writer.bytes).root
        #expect(value[text]?.string == text)
        #expect(!writer.bytes.contains { $0 < 0x20 })
    }

    @Test("A string made of pieces of a longer one is written correctly")
    func substrings() {
        var writer = JSONWriter()
        writer.value(String("say \"hello\" now".dropFirst(4).prefix(7)))
        #expect(writer.bytes == Array(#""\"hello\"""#.utf8))
    }

    @Test("Commas separate elements and members, and appear nowhere else")
    func commas() {
        var writer = JSONWriter()
        writer.object {
            $0.member("a", 1)
            $0.member("absent", nil as String?)
            $0.name("b")
            $0.array([1, 20, -3]) { $0.value($1) }
            $0.name("c")
            $0.object { _ in }
            $0.member("d", ["x", "y"])
            $0.member("e", false)
            $0.name("f")
            $0.raw(Array("[null]".utf8))
            $0.name("g")
            $0.null()
        }
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"a":1,"b":[1,20,-3],"c":{},"d":["x","y"],"e":false,"f":[null],"g":null}"#)
    }

    @Test(
        "Finite numbers are read back unchanged; others are written as null",
        arguments: [0, 1.5, -2e300, .pi, 1e-7, .greatestFiniteMagnitude, 2.2250738585072014e-308, 1e16])
    func doubles(number: Double) throws {
        var writer = JSONWriter()
        writer.value(number)
        #expect(try JSONDocument(parsing: writer.bytes).root.double == number)
        var other = JSONWriter()
        other.array([Double.nan, .infinity]) { $0.value($1) }
        #expect(other.bytes == Array("[null,null]".utf8))
    }

    @Test("Integers up to 64 bits are written exactly", arguments: [Int64.min, -10, -1, 0, 9, 10, Int64.max])
    func integers(number: Int64) throws {
        var writer = JSONWriter()
        writer.array([0]) { writer, _ in
            writer.value(number)
            writer.value(Int(number))
        }
        #expect(writer.bytes == Array("[\(number),\(number)]".utf8))
    }
}
