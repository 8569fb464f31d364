import BrokerNormalization
import CBrokerPhoneNumber
import Testing

@Suite("Matching phone numbers")
struct PhoneMatchTests {
    private func matches(_ one: String, _ other: String, in region: String) throws -> Bool {
        let normalizer = try #require(Normalizer(locale: "", region: region))
        let first = try #require(PhoneMatchKey(one, normalizer))
        let second = try #require(PhoneMatchKey(other, normalizer))
        let found = first.matches(second)
        #expect(second.matches(first) == found)
        // The index must find every match, by an ending or by the beginning.
        for (asked, stored) in [(first, second), (second, first)] where found {
            #expect(
                asked.endings.contains(stored.national)
                    || asked.beginning.map { stored.national.hasPrefix($0) } == true)
        }
        return found
    }

    @Test(
        "A number matches with or without its country code, however it is grouped",
        arguments: [
            ("+44 20 7946 0018", "020 7946 0018", true), ("+44 (0)20 7946 0018", "0044 20 79460018", true),
            ("7946 0018", "+44 20 7946 0018", true), ("946 0018", "020 7946 0018", true),
            ("46 0018", "020 7946 0018", true), ("0018", "020 7946 0018", false), ("46 0018", "460018", true),
            ("7946 0018", "7946 0019", false), ("٠٢٠ ٧٩٤٦ ٠٠١٨", "020 7946 0018", true),
            ("tel:+44-20-7946-0018", "020 7946 0018", true), ("Phone: 7946 0018", "79460018", true),
            ("+1 20 7946 0018", "020 7946 0018", false), ("+1 650 253 0000", "253 0000", false),
            ("+1 800 FLOWERS", "+1 800 356 9377", true),
        ])
    func inBritain(one: String, other: String, same: Bool) throws {
        #expect(try matches(one, other, in: "GB") == same)
    }

    @Test(
        "Different extensions distinguish two numbers only if both have one",
        arguments: [
            ("020 7946 0018 x12", "020 7946 0018", true), ("020 7946 0018;ext=12", "+44 20 7946 0018 ext. 12", true),
            ("020 7946 0018 x12", "020 7946 0018 x13", false),
        ])
    func extensions(one: String, other: String, same: Bool) throws {
        #expect(try matches(one, other, in: "GB") == same)
    }

    @Test(
        "A short number matches only itself",
        arguments: [
            ("112", "112", "DE", true), ("112", "030 123 112", "DE", false), ("116 117", "116117", "DE", true),
            ("116117", "030 99 116117", "DE", false), ("123456", "030 123456", "DE", true),
            ("12345", "06421 12345", "DE", true), ("1234", "030 551234", "DE", false),
            ("18", "020 7946 0018", "GB", false),
            ("911", "650 253 0911", "US", false), ("112", "112", "", true), ("112", "555 0112", "", false),
            ("*100#", "*100#", "GB", true), ("*100#", "555 0100", "GB", false),
        ])
    func short(one: String, other: String, region: String, same: Bool) throws {
        #expect(try matches(one, other, in: region) == same)
    }

    @Test(
        "Without a region, a number without a country code matches its digits in any country",
        arguments: [
            ("020 7946 0018", "+44 20 7946 0018", true), ("0044 20 7946 0018", "+44 20 7946 0018", true),
            ("7946 0018", "020 7946 0018", true), ("253 0000", "+1 650 253 0000", true),
            ("+44 650 253 0000", "+1 650 253 0000", false), ("46 0018", "+44 20 7946 0018", false),
        ])
    func nowhere(one: String, other: String, same: Bool) throws {
        for region in ["", "XX", "gb"] { #expect(try matches(one, other, in: region) == same) }
    }

    @Test(
        "A locale has a dialling region, or none",
        arguments: [
            ("de_DE.UTF-8@euro", "DE"), ("en_GB", "GB"), ("C", ""), ("C.UTF-8", ""), ("POSIX", ""), ("", ""),
            ("de", ""),
            ("en_001", ""), ("de_", ""), ("de_de", ""), ("en.X_GB", ""),
        ])
    func locales(locale: String, region: String) {
        #expect(PhoneMatchKey.region(ofLocale: locale) == region)
    }

    @Test("Numbers match as in libphonenumber's own comparison", arguments: ["GB", "DE", "US", "IT", "JP"])
    func asTheLibrary(region: String) throws {
        let normalizer = try #require(Normalizer(locale: "", region: region))
        var generator = SystemRandomNumberGenerator()
        let codes = ["+44", "+49 ", "+1 ", "+39 ", "+81-", "", "0", "00 49 ", "011 44 "]
        var numbers: [String] = []
        for _ in 0..<24 {
            // Use few different digits, so that many numbers have equal ends.
            let digits = (0..<10).map { _ in "\(Int.random(in: 2...3, using: &generator))" }.joined()
            for _ in 0..<3 {
                let part = String(digits.suffix(Int.random(in: 7...10, using: &generator)))
                numbers.append(
                    (codes.randomElement(using: &generator) ?? "") + part
                        + (Int.random(in: 0...9, using: &generator) == 0 ? " ext. 12" : ""))
            }
        }
        var found = 0
        let keys = numbers.map { PhoneMatchKey($0, normalizer) }
        for (one, first) in zip(numbers, keys) {
            for (other, second) in zip(numbers, keys) {
                let said = cphonenumber_match(one, one.utf8.count, other, other.utf8.count, region)
                guard said != CPHONENUMBER_INVALID else { continue }
                let (first, second) = (try #require(first), try #require(second))
                #expect(first.matches(second) == (said != CPHONENUMBER_NONE), "\(one) and \(other)")
                found += said == CPHONENUMBER_NONE ? 0 : 1
            }
        }
        #expect(found > numbers.count)
    }

    @Test(
        "Whatever separates its digits, a number is parsed as libphonenumber parses it",
        arguments: ["GB", "US", "IT", "AR", "ZZ"])
    func decorated(region: String) throws {
        var generator = SystemRandomNumberGenerator()
        let codes = ["+44", "+1", "+39", "+54", "+7", "+", "", "0", "0044", "01144", "00", "15"]
        var found = 0
        for _ in 0..<1_000 {
            let digits = (0..<Int.random(in: 0...14, using: &generator)).map { _ in
                "\(Int.random(in: 0...9, using: &generator))"
            }
            var number = ""
            for character in (codes.randomElement(using: &generator) ?? "") + digits.joined() {
                while Int.random(in: 0..<4, using: &generator) == 0 {
                    number += [" ", ".", "-", "(", ")"].randomElement(using: &generator) ?? ""
                }
                number.append(character)
            }
            var parsed = cphonenumber()
            let isOne = cphonenumber_parse(number, number.utf8.count, region, &parsed) == 1 && parsed.national > 0
            let key = PhoneMatchKey(number, region: region)
            #expect(key?.country ?? 0 == (isOne ? parsed.country : 0), "\(number)")
            guard isOne, let key else { continue }
            #expect(String(key.national.filter(\.isNumber).reversed()) == String(parsed.national), "\(number)")
            found += 1
        }
        #expect(found > 100)
    }

    @Test(
        "Arbitrary text as a number does no harm",
        arguments: [String(repeating: "+", count: 100_000), "\u{0}1\u{0}", "+", "x", "＋４４２０７９４６００１８"])
    func harmless(text: String) throws {
        let normalizer = try #require(Normalizer(locale: "", region: "GB"))
        let key = PhoneMatchKey(text, normalizer)
        #expect(key.map { $0.matches($0) } ?? true)
    }
}
