import Testing

@testable import BrokerFormatting

@Suite("Phone numbers are formatted by libphonenumber")
struct PhoneNumberFormatterTests {
    @Test(
        "A number is formatted for the region where it is dialled",
        arguments: [
            ("GB", "020 7946 0018", "020 7946 0018"), ("DE", "+44 20 7946 0018", "+44 20 7946 0018"),
            ("US", "(650) 253-0000", "(650) 253-0000"),
            // Canada shares the country code of the United States.
            ("CA", "+16502530000", "(650) 253-0000"),
            ("DE", "030/123456", "030 123456"), ("SE", "0701234567", "070-123 45 67"),
            ("FR", "0033142685300", "01 42 68 53 00"), ("JP", "0335803311", "03-3580-3311"),
            ("CN", "+86 138 0013 8000", "138 0013 8000"), ("EG", "٠٢٢٥٧٤٨٠٠١", "02 25748001"),
            ("IT", "06 6982", "06 6982"), ("US", "650-253-0000 x123", "(650) 253-0000 ext. 123"),
        ])
    func formats(region: String, number: String, written: String) {
        #expect(PhoneNumberFormatter(region: region).string(number) == written)
    }

    @Test(
        "Service numbers, numbers with letters and other texts are kept as typed",
        arguments: [
            ("DE", "112"), ("DE", "116117"), ("US", "911"), ("US", "1-800-FLOWERS"), ("DE", "*100#"), ("DE", "Ada"),
            ("DE", ""), ("DE", "  "), ("DE", "0"), ("DE", "00"), ("DE", "\u{202E}12"), ("ZZ", "020 7946 0018"),
            ("DE", "+999 123 456 789"), ("US", "123"),
        ])
    func asTyped(region: String, number: String) {
        #expect(PhoneNumberFormatter(region: region).string(number) == number)
    }

    @Test("An international number needs no region; an invalid region counts as unknown")
    func regions() {
        for region in [nil, "", "D", "DEU", "1Z", "zz"] {
            #expect(PhoneNumberFormatter(region: region).region == "ZZ")
            #expect(PhoneNumberFormatter(region: region).string("+442079460018") == "+44 20 7946 0018")
        }
        #expect(PhoneNumberFormatter(region: "de").region == "DE")
    }

    @Test("A text that is too long for a number is not parsed")
    func long() {
        let text = "+44" + String(repeating: "1", count: 1_000_000)
        #expect(PhoneNumberFormatter(region: "GB").string(text) == text)
    }
}
