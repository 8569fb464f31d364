import BrokerModel
import Testing

@testable import BrokerFormatting

/// An address with these fields.
func address(_ texts: [PostalAddressField: String]) -> PostalAddress {
    var address = PostalAddress()
    for (field, text) in texts {
        switch field {
        case .street: address.street = text
        case .subLocality: address.subLocality = text
        case .city: address.city = text
        case .subAdministrativeArea: address.subAdministrativeArea = text
        case .state: address.state = text
        case .postalCode: address.postalCode = text
        case .country: address.country = text
        case .isoCountryCode: address.isoCountryCode = text
        }
    }
    return address
}

@Suite("Addresses in their country's format")
struct PostalAddressFormatterTests {
    struct Example: CustomTestStringConvertible {
        let fields: [PostalAddressField: String]
        let lines: [String]

        var testDescription: String { lines.joined(separator: " / ") }
    }

    static let table = [
        Example(
            fields: [
                .street: "1 Infinite Loop", .city: "Cupertino", .state: "CA", .postalCode: "95014",
                .country: "United States", .isoCountryCode: "us",
            ], lines: ["1 Infinite Loop", "Cupertino, CA 95014", "United States"]),
        Example(
            fields: [.street: "1 Infinite Loop", .city: "Cupertino", .postalCode: "95014", .isoCountryCode: "US"],
            lines: ["1 Infinite Loop", "Cupertino 95014", "United States"]),
        Example(fields: [.state: "CA", .isoCountryCode: "US"], lines: ["CA", "United States"]),
        Example(fields: [.city: "Cupertino", .isoCountryCode: "US"], lines: ["Cupertino", "United States"]),
        Example(
            fields: [
                .street: "Musterstraße 1\nHinterhaus", .city: "Berlin", .state: "Berlin", .postalCode: "10115",
                .country: "Deutschland",
            ], lines: ["Musterstraße 1", "Hinterhaus", "10115 Berlin", "Deutschland"]),
        Example(
            fields: [.street: "10 Downing Street", .city: "London", .postalCode: "SW1A 2AA", .country: "England"],
            lines: ["10 Downing Street", "London", "SW1A 2AA", "England"]),
        Example(
            fields: [.street: "10 Downing Street", .city: "London", .postalCode: "SW1A 2AA", .isoCountryCode: "UK"],
            lines: ["10 Downing Street", "London", "SW1A 2AA", "United Kingdom"]),
        Example(
            fields: [
                .street: "55 rue du Faubourg Saint-Honoré", .city: "Paris", .postalCode: "75008", .country: "FRANCE",
            ], lines: ["55 rue du Faubourg Saint-Honoré", "75008 Paris", "FRANCE"]),
        Example(
            fields: [.street: "Drottninggatan 1", .city: "Stockholm", .postalCode: "111 51", .country: "Sverige"],
            lines: ["Drottninggatan 1", "SE-111 51 Stockholm", "Sverige"]),
        Example(
            fields: [.street: "Drottninggatan 1", .city: "Stockholm", .postalCode: "SE 111 51", .country: "Sverige"],
            lines: ["Drottninggatan 1", "SE-111 51 Stockholm", "Sverige"]),
        Example(
            fields: [.street: "Bahnhofstrasse 1", .city: "Zürich", .postalCode: "CH-8001", .country: "Schweiz"],
            lines: ["Bahnhofstrasse 1", "CH-8001 Zürich", "Schweiz"]),
        Example(
            fields: [.street: "Bahnhofstrasse 1", .city: "Zürich", .isoCountryCode: "CH"],
            lines: ["Bahnhofstrasse 1", "Zürich", "Switzerland"]),
        Example(
            fields: [
                .street: "Via Roma 1", .city: "Torino", .state: "TO", .postalCode: "10121", .isoCountryCode: "IT",
            ],
            lines: ["Via Roma 1", "10121 Torino TO", "Italy"]),
        Example(
            fields: [
                .street: "Calle Mayor 1", .city: "Madrid", .state: "Madrid", .postalCode: "28013", .country: "España",
            ], lines: ["Calle Mayor 1", "28013 Madrid Madrid", "España"]),
        Example(
            fields: [
                .street: "Rua Augusta 1", .subLocality: "Consolação", .city: "São Paulo", .state: "SP",
                .postalCode: "01305-000", .country: "Brasil",
            ], lines: ["Rua Augusta 1", "Consolação", "São Paulo-SP", "01305-000", "Brasil"]),
        Example(
            fields: [
                .street: "Bajcsy-Zsilinszky út 1", .city: "Budapest", .postalCode: "1051", .country: "Magyarország",
            ], lines: ["Budapest", "Bajcsy-Zsilinszky út 1", "1051", "Magyarország"]),
        Example(
            fields: [
                .street: "六本木6-10-1", .subLocality: "六本木", .city: "港区", .state: "東京都", .postalCode: "106-6126",
                .country: "日本",
            ], lines: ["〒106-6126", "東京都港区六本木", "六本木6-10-1", "日本"]),
        Example(
            fields: [
                .street: "6-10-1 Roppongi", .city: "Minato-ku", .state: "Tokyo", .postalCode: "106-6126",
                .country: "Japan",
            ], lines: ["6-10-1 Roppongi", "Minato-ku, Tokyo", "106-6126", "Japan"]),
        Example(
            fields: [
                .street: "建国路79号", .subLocality: "朝阳区", .city: "北京市", .postalCode: "100025", .country: "中国",
            ], lines: ["100025", "北京市朝阳区", "建国路79号", "中国"]),
        Example(
            fields: [
                .street: "79 Jianguo Road", .subLocality: "Chaoyang", .city: "Beijing", .state: "Beijing",
                .postalCode: "100025", .isoCountryCode: "cn",
            ], lines: ["79 Jianguo Road", "Chaoyang", "Beijing", "Beijing, 100025", "China"]),
        Example(
            fields: [
                .street: "信義路五段7號", .subLocality: "信義區", .city: "台北市", .postalCode: "110", .country: "台灣",
            ], lines: ["110", "台北市信義區", "信義路五段7號", "台灣"]),
        Example(
            fields: [
                .street: "세종대로 209", .subLocality: "종로구", .city: "서울", .state: "서울특별시", .postalCode: "03171",
                .country: "대한민국",
            ], lines: ["서울특별시 서울종로구", "세종대로 209", "03171", "대한민국"]),
        Example(
            fields: [.street: "彌敦道1號", .city: "尖沙咀", .state: "九龍", .country: "香港"],
            lines: ["九龍", "尖沙咀", "彌敦道1號", "香港"]),
        Example(
            fields: [.street: "1 Raffles Place", .city: "Singapore", .postalCode: "048616", .country: "Singapore"],
            lines: ["1 Raffles Place", "Singapore 048616", "Singapore"]),
        Example(
            fields: [.street: "شارع التحرير ١", .city: "القاهرة", .postalCode: "11511", .country: "مصر"],
            lines: ["شارع التحرير ١", "القاهرة", "11511", "مصر"]),
        Example(
            fields: [
                .street: "улица Тверская, 1", .city: "Москва", .state: "Московская область", .postalCode: "125009",
                .country: "Россия",
            ], lines: ["улица Тверская, 1", "Москва", "Московская область", "125009", "Россия"]),
        // An unknown country, and no country.
        Example(
            fields: [.street: "1 Main Street", .city: "Town", .postalCode: "9", .country: "Atlantis"],
            lines: ["1 Main Street", "Town", "9", "Atlantis"]),
        Example(fields: [.street: "1 Main Street", .city: "Town"], lines: ["1 Main Street", "Town"]),
        Example(fields: [.country: "Germany"], lines: ["Germany"]),
        Example(fields: [.street: " \n ", .isoCountryCode: "  "], lines: []),
        Example(fields: [:], lines: []),
    ]

    @Test("The lines of an address are in its country's order", arguments: table)
    func lines(example: Example) {
        #expect(PostalAddressFormatter(region: nil).lines(of: address(example.fields)) == example.lines)
    }

    @Test("An address without a country counts as the person's country")
    func home() {
        let home = address([.street: "Drottninggatan 1", .city: "Stockholm", .postalCode: "111 51"])
        #expect(PostalAddressFormatter(region: "SE").lines(of: home) == ["Drottninggatan 1", "111 51 Stockholm"])
        #expect(PostalAddressFormatter(region: "se").lines(of: home) == ["Drottninggatan 1", "111 51 Stockholm"])
        #expect(PostalAddressFormatter(region: "US").lines(of: home) == ["Drottninggatan 1", "Stockholm 111 51"])
        #expect(
            PostalAddressFormatter(region: "nowhere").lines(of: home) == [
                "Drottninggatan 1", "Stockholm", "111 51",
            ])
    }

    @Test("A country code is replaced by the country's name in the person's language, for addresses abroad")
    func country() {
        let address = address([.city: "Berlin", .isoCountryCode: "de"])
        #expect(PostalAddressFormatter(region: "DE").lines(of: address) == ["Berlin"])
        #expect(PostalAddressFormatter(region: "FR", language: "fr").lines(of: address) == ["Berlin", "Allemagne"])
        #expect(PostalAddressFormatter(region: nil, language: "ja").lines(of: address) == ["Berlin", "ドイツ"])
        #expect(PostalAddressFormatter(region: nil, language: "zh-Hans").lines(of: address) == ["Berlin", "德国"])
        #expect(PostalAddressFormatter(region: nil, language: "../en").lines(of: address) == ["Berlin", "Germany"])
    }

    @Test(
        "A country is recognised by its name in the likely languages",
        arguments: [
            ("Germany", "DE"), ("deutschland", "DE"), ("ALLEMAGNE", "DE"), ("Alemania", "DE"), ("ألمانيا", "DE"),
            ("ドイツ", "DE"), ("德国", "DE"), ("Österreich", "AT"), ("Schweiz", "CH"), ("Suisse", "CH"), ("Sverige", "SE"),
            ("日本", "JP"), ("中国", "CN"), ("대한민국", "KR"), ("Россия", "RU"), ("Ελλάδα", "GR"), ("ישראל", "IL"),
            ("USA", "US"), ("U.S.A.", "US"), ("us", "US"), ("UK", "GB"), ("Czech Republic", "CZ"), ("Česko", "CZ"),
            ("Côte d’Ivoire", "CI"),
        ])
    func countryName(name: String, code: String) {
        #expect(PostalAddressFormatter(region: "NZ").countryCode(of: address([.country: name])) == code)
    }

    @Test(
        "A text that is not a country's name or code selects no format",
        arguments: ["Atlantis", "QQ", "ZZ", "D", "12", "é"])
    func noCountry(name: String) {
        #expect(PostalAddressFormatter(region: "NZ").countryCode(of: address([.country: name])) == nil)
    }

    @Test("No field of an address is left out in a prompt")
    func complete() {
        let all = address([
            .street: "Musterstraße 1", .subLocality: "Mitte", .city: "Berlin", .subAdministrativeArea: "Kreis",
            .state: "Brandenburg", .postalCode: "10115", .isoCountryCode: "DE",
        ])
        #expect(
            PostalAddressFormatter(region: "DE", style: .complete).lines(of: all) == [
                "Musterstraße 1", "Mitte", "10115 Berlin", "Kreis", "Brandenburg", "Germany",
            ])
        #expect(
            PostalAddressFormatter(region: "DE").lines(of: all) == [
                "Musterstraße 1", "Mitte", "10115 Berlin", "Kreis", "Brandenburg",
            ])
        let city = address([.city: "Berlin", .state: "Berlin", .postalCode: "10115", .isoCountryCode: "DE"])
        #expect(PostalAddressFormatter(region: "DE").lines(of: city) == ["10115 Berlin"])
        var fields = [PostalAddressField: String]()
        for field in PostalAddressField.allCases where field != .isoCountryCode { fields[field] = "X\(field)" }
        for code in AddressFormat.all.keys {
            fields[.isoCountryCode] = code
            let text = PostalAddressFormatter(region: nil, style: .complete).lines(of: address(fields)).joined(
                separator: "\n")
            for (field, value) in fields where field != .isoCountryCode && !text.contains(value) {
                Issue.record("\(code): \(field) is missing in \(text)")
            }
        }
    }

    @Test("Each piece has the field that it came from")
    func runs() {
        let us = address([
            .street: "1 Main St\nApt 2", .city: "Springfield", .state: "IL", .postalCode: "62701", .country: "USA",
        ])
        #expect(
            PostalAddressFormatter(region: "US").runs(of: us) == [
                .init("1 Main St\nApt 2", .street), .init("\n"), .init("Springfield", .city), .init(", "),
                .init("IL", .state), .init(" "), .init("62701", .postalCode), .init("\n"), .init("USA", .country),
            ])
    }

    @Test("Every country has a format with a street and a town, and only known fields")
    func formats() {
        #expect(AddressFormat.all.count > 250)
        for (code, format) in AddressFormat.all {
            for tokens in [format.local] + (format.latin.map { [$0] } ?? []) {
                #expect(tokens.contains(.field(.street)) && tokens.contains(.field(.city)), "\(code)")
                for case .literal(let text) in tokens where text.contains("%") { Issue.record("\(code): \(text)") }
            }
        }
    }
}
