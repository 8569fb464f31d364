import BrokerAccessControl
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerCore

@Suite("The person's language")
struct LanguageTests {
    private let fixture: BrokerFixture
    private let keeper: TestApp
    private let mail: TestApp

    private static let order = #""sortOrder":"familyName""#

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.app("keeper", .full)
        let names = ["Ohm", "Öberg", "Zorn", "Åberg", "Chudy", "Hora"]
        _ = try keeper.save(names.map { .add(given: $0, extra: #","familyName":"\#($0)""#) })
        mail = try fixture.app("mail", .limited(to: fixture.records("Öberg", "Zorn", "Åberg", "Ohm")))
    }

    @Test("An app with full access sets the language, which every app's lists follow, also after a restart")
    func set() throws {
        #expect(try keeper.fetch(Self.order).names == ["Åberg", "Chudy", "Hora", "Öberg", "Ohm", "Zorn"])
        #expect(try mail.call("SetUserDefaults", #"{"language":"sv"}"#).error == "AccessDenied")
        #expect(try keeper.call("SetUserDefaults", #"{"language":"sv"}"#).error == nil)
        #expect(try keeper.fetch(Self.order).names == ["Chudy", "Hora", "Ohm", "Zorn", "Åberg", "Öberg"])
        #expect(try mail.fetch(Self.order).names == ["Ohm", "Zorn", "Åberg", "Öberg"])
        #expect(try mail.call("GetUserDefaults").parameters["language"]?.string == "sv")
        try fixture.restart()
        #expect(try fixture.app("mail").fetch(Self.order).names == ["Ohm", "Zorn", "Åberg", "Öberg"])
        let again = try fixture.app("keeper")
        #expect(try again.call("SetUserDefaults", #"{"language":"sk"}"#).error == nil)
        #expect(try again.fetch(Self.order).names.prefix(3) == ["Åberg", "Hora", "Chudy"])
        #expect(try again.call("SetUserDefaults", #"{"sortOrder":"familyName"}"#).error == nil)
        #expect(try again.call("GetUserDefaults").parameters["language"]?.string == "sk")
        #expect(try again.call("SetUserDefaults", #"{"language":""}"#).error == nil)
        #expect(try again.fetch(Self.order).names.first == "Åberg")
        for wrong in ["7", #""sv_SE.UTF-8""#, #""../sv""#, #""\#(String(repeating: "a", count: 36))""#] {
            #expect(try again.call("SetUserDefaults", #"{"language":\#(wrong)}"#).error != nil)
        }
    }

    @Test("A page of a list that began in another order is refused")
    func pages() throws {
        let page = try mail.fetch(Self.order + #","limit":2"#)
        let next = try #require(page.parameters["next"]?.string)
        #expect(try mail.fetch(Self.order + #","after":"\#(next)""#).names.count == 2)
        #expect(try keeper.call("SetUserDefaults", #"{"language":"sv"}"#).error == nil)
        #expect(try mail.fetch(Self.order + #","after":"\#(next)""#).error == "InvalidParameter")
        #expect(try mail.fetch(Self.order).names.count == 4)
    }
}
