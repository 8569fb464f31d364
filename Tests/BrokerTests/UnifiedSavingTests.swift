import BrokerAccessControl
import BrokerDisclosure
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Saving through a unified contact")
struct UnifiedSavingTests {
    private static func phones(_ numbers: String...) -> String {
        let phones = numbers.map { #"{"label":"old","value":"\#($0)"}"# }
        return #","phoneNumbers":[\#(phones.joined(separator: ","))]"#
    }

    private let fixture: BrokerFixture
    private let keeper: TestApp
    private let unified: String
    private let cards: [String]

    /// One contact of three linked cards: Ada with 1 and 2, Bob with 2 and 3 and the nickname Bobby, and Cid.
    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.app("keeper", .full)
        let added = try keeper.save([
            .add(given: "Ada", extra: Self.phones("1", "2")),
            .add(given: "Bob", extra: Self.phones("2", "3") + #","nickname":"Bobby""#), .add(given: "Cid"),
        ])
        try #require(added.error == nil)
        cards = added.strings("identifiers")
        try LinkTests.link(keeper, "Ada", "Bob", "Cid")
        unified = try #require(try keeper.fetch().contacts.first?["identifier"]?.string)
    }

    /// Each contact in one line. Without `unify`, each card is one.
    private func lines(_ app: TestApp? = nil, unify: Bool = false) throws -> [String] {
        let answer = try (app ?? keeper).call(
            "FetchContacts", #"{"keys":["givenName","nickname","phoneNumbers"],"unify":\#(unify)}"#)
        return answer.contacts.map { contact in
            let phones = contact["phoneNumbers"]?.elements?.map {
                let number = $0["identifier"]?.string?.split(separator: "/").last ?? ""
                return "\(number)=\($0["value"]?.string ?? "")"
            }
            let names = [contact["givenName"]?.string, contact["nickname"]?.string].compactMap { $0 }
            return (names + (phones ?? [])).filter { !$0.isEmpty }.joined(separator: " ")
        }
    }

    private func update(_ members: String, by app: TestApp? = nil, of identifier: String? = nil) throws -> Answer {
        try (app ?? keeper).save([.update(identifier ?? unified, members)])
    }

    private func value(_ identifier: String, _ value: String) -> String {
        #"{"identifier":"\#(identifier)","value":"\#(value)"}"#
    }

    @Test(
        "A value goes to the card that its identifier names, a new one to the first card, and a missing one is removed")
    func lists() throws {
        #expect(try lines() == ["Ada 1=1 2=2", "Bob Bobby 1=2 2=3", "Cid"])
        let answer = try update(
            #""phoneNumbers":[\#(value("\(cards[1])/2", "33")),{"value":"9"},\#(value("\(cards[0])/2", "2"))]"#)
        #expect(answer.error == nil && answer.strings("identifiers") == [""])
        // Bob's own 2 was shown as Ada's, and stays as long as Ada's does.
        #expect(try lines() == ["Ada 3=9 2=2", "Bob Bobby 2=33 1=2", "Cid"])
    }

    @Test("A value that stands for equal values of other cards changes or removes them too")
    func equalValues() throws {
        _ = try update(#""phoneNumbers":[\#(value("\(cards[0])/2", "22")),\#(value("\(cards[1])/2", "3"))]"#)
        #expect(try lines() == ["Ada 2=22", "Bob Bobby 1=22 2=3", "Cid"])
        #expect(try lines(unify: true) == ["Ada Bobby 2=22 2=3"])
        _ = try update(#""phoneNumbers":[{"value":"3"}]"#)
        #expect(try lines() == ["Ada", "Bob Bobby 2=3", "Cid"])
        _ = try update(#""phoneNumbers":[]"#)
        #expect(try lines() == ["Ada", "Bob Bobby", "Cid"])
    }

    @Test("A single value goes to the first card, and clearing it clears it in every visible card")
    func single() throws {
        _ = try update(#""nickname":"Countess","givenName":"Augusta""#)
        #expect(try lines().map { $0.filter(\.isLetter) } == ["AugustaCountess", "BobBobby", "Cid"])
        _ = try update(#""nickname":"""#)
        #expect(try lines(unify: true).map { $0.filter(\.isLetter) } == ["Augusta"])
        #expect(try lines().map { $0.filter(\.isLetter) } == ["Augusta", "Bob", "Cid"])
    }

    @Test("A card that the app does not see is neither written nor deleted")
    func hidden() throws {
        let mail = try fixture.app("mail", .limited(to: fixture.records("Bob", "Cid")))
        let own = try #require(try mail.fetch().contacts.first?["identifier"]?.string)
        #expect(try update(#""phoneNumbers":[{"value":"7"}],"nickname":"B""#, by: mail, of: own).error == nil)
        #expect(try lines() == ["Ada 1=1 2=2", "Bob B 3=7", "Cid"])
        // Another app's identifier, and the identifiers of a hidden card as a unified contact and as a card.
        let cipher = try #require(fixture.grants.effectiveAccess(of: mail.session).identifiers)
        let ada = try #require(try fixture.records("Ada").first)
        for name in [
            unified, cipher.identifier(of: ada, as: .unifiedContact), cipher.identifier(of: ada, as: .contact),
        ] {
            let answers = [try update(#""nickname":"X""#, by: mail, of: name), try mail.save([.delete(name)])]
            #expect(answers.allSatisfy { $0.error == "RecordDoesNotExist" && $0.text == #"{"index":0}"# })
        }
        let value = value("\(cipher.identifier(of: ada, as: .contact))/1", "8")
        #expect(try update(#""phoneNumbers":[\#(value)]"#, by: mail, of: own).error == nil)
        #expect(try lines() == ["Ada 1=1 2=2", "Bob B 4=8", "Cid"])
        #expect(try mail.save([.delete(own)]).error == nil)
        #expect(try lines() == ["Ada 1=1 2=2"])
    }

    @Test("The identifier of another card's value means nothing in a card")
    func otherCards() throws {
        let answer = try update(#""phoneNumbers":[\#(value("\(cards[1])/1", "5"))]"#, of: cards[0])
        #expect(answer.error == nil)
        #expect(try lines()[0] == "Ada 3=5")
        _ = try update(#""phoneNumbers":[\#(value("\(cards[0])/3", "6"))]"#, of: cards[0])
        #expect(try lines()[0] == "Ada 3=6")
    }

    @Test("With limited keys only the app that created all visible cards may delete them")
    func deletingUnderKeys() throws {
        let mail = try fixture.app(
            "mail", .limited(to: fixture.records("Bob", "Cid")), keys: ContactKeySet([.givenName]))
        let own = try #require(try mail.fetch().contacts.first?["identifier"]?.string)
        let refused = try mail.save([.delete(own)])
        #expect(refused.error == "RecordNotWritable" && refused.text == #"{"index":0,"identifier":"\#(own)"}"#)
        #expect(try update(#""nickname":"X""#, by: mail, of: own).error == "UnauthorizedKeys")
        #expect(try lines().count == 3)
    }

    @Test("A unified contact can join and leave a group, and can be linked and unlinked")
    func otherSteps() throws {
        let group = try keeper.save([
            .add(given: "Dora"), .other(#"{"operation":"add","group":{"name":"G","identifier":"g"}}"#),
            .other(#"{"operation":"addMember","group":{"identifier":"g","name":"G"},"member":"\#(unified)"}"#),
            .other(#"{"operation":"addMember","group":{"identifier":"g","name":"G"},"member":"\#(cards[1])"}"#),
            .other(#"{"operation":"setMe","contact":{"identifier":"\#(unified)"}}"#),
        ]).strings("identifiers")[1]
        let members = #""predicate":{"group":"\#(group)"}"#
        #expect(try keeper.fetch(members).contacts.compactMap { $0["identifier"]?.string } == [unified])
        #expect(try keeper.fetch(#""predicate":{"me":true}"#).names == ["Ada"])
        #expect(try keeper.fetch(members + #","unify":false"#).names == ["Ada", "Bob"])
        let taken = try keeper.save([
            .other(
                #"{"operation":"removeMember","group":{"identifier":"\#(group)","name":"G"},"member":"\#(unified)"}"#)
        ])
        #expect(taken.error == nil)
        #expect(try keeper.fetch(members).names == [])
        let dora = try keeper.identifier(of: "Dora")
        #expect(try keeper.save([LinkTests.step("link", dora, unified)]).error == nil)
        #expect(try LinkTests.linked(keeper, unified) == cards + [dora])
        #expect(try keeper.save([LinkTests.step("unlink", unified, unified)]).error == nil)
        #expect(try keeper.fetch().names == ["Ada", "Bob", "Cid", "Dora"])
        #expect(try keeper.save([LinkTests.step("unlink", unified, unified)]).error == "RecordDoesNotExist")
    }
}
