import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerModel
import Testing

@testable import BrokerAccessControl
@testable import BrokerAppCalls
@testable import BrokerBooks
@testable import BrokerGrants
@testable import BrokerLedger

/// The records that a predicate names are cut to the scope where they are looked up, and again where contacts are read.
/// These tests call the first check directly, because the second one hides it.
@Suite("Predicates of a limited app")
struct ReadingScopeTests {
    private let fixture: BrokerFixture
    private let keeper: TestApp
    private let reading: (RecordScope) throws -> ReadContext

    init() throws {
        let fixture = try BrokerFixture()
        self.fixture = fixture
        keeper = try fixture.keeper(adding: "Ada", "Grace")
        let app = try fixture.app("mail", .limited(to: try fixture.records("Ada")))
        let known = fixture.grants.effectiveAccess(of: app.session)
        reading = { scope in
            ReadContext(
                disclosure: Disclosure(scope: scope, keys: Grant.ordinaryKeys.union(.groups), revision: 1),
                principal: app.principal, identifiers: try #require(known.identifiers),
                book: fixture.books.opened(1_000), writableKeys: .all, changes: .all)
        }
    }

    @Test("The person's own card is not found outside the scope")
    func me() throws {
        let ada = try keeper.identifier(of: "Ada")
        let step = #"{"operation":"setMe","contact":{"identifier":"\#(ada)"}}"#
        #expect(try keeper.save([.other(step)]).error == nil)
        #expect(try reading(.all).query(.me)?.predicate == .records(try Array(fixture.records("Ada"))))
        #expect(try reading(.only(try fixture.records("Grace"))).query(.me) == nil)
    }

    @Test("Only members in scope count as members of a group")
    func members() throws {
        let (ada, grace) = (try keeper.identifier(of: "Ada"), try keeper.identifier(of: "Grace"))
        #expect(
            try keeper.save([
                GroupTests.add("Friends", as: "g"), GroupTests.step("addMember", "g", ada),
                GroupTests.step("addMember", "g", grace),
            ]).error == nil)
        let group = try #require(try fixture.books.opened(1_000)?.groups(of: nil).first)
        let scoped = try reading(.only(try fixture.records("Ada")))
        let name = scoped.identifiers.identifier(of: group.record, as: .group)
        #expect(try scoped.query(.group(name))?.predicate == .records(try Array(fixture.records("Ada"))))
    }
}
