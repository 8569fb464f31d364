import BrokerAccessControl
import BrokerJSON
import BrokerVarlink
import Dispatch
import Testing

@testable import BrokerBooks
@testable import BrokerCore

@Suite("Contacts that an app already knows")
struct IgnoredContactsTests {
    @Test("Known contacts are looked up off the loop, delay no other caller, and are not offered")
    func offTheLoop() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.app("keeper", .full)
        for name in ["Ada", "Alan", "Anna"] {
            let address = #","emailAddresses":[{"value":"\#(name)@example.org"}]"#
            #expect(try keeper.save([.add(given: name, extra: address)]).error == nil)
        }
        let person = try TestPerson(fixture: fixture)
        let mail = try fixture.app("mail", .limited(to: []))
        let addresses = (0..<100).map { #""a\#($0)@example.org""# } + [#""ada@example.org""#]
        let call = try mail.begin(
            "RequestContacts",
            #"{"query":"a","ignoredEmailAddresses":[\#(addresses.suffix(100).joined(separator: ","))]}"#)
        try #require(fixture.loop.run { (try? person.prompts().isEmpty) == false || call.isOver })
        let cookie = try #require(try person.told().last?["cookie"]?.string)
        let search = #"{"agent":"\#(person.token)","cookie":"\#(cookie)","query":"a","limit":200}"#

        let reads = fixture.longReads.queue(of: 1_000)
        let looking: Call
        do {
            reads.suspend()
            defer { reads.resume() }
            looking = try person.agent.begin("Search", search)
            #expect(!looking.isOver)
            #expect(try keeper.fetch().names == ["Ada", "Alan", "Anna"])
        }
        try #require(fixture.loop.run { looking.isOver })
        #expect(try person.agent.replies(to: looking).last?.parameters["total"]?.integer == 2)
        // They are looked up once for each prompt.
        do {
            reads.suspend()
            defer { reads.resume() }
            #expect(try person.agent.call("Search", search).parameters["total"]?.integer == 2)
        }
    }
}
