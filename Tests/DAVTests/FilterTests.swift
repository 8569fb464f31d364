import BrokerDAV
import Testing

@Suite("Filters of queries")
struct FilterTests {
    private let card: [String: [FilteredProperty]] = [
        "FN": [FilteredProperty(value: "Zoë Ärger")],
        "N": [FilteredProperty(value: "Ärger;Zoë;;;")],
        "UID": [FilteredProperty(value: "c-one")],
        "EMAIL": [
            FilteredProperty(value: "zoe@work.example", parameters: [.init("type", "WORK")]),
            FilteredProperty(group: "item1", value: "zoe@home.example", parameters: [.init("TYPE", "home")]),
        ],
        "TEL": [FilteredProperty(value: "+1 555 0100")],
    ]

    private func matches(_ filter: String, test: String = "anyof") throws -> Bool {
        let text = """
            <C:addressbook-query xmlns:C="urn:ietf:params:xml:ns:carddav"><C:filter test="\(test)">\(filter)</C:filter>\
            </C:addressbook-query>
            """
        guard case .query(let query) = try Report(try document(text)) else { return false }
        return query.filter.matches { card[$0] ?? [] }
    }

    private func property(_ name: String, _ content: String, test: String = "anyof") -> String {
        "<C:prop-filter name='\(name)' test='\(test)'>\(content)</C:prop-filter>"
    }

    @Test(
        "Texts are compared by match type, without case",
        arguments: [
            ("zoë", "contains", true), ("ZOË ÄRGER", "equals", true), ("zoë", "equals", false),
            ("zoë", "starts-with", true),
            ("ärger", "starts-with", false), ("ÄRGER", "ends-with", true), ("zoe\u{308} a\u{308}", "contains", true),
            ("", "contains", true), ("x", "contains", false),
        ])
    func texts(text: String, kind: String, isMatch: Bool) throws {
        #expect(try matches(property("fn", "<C:text-match match-type='\(kind)'>\(text)</C:text-match>")) == isMatch)
        let negated = "<C:text-match negate-condition='yes' match-type='\(kind)'>\(text)</C:text-match>"
        #expect(try matches(property("FN", negated)) == !isMatch)
    }

    @Test("i;ascii-casemap ignores the case of ASCII letters only")
    func ascii() throws {
        let ascii = "<C:text-match collation='i;ascii-casemap'>"
        #expect(try matches(property("FN", ascii + "ZOë</C:text-match>")))
        #expect(try !matches(property("FN", ascii + "ZOË</C:text-match>")))
    }

    @Test("A property may be required, or required to be absent")
    func presence() throws {
        #expect(try matches(property("TEL", "")))
        #expect(try !matches(property("NICKNAME", "")))
        #expect(try matches(property("NICKNAME", "<C:is-not-defined/>")))
        #expect(try !matches(property("TEL", "<C:is-not-defined/>")))
        #expect(try !matches(property("NICKNAME", "<C:text-match negate-condition='yes'>x</C:text-match>")))
    }

    @Test("anyof and allof combine filters; all cards match a filter without any")
    func combining() throws {
        let (yes, no) = (property("TEL", ""), property("NICKNAME", ""))
        #expect(try matches(yes + no))
        #expect(try !matches(yes + no, test: "allof"))
        #expect(try matches(yes + yes, test: "allof"))
        #expect(try matches("") && matches("", test: "allof"))
    }

    @Test("allof wants text and parameter of the same property; groups and names of parameters ignore case")
    func parameters() throws {
        func email(_ text: String, _ type: String, _ test: String, name: String = "EMAIL") throws -> Bool {
            try matches(
                property(
                    name,
                    "<C:text-match>\(text)</C:text-match><C:param-filter name='TYPE'><C:text-match match-type='equals'>"
                        + "\(type)</C:text-match></C:param-filter>", test: test))
        }
        #expect(try email("home.example", "HOME", "allof"))
        #expect(try !email("home.example", "WORK", "allof"))
        #expect(try email("nowhere", "WORK", "anyof"))
        #expect(try email("home.example", "home", "allof", name: "ITEM1.email"))
        #expect(try !email("work.example", "work", "allof", name: "item1.EMAIL"))
        #expect(try matches(property("TEL", "<C:param-filter name='TYPE'><C:is-not-defined/></C:param-filter>")))
        #expect(try !matches(property("TEL", "<C:param-filter name='TYPE'/>")))
    }

    @Test("A comparison takes time linear in the value, also for a text that nearly matches everywhere")
    func linear() {
        let value = String(repeating: "a", count: 1_000_000)
        let match = TextMatch(String(repeating: "a", count: 1_000) + "b")
        let time = ContinuousClock().measure { #expect(!match.matches(value) && !match.matches(value + "é")) }
        #expect(time < .seconds(10))
    }
}
