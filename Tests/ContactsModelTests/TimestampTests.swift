import BrokerModel
import Testing

@Suite("Timestamps in wire form")
struct TimestampTests {
    @Test(
        "A timestamp is written and read back to the second",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59Z", 951_868_799), ("1969-12-31T23:59:59Z", -1),
            ("0001-01-01T00:00:00Z", -62_135_596_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, Int64)])
    func bothWays(text: String, seconds: Int64) {
        #expect(Timestamp.text(seconds: seconds) == text)
        #expect(Timestamp.seconds(text) == seconds)
    }

    @Test("A date without a time means the day's first second")
    func date() {
        #expect(Timestamp.seconds("2026-03-01") == Timestamp.seconds("2026-03-01T00:00:00Z"))
    }

    @Test(
        "Invalid timestamps are refused",
        arguments: [
            "", "2026-13-01T12:00:00Z", "2026-02-29", "2026-03-01T24:00:00Z", "2026-03-01T12:60:00Z",
            "2026-03-01T12:00:00", "2026-03-01T12:00:00+01:00", "aaaa-03-01", "2026-03-00", "2026/03/01",
            "2026-03-01T12:00:00Zz", "+026-03-01",
        ])
    func refused(text: String) {
        #expect(Timestamp.seconds(text) == nil)
    }

    @Test("Years beyond four digits are written as the nearest valid year")
    func bounds() {
        #expect(Timestamp.text(seconds: .max) == "9999-12-31T23:59:59Z")
        #expect(Timestamp.text(seconds: .min) == "0001-01-01T00:00:00Z")
    }
}
