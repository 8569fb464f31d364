import BrokerAccessControl
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerAppCalls

@Suite("Unified contacts")
struct UnifiedTests {
    private static let keys =
        #""givenName","nickname","phoneNumbers","creationDate","modificationDate","contactType","imageData","imageDataAvailable""#

    private static func contacts(_ app: TestApp, _ parameters: String = "") throws -> [JSONValue] {
        let answer = try app.call(
            "FetchContacts", #"{"keys":[\#(keys)]\#(parameters.isEmpty ? "" : ",")\#(parameters)}"#)
        try #require(answer.error == nil, "\(answer.text)")
        return answer.contacts
    }

    private static func numbers(_ contact: JSONValue) -> [String] {
        contact["phoneNumbers"]?.elements?.map {
            "\($0["identifier"]?.string ?? "") \($0["label"]?.string ?? "") \($0["value"]?.string ?? "")"
        } ?? []
    }

    private static func phone(_ values: String...) -> String {
        let phones = values.map { #"{"label":"\#($0.prefix(1))","value":"\#($0.dropFirst())"}"# }
        return #","phoneNumbers":[\#(phones.joined(separator: ","))]"#
    }

    /// Ada, Bob and Cid, added a second apart and linked, and Dora.
    private func linkedFixture() throws -> (fixture: BrokerFixture, keeper: TestApp) {
        let fixture = try BrokerFixture()
        let keeper = try fixture.app("keeper", .full)
        for (name, more) in [
            ("Ada", Self.phone("a1", "b2")),
            ("Bob", Self.phone("c2", "d3") + #","nickname":"Bobby","imageData":"aGVsbG8=""#),
            ("Cid", Self.phone("e4") + #","nickname":"C","contactType":"organization""#), ("Dora", ""),
        ] {
            try #require(try keeper.save([.add(given: name, extra: more)]).error == nil)
            fixture.loop.advance(by: .seconds(1))
        }
        try LinkTests.link(keeper, "Ada", "Bob", "Cid")
        return (fixture, keeper)
    }

    @Test("Linked cards are one contact, with the first value of each key and all values of lists")
    func merging() throws {
        let (_, keeper) = try linkedFixture()
        let cards = try Self.contacts(keeper, #""unify":false"#)
        #expect(cards.map { $0["givenName"]?.string } == ["Ada", "Bob", "Cid", "Dora"])
        let names = cards.compactMap { $0["identifier"]?.string }
        let people = try Self.contacts(keeper)
        #expect(people.map { $0["givenName"]?.string } == ["Ada", "Dora"])
        let unified = people[0]
        let identifier = try #require(unified["identifier"]?.string)
        #expect(!names.contains(identifier))
        #expect(people[1]["identifier"]?.string == names[3])
        #expect(unified["nickname"]?.string == "Bobby")
        #expect(unified["contactType"]?.string == "person")
        #expect(unified["imageData"]?.string == "aGVsbG8=" && unified["imageDataAvailable"]?.bool == true)
        // The first card's second number equals the second card's first number.
        #expect(
            Self.numbers(unified) == [
                "\(names[0])/1 a 1", "\(names[0])/2 b 2", "\(names[1])/2 d 3", "\(names[2])/1 e 4",
            ])
        #expect(unified["creationDate"]?.string == cards[0]["creationDate"]?.string)
        #expect(unified["modificationDate"]?.string == cards[2]["modificationDate"]?.string)
        #expect(cards[0]["creationDate"]?.string != cards[2]["modificationDate"]?.string)
        #expect(try LinkTests.linked(keeper, identifier) == Array(names[0..<3]))
    }

    @Test("A hidden card is not part of an app's unified contact, and a link to it does not count")
    func visible() throws {
        let (fixture, keeper) = try linkedFixture()
        let mail = try fixture.app("mail", .limited(to: fixture.records("Bob", "Cid")))
        let chat = try fixture.app("chat", .limited(to: fixture.records("Cid", "Dora")))
        let seen = try Self.contacts(mail)
        #expect(seen.count == 1)
        let names = try Self.contacts(mail, #""unify":false"#).compactMap { $0["identifier"]?.string }
        #expect(Self.numbers(seen[0]) == ["\(names[0])/1 c 2", "\(names[0])/2 d 3", "\(names[1])/1 e 4"])
        #expect(seen[0]["givenName"]?.string == "Bob")
        #expect(try LinkTests.linked(mail, try #require(seen[0]["identifier"]?.string)) == names)
        let cards = try Self.contacts(chat)
        #expect(cards.map { $0["givenName"]?.string } == ["Cid", "Dora"])
        #expect(try Self.contacts(chat, #""unify":false"#).map(\.text) == cards.map(\.text))
        #expect(Self.numbers(cards[0]) == ["1 e 4"])
        // A change of a link that an app does not see changes nothing for it.
        let before = try chat.fetch()
        let mails = try Self.contacts(mail).map(\.text)
        let ada = try keeper.identifier(of: "Ada")
        _ = try keeper.save([LinkTests.step("unlink", ada, ada)])
        #expect(try chat.fetch().text == before.text)
        #expect(try Self.contacts(mail).map(\.text) == mails)
    }

    @Test("A key that an app may not read is not merged")
    func narrow() throws {
        let (fixture, _) = try linkedFixture()
        let mail = try fixture.app(
            "mail", .limited(to: fixture.records("Ada", "Bob", "Cid")), keys: ContactKeySet([.givenName, .nickname]))
        let seen = try Self.contacts(mail)
        #expect(seen.count == 1)
        #expect(seen[0]["nickname"]?.string == "Bobby")
        #expect(Self.numbers(seen[0]) == [])
        #expect(seen[0]["imageData"]?.string == "" && seen[0]["imageDataAvailable"]?.bool == false)
        #expect(seen[0]["creationDate"]?.string == "")
        #expect(try mail.fetch(#""predicate":{"phoneNumber":"4"}"#).names == [])
    }

    @Test(
        "A unified contact is found once: by what any visible card contains, by each card's identifier and by its own")
    func predicates() throws {
        let (fixture, keeper) = try linkedFixture()
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Cid", "Dora")))
        for (predicate, all, some) in [
            (#""name":"bob""#, ["Ada"], []), (#""name":"cid""#, ["Ada"], ["Ada"]), (#""name":"c""#, ["Ada"], ["Ada"]),
            (#""phoneNumber":"3""#, ["Ada"], []), (#""phoneNumber":"4""#, ["Ada"], ["Ada"]),
            (#""name":"d""#, ["Dora"], ["Dora"]), (#""name":"bobby ada""#, [], []),
        ] as [(String, [String], [String])] {
            for (app, names) in [(keeper, all), (mail, some)] {
                for order in ["none", "givenName", "familyName"] {
                    #expect(try app.fetch(#""predicate":{\#(predicate)},"sortOrder":"\#(order)""#).names == names)
                }
                let count = try app.call("CountContacts", #"{"predicate":{\#(predicate)}}"#).text
                #expect(count == #"{"count":\#(names.count)}"#)
            }
        }
        #expect(try keeper.call("CountContacts").text == #"{"count":2}"#)
        #expect(try mail.call("CountContacts").text == #"{"count":2}"#)
        let unified = try #require(try mail.fetch().contacts.first?["identifier"]?.string)
        let cards = try mail.fetch(#""unify":false"#).contacts.compactMap { $0["identifier"]?.string }
        for names in [[unified], [cards[0]], [cards[1]], [cards[1], unified, cards[0]]] {
            let list = names.map { "\"\($0)\"" }.joined(separator: ",")
            let found = try mail.fetch(#""predicate":{"identifiers":[\#(list)]}"#)
            #expect(found.contacts.compactMap { $0["identifier"]?.string } == [unified])
        }
        let apart = try mail.fetch(#""predicate":{"identifiers":["\#(unified)"]},"unify":false"#)
        #expect(apart.names == ["Ada", "Cid"])
        // Another app's identifier is unknown. So is the identifier of a contact whose first card the app no longer
        // sees.
        #expect(try keeper.fetch(#""predicate":{"identifiers":["\#(unified)"]}"#).names == [])
        try fixture.grant(.limited(to: fixture.records("Bob", "Cid")), to: mail)
        #expect(try mail.fetch(#""predicate":{"identifiers":["\#(unified)"]}"#).names == [])
        #expect(try mail.fetch().names == ["Bob"])
        #expect(try mail.fetch().contacts.first?["identifier"]?.string != unified)
    }
}
