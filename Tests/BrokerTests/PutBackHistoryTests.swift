import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import Testing

@testable import BrokerCore

@Suite("What apps learn of contacts that were put back")
struct PutBackHistoryTests {
    private let fixture: BrokerFixture
    private let administrator: TestApp
    private let keeper: TestApp

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid")
        administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
    }

    /// The number of the newest save.
    private func last() throws -> Int64 {
        let answer = try administrator.call("ListChanges", #"{"limit":1}"#)
        return try #require(answer.parameters["saves"]?.elements.map(Array.init)?.first?["number"]?.integer)
    }

    private func putBack(_ save: Int64) throws {
        #expect(try administrator.call("PutBack", #"{"save":\#(save)}"#).error == nil)
    }

    private func group(_ name: String, of names: String...) throws -> String {
        let add = Change.other(#"{"operation":"add","group":{"name":"\#(name)"}}"#)
        let group = try #require(try keeper.save([add]).strings("identifiers").first)
        for name in names {
            let member = try keeper.identifier(of: name)
            let step = #"{"operation":"addMember","group":{"identifier":"\#(group)"},"member":"\#(member)"}"#
            #expect(try keeper.save([.other(step)]).error == nil)
        }
        return group
    }

    /// The kinds of the events since a token, those of links with the identifiers of group and member.
    private func events(_ app: TestApp, since token: String) throws -> [String] {
        let answer = try app.call(
            "FetchHistory", #"{"keys":["givenName"],"includeGroups":true,"token":"\#(token)"}"#)
        let events = answer.parameters["events"]?.elements.map(Array.init) ?? []
        return events.map { event in
            [
                event["kind"]?.string, event["member"].flatMap { _ in event["identifier"]?.string },
                event["member"]?.string,
            ]
            .compactMap(\.self).joined(separator: " ")
        }
    }

    @Test("A contact that comes back without its group has left it in apps' histories")
    func leftGroup() throws {
        let (ada, group) = (try keeper.identifier(of: "Ada"), try group("Family", of: "Ada", "Bob"))
        let token = try #require(try keeper.fetch().token)
        #expect(try keeper.save([.update(ada, #""jobTitle":"Countess""#)]).error == nil)
        let update = try last()
        #expect(try keeper.save([.delete(ada)]).error == nil)
        let later = try #require(try keeper.fetch().token)
        // What it was before the update has no groups.
        try putBack(update)
        #expect(try keeper.fetch().names == ["Ada", "Bob", "Cid"])
        #expect(try events(keeper, since: token) == ["updateContact", "removeMember \(group) \(ada)"])
        // An app that last looked when the contact was deleted does not know the membership.
        #expect(try events(keeper, since: later) == ["addContact"])
        try putBack(update + 1)
        #expect(try events(keeper, since: token) == ["updateContact", "addMember \(group) \(ada)"])
    }

    @Test("A group that comes back without a member or another group has lost them in apps' histories")
    func leftMembers() throws {
        let (ada, parent, child) = (
            try keeper.identifier(of: "Ada"), try group("Family", of: "Ada", "Bob"), try group("Cousins")
        )
        let nest = #"{"operation":"addSubgroup","group":{"identifier":"\#(parent)"},"member":"\#(child)"}"#
        #expect(try keeper.save([.other(nest)]).error == nil)
        let token = try #require(try keeper.fetch().token)
        let rename = #"{"operation":"update","group":{"identifier":"\#(parent)","name":"Kin"}}"#
        #expect(try keeper.save([.other(rename)]).error == nil)
        let save = try last()
        let bob = try keeper.identifier(of: "Bob")
        #expect(
            try keeper.save([.other(#"{"operation":"delete","group":{"identifier":"\#(parent)"}}"#)]).error == nil)
        let later = try #require(try keeper.fetch().token)
        try putBack(save)
        #expect(try self.events(keeper, since: later) == ["addGroup"])
        let events = try events(keeper, since: token)
        #expect(
            Set(events) == [
                "updateGroup", "removeMember \(parent) \(ada)", "removeMember \(parent) \(bob)",
                "removeSubgroup \(parent) \(child)",
            ])
    }

    @Test("A unified contact of which a card was put back is revoked as a whole")
    func revokedLater() throws {
        let link =
            #"{"operation":"link","contact":{"identifier":"\#(try keeper.identifier(of: "Ada"))"},"member":"\#(try keeper.identifier(of: "Bob"))"}"#
        #expect(try keeper.save([.other(link)]).error == nil)
        let app = try fixture.app("mail")
        try fixture.settle(.limited(to: fixture.records("Ada", "Bob")), for: app)
        let reply = try app.fetch()
        let (token, unified) = (try #require(reply.token), reply.contacts.first?["identifier"]?.string)
        #expect(reply.contacts.count == 1)
        #expect(try keeper.save([.delete(keeper.identifier(of: "Ada"))]).error == nil)
        try putBack(try last())
        #expect(try app.fetch().contacts.compactMap { $0["identifier"]?.string } == [unified])
        try fixture.settle(.limited(to: []), for: app)
        let events =
            try app.call("FetchHistory", #"{"keys":["givenName"],"token":"\#(token)"}"#)
            .parameters["events"]?.elements.map(Array.init) ?? []
        #expect(
            events.contains { $0["kind"]?.string == "revoked" && $0["identifier"]?.string == unified }, "\(events)")
    }
}
