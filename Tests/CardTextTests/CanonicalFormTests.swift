import BrokerCardText
import BrokerVCard
import Testing

/// Two ways to write a property, each with the lines of its group, and who writes the second.
struct Rewriting: Sendable, CustomTestStringConvertible {
    let by: String
    let lines: [String]
    let rewritten: [String]

    init(_ by: String, _ lines: String, _ rewritten: String) {
        self.by = by
        (self.lines, self.rewritten) = (lines.lines, rewritten.lines)
    }

    var testDescription: String { "\(by): \(lines) as \(rewritten)" }
}

extension String {
    fileprivate var lines: [String] { split(separator: "|").map(String.init) }
}

@Suite("Comparing properties by meaning")
struct CanonicalFormTests {
    static let equal = [
        Rewriting("Thunderbird", "item1.TEL:1|item1.X-ABLabel:Boat", "ITEM1.TEL:1|ITEM1.X-ABLABEL:Boat"),
        Rewriting("Thunderbird", "BDAY:1990-01-31", "BDAY;VALUE=DATE:1990-01-31"),
        Rewriting("Thunderbird", "TEL;VALUE=uri:tel:+47-55-50", "TEL:tel:+47-55-50"),
        Rewriting("evolution-data-server", "TEL;TYPE=CELL:+1555", "TEL;X-EVOLUTION-E164=555,\"+1\";TYPE=CELL:+1555"),
        Rewriting(
            "khard", "item1.TEL:1|item1.X-ABLabel:Front desk",
            "itemtel1.TEL;TYPE=X-Front desk:1|itemtel1.X-ABLABEL:Front desk"),
        Rewriting(
            "khard", "item1.TEL:1|item1.X-ABLabel:a\\, b", "itemtel1.X-ABLABEL:a\\, b|itemtel1.TEL;TYPE=\"X-a, b\":1"),
        Rewriting("khard", "BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-03", "BDAY:1604-02-03"),
        Rewriting("converters", "TEL:+47-55-50", "TEL;VALUE=uri:tel:+47-55-50"),
        Rewriting("Cyrus", "TEL;TYPE=HOME,CELL:1", "TEL;TYPE=HOME;TYPE=CELL:1"),
        Rewriting("Cyrus", "PHOTO:data:image/png;base64,iVBORw0K", "PHOTO;VALUE=uri:data:image/png;base64,iVBORw0K"),
        Rewriting("Radicale", "GEO:1;2", "GEO:1\\;2"),
        Rewriting(
            "Radicale", "item1.URL:http\\://a.example|item1.X-ABLabel:_$!<HomePage>!$_",
            "item1.X-ABLABEL:_$!<HomePage>!$_|item1.URL:http://a.example"),
        Rewriting("converters", "BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-03", "BDAY:--0203"),
        Rewriting("converters", "BDAY:--0203", "BDAY:--02-03"),
        Rewriting("converters", "BDAY:1990-01-31T10:20:00Z", "BDAY:19900131T102000Z"),
        Rewriting(
            "converters", "BDAY;CALSCALE=chinese:--08-15",
            "BDAY;CALSCALE=chinese:--0815"),
        Rewriting("Thunderbird", "EMAIL;TYPE=pref;TYPE=home:a@b", "EMAIL;PREF=1;TYPE=HOME:a@b"),
        Rewriting("converters", "PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQ", "PHOTO:data:image/jpeg;base64,/9j/4AAQ"),
        Rewriting(
            "converters", "PHOTO;ENCODING=BASE64;JPEG:/9j/ 4AA=",
            "PHOTO;X-ABCROP-RECTANGLE=1&2:data:image/jpeg;base64\\,/9j/4AA"),
        Rewriting("any", "tel;type=cell;x-a=1:1", "TEL;X-A=\"1\";TYPE=\"CELL\":1"),
        Rewriting("any", "NOTE:a\\nb\\, c\\;d", "NOTE;CHARSET=UTF-8:a\\Nb, c;d"),
        Rewriting("any", "NOTE:caf=", "NOTE;ENCODING=QUOTED-PRINTABLE:caf=3D"),
        Rewriting("any", "N:Doe;Jane;;;", "N:Doe;Jane"),
        Rewriting("any", "ADR:;;Road 1;Oslo;;;", "ADR:;;Road 1;Oslo"),
        Rewriting("any", "ORG:Acme;", "ORG:Acme"),
        Rewriting("any", "BDAY;CALSCALE=gregorian:19900131", "BDAY:1990-01-31"),
    ]

    static let different = [
        Rewriting("Thunderbird", "GEO:1;2", "GEO:1"),
        Rewriting("Radicale", "PHOTO:data:image/png;base64,iVBORw0K", "PHOTO:data:image/png;base64"),
        Rewriting("a person", "item1.TEL:1|item1.X-ABLabel:Boat", "item1.TEL:1|item1.X-ABLabel:boat"),
        Rewriting("a person", "item1.TEL:1|item1.X-ABLabel:_$!<Other>!$_", "item1.TEL:1|item1.X-ABLabel:Other"),
        Rewriting("a person", "item1.TEL:1|item1.X-ABLabel:Boat", "TEL:1"),
        Rewriting("a person", "item1.ADR:;;A|item1.X-ABADR:no", "item1.ADR:;;A|item1.X-ABADR:se"),
        Rewriting("a person", "TEL;TYPE=HOME:1", "TEL;TYPE=WORK:1"),
        Rewriting("a person", "TEL;PREF=1:1", "TEL;PREF=2:1"),
        Rewriting("a person", "TEL;TYPE=X-Boat:1", "TEL:1"),
        Rewriting("a person", "BDAY:1990-02-03", "BDAY:--0203"),
        Rewriting("a person", "BDAY:1990-02-03", "BDAY:1990-02-03T10:00:00Z"),
        Rewriting("a person", "BDAY;VALUE=text:circa 1800", "BDAY;VALUE=text:circa 1801"),
        Rewriting("a person", "N:Doe;Jane", "N:Doe\\;Jane"),
        Rewriting("a person", "N:Doe;Jane;;;", "N:;Doe;Jane;;"),
        Rewriting("a person", "NICKNAME:a,b", "NICKNAME:a\\,b"),
        Rewriting("a person", "NOTE:a", "NOTE:A"),
        Rewriting("a person", "NOTE:a", "TITLE:a"),
        Rewriting("a person", "PHOTO;ENCODING=b:/9j/4AAQ", "PHOTO;ENCODING=b:/9j/4AAR"),
        Rewriting("a person", "X-FOO;ENCODING=b:YWJj", "X-FOO:YWJj"),
        Rewriting("a person", "X-EVOLUTION-SPOUSE:Ada", "X-EVOLUTION-SPOUSE:Eva"),
    ]

    @Test("What clients and servers rewrite without a meaning is equal", arguments: equal)
    func rewriting(_ each: Rewriting) throws {
        let (before, after) = (try card(each.lines), try card(each.rewritten))
        #expect(before.units.count == 1)
        #expect(before.units.map(\.canonical) == after.units.map(\.canonical))
    }

    @Test("What means something is a difference", arguments: different)
    func change(_ each: Rewriting) throws {
        let (before, after) = (try card(each.lines), try card(each.rewritten))
        #expect(before.units.count == 1 && after.units.count == 1)
        #expect(before.units.map(\.canonical) != after.units.map(\.canonical))
    }

    @Test("What programs write about themselves, the UID, and labels of nothing are in no unit")
    func notCompared() throws {
        let card = try card(
            "PRODID:x", "REV:20261128T094737Z", "UID:a\\:b", "UID:c", "X-EVOLUTION-FILE-AS:New\\, Person",
            "item1.X-ABLabel:Boat", "no content line", "FN:x")
        #expect(card.units.map(\.name) == ["FN"])
        #expect(card.uid == "a:b")
        #expect(card.version == .v3_0)
    }
}
