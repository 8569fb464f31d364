import Testing

@testable import BrokerFormatting

@Suite("Phone numbers as libphonenumber writes them")
struct PhoneNumberFormatterTests {
    @Test(
        "E.164, national, international, and from the region",
        arguments: [
            ("GB", "020 7946 0018", ["+442079460018", "020 7946 0018", "+44 20 7946 0018", "020 7946 0018"]),
            ("DE", "+44 20 7946 0018", ["+442079460018", "020 7946 0018", "+44 20 7946 0018", "+44 20 7946 0018"]),
            ("US", "(650) 253-0000", ["+16502530000", "(650) 253-0000", "+1 650-253-0000", "(650) 253-0000"]),
            // Canada shares the country code of the United States.
            ("CA", "+16502530000", ["+16502530000", "(650) 253-0000", "+1 650-253-0000", "(650) 253-0000"]),
            ("DE", "030/123456", ["+4930123456", "030 123456", "+49 30 123456", "030 123456"]),
            ("SE", "0701234567", ["+46701234567", "070-123 45 67", "+46 70 123 45 67", "070-123 45 67"]),
            ("FR", "0033142685300", ["+33142685300", "01 42 68 53 00", "+33 1 42 68 53 00", "01 42 68 53 00"]),
            ("JP", "0335803311", ["+81335803311", "03-3580-3311", "+81 3-3580-3311", "03-3580-3311"]),
            ("CN", "+86 138 0013 8000", ["+8613800138000", "138 0013 8000", "+86 138 0013 8000", "138 0013 8000"]),
            ("EG", "٠٢٢٥٧٤٨٠٠١", ["+20225748001", "02 25748001", "+20 2 25748001", "02 25748001"]),
            ("IT", "06 6982", ["+39066982", "06 6982", "+39 06 6982", "06 6982"]),
            (
                "US", "650-253-0000 x123",
                [
                    "+16502530000", "(650) 253-0000 ext. 123", "+1 650-253-0000 ext. 123", "(650) 253-0000 ext. 123",
                ]
            ),
        ])
    func formats(region: String, number: String, formats: [String]) {
        let formatter = PhoneNumberFormatter(region: region)
        #expect(formatter.e164(number) == formats[0])
        #expect(formatter.national(number) == formats[1])
        #expect(formatter.international(number) == formats[2])
        #expect(formatter.string(number) == formats[3])
    }

    @Test(
        "What is a service's, spells words or is no number stays as it was typed",
        arguments: [
            ("DE", "112"), ("DE", "116117"), ("US", "911"), ("US", "1-800-FLOWERS"), ("DE", "*100#"), ("DE", "Ada"),
            ("DE", ""), ("DE", "  "), ("DE", "0"), ("DE", "00"), ("DE", "\u{202E}12"), ("ZZ", "020 7946 0018"),
            ("DE", "+999 123 456 789"), ("US", "123"),
        ])
    func asTyped(region: String, number: String) {
        let formatter = PhoneNumberFormatter(region: region)
        #expect(formatter.national(number) == number)
        #expect(formatter.international(number) == number)
        #expect(formatter.string(number) == number)
        if number != "1-800-FLOWERS" { #expect(formatter.e164(number) == nil) }
    }

    @Test("A number of the world's needs no region; a region that is none is nobody knows where")
    func regions() {
        for region in [nil, "", "D", "DEU", "1Z", "zz"] {
            #expect(PhoneNumberFormatter(region: region).region == "ZZ")
            #expect(PhoneNumberFormatter(region: region).string("+442079460018") == "+44 20 7946 0018")
        }
        #expect(PhoneNumberFormatter(region: "de").region == "DE")
    }

    @Test("A text that is too long for a number costs nothing")
    func long() {
        let text = "+44" + String(repeating: "1", count: 1_000_000)
        #expect(PhoneNumberFormatter(region: "GB").string(text) == text)
        #expect(PhoneNumberFormatter(region: "GB").e164(text) == nil)
    }
}
