import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import Testing

@testable import BrokerAdminCalls
@testable import BrokerGrants

@Suite("Metrics")
struct MetricsTests {
    private let fixture: BrokerFixture
    private let root: TestApp

    init() throws {
        fixture = try BrokerFixture()
        root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
    }

    /// The values by name and labels.
    private func metrics() throws -> [String: Double] {
        let text = try #require(try root.call("GetMetrics").parameters["text"]?.string)
        #expect(text.hasSuffix("\n"))
        var values: [String: Double] = [:]
        var described: Set<Substring> = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# TYPE ") { described.insert(line.split(separator: " ")[2]) }
            guard !line.hasPrefix("#") else { continue }
            let space = try #require(line.lastIndex(of: " "))
            let name = line[..<space].prefix { $0 != "{" }
            #expect(described.contains { name.hasPrefix($0) }, "\(line)")
            #expect(
                values.updateValue(try #require(Double(line[space...].dropFirst())), forKey: String(line[..<space]))
                    == nil)
        }
        return values
    }

    @Test("Grants, events, prompts and calls are counted")
    func counts() throws {
        let before = try metrics()
        #expect(before[#"contactbroker_grants{level="full"}"#] == 0)
        let keeper = try fixture.keeper(adding: "Ada")
        try fixture.settle(.denied, for: fixture.app("spy"))
        _ = try keeper.fetch()
        _ = try keeper.fetch()
        let person = try TestPerson(fixture: fixture)
        _ = try fixture.app("mail").begin("RequestAccess")
        #expect(try person.prompts().count == 1)
        let after = try metrics()
        #expect(after[#"contactbroker_grants{level="full"}"#] == 1)
        #expect(after[#"contactbroker_grants{level="denied"}"#] == 1)
        #expect(after[#"contactbroker_events_total{event="grant",level="denied"}"#] == 1)
        // Two equal disclosures share a record, and count twice.
        let disclosures = after.filter { $0.key.contains(#"event="disclosure""#) }.values.reduce(0, +)
        #expect(disclosures == 2)
        #expect(after["contactbroker_prompts_open"] == 1 && after["contactbroker_agents"] == 1)
        let fetch = #"{interface="Contacts",method="FetchContacts""#
        #expect(after["contactbroker_call_duration_seconds_count\(fetch)}"] == 2)
        #expect(after[#"contactbroker_call_duration_seconds_bucket\#(fetch),le="+Inf"}"#] == 2)
        #expect(after["contactbroker_every_app_refused"] == 0)
    }

    @Test("No metric names a user, an app or a method that a caller invented")
    func secrets() throws {
        let app = try fixture.app("secretive", .full, uid: 4_242)
        _ = try app.save([.add(given: "Zyxgrob")])
        _ = try app.call("Zyxgrob")
        let text = try #require(try root.call("GetMetrics").parameters["text"]?.string)
        for word in ["secretive", "4242", "Zyxgrob"] { #expect(!text.contains(word)) }
        #expect(text.contains(#"method="SaveContacts""#))
    }
}
