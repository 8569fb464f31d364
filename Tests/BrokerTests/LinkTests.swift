import BrokerAccessControl
import BrokerDisclosure
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerAppCalls
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Linked contacts")
struct LinkTests {
    static func step(_ operation: String, _ contact: String, _ member: String) -> Change {
        .other(#"{"operation":"\#(operation)","contact":{"identifier":"\#(contact)"},"member":"\#(member)"}"#)
    }

    /// Links the contacts with these given names, each to the first.
    static func link(_ keeper: TestApp, _ names: String...) throws {
        let identifiers = try names.map { try keeper.identifier(of: $0) }
        let answer = try keeper.save(identifiers.dropFirst().map { step("link", identifiers[0], $0) })
        try #require(answer.error == nil, "\(answer.text)")
    }

    static func linked(_ app: TestApp, _ identifier: String) throws -> [String] {
        try app.call("ListLinkedContacts", #"{"identifier":"\#(identifier)"}"#).strings("identifiers")
    }

    @Test("An app that sees everything links and unlinks cards, and each app lists the linked cards that it sees")
    func linking() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid", "Dora")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Cid")))
        let chat = try fixture.app("chat", .limited(to: fixture.records("Bob")))
        let (ada, bob, cid) = (
            try keeper.identifier(of: "Ada"), try keeper.identifier(of: "Bob"), try keeper.identifier(of: "Cid")
        )
        let (mails, mailsCid) = (try mail.identifier(of: "Ada"), try mail.identifier(of: "Cid"))
        let chats = try chat.identifier(of: "Bob")
        try Self.link(keeper, "Cid", "Bob", "Ada")
        for identifier in [ada, bob, cid] { #expect(try Self.linked(keeper, identifier) == [ada, bob, cid]) }
        #expect(try Self.linked(mail, mails) == [mails, mailsCid])
        // A contact with one visible card consists of that card alone.
        #expect(try Self.linked(chat, chats) == [chats])
        #expect(try keeper.save([Self.step("unlink", ada, cid)]).error == nil)
        #expect(try Self.linked(mail, mails) == [mails])
        #expect(try Self.linked(mail, mailsCid) == [mailsCid])
        #expect(try Self.linked(keeper, ada) == [ada, bob])
        _ = try keeper.save([.delete(bob)])
        #expect(try Self.linked(keeper, ada) == [ada])
    }

    @Test("No other app can link cards, whatever it names")
    func refused() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Bob")))
        let narrow = try fixture.app("narrow", .full, keys: ContactKeySet.names)
        for app in [mail, narrow] {
            let (ada, bob) = (try app.identifier(of: "Ada"), try app.identifier(of: "Bob"))
            let answers = try [(ada, bob), (ada, ada), ("x", "y"), ("", bob)].flatMap { contact, member in
                try ["link", "unlink"].map { try app.save([Self.step($0, contact, member)]) }
            }
            #expect(answers.allSatisfy { $0.error == "RecordNotWritable" && $0.text == #"{"index":0}"# })
        }
        #expect(try Self.linked(keeper, keeper.identifier(of: "Ada")).count == 1)
    }

    @Test("An app that may link can name only existing cards, and all other names give the same error")
    func invisible() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob", "Gone")
        let other = try fixture.app("other", .full)
        let ada = try keeper.identifier(of: "Ada")
        let gone = try keeper.identifier(of: "Gone")
        _ = try keeper.save([.delete(gone)])
        let cipher = try #require(fixture.grants.effectiveAccess(of: keeper.session).identifiers)
        let bob = try #require(try fixture.records("Bob").first)
        let names = [
            gone, try other.identifier(of: "Bob"), "", "nothing", String(repeating: "0", count: 32),
            // Identifiers of a unified contact that does not exist, and of a group.
            cipher.identifier(of: bob, as: .unifiedContact), cipher.identifier(of: bob, as: .group),
        ]
        let answers = try names.flatMap { name in
            try ["link", "unlink"].flatMap {
                [try keeper.save([Self.step($0, ada, name)]), try keeper.save([Self.step($0, name, ada)])]
            } + [try keeper.save([.other(#"{"operation":"link","member":"\#(ada)"}"#)])]
        }
        #expect(answers.allSatisfy { $0.error == "RecordDoesNotExist" && $0.text == #"{"index":0}"# })
        for wrong in [
            #"{"operation":"link","contact":{"identifier":"\#(ada)"},"member":"\#(ada)","container":"x"}"#,
            #"{"operation":"link","contact":{"identifier":"\#(ada)","other":1},"member":"\#(ada)"}"#,
            #"{"operation":"link","contact":{"identifier":"\#(ada)"},"member":"\#(ada)","group":{"name":"x"}}"#,
        ] {
            #expect(try keeper.save([.other(wrong)]).error == "InvalidParameter")
        }
    }

    @Test("A row that the person turns on grants the cards that are linked then, and none that are linked later")
    func granting() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid", "Dora")
        try Self.link(keeper, "Ada", "Bob")
        let mail = try fixture.app("mail")
        let person = try TestPerson(fixture: fixture)
        let call = try mail.begin("RequestAccess")
        let prompt = try #require(try person.prompts().first)
        let row = try #require(try person.rows(prompt, query: "Bob").first)
        #expect(try person.rows(prompt).map(\.linked) == [1, 1, nil, nil])
        #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(row.identifier)"]"#).error == nil)
        _ = try mail.replies(1, to: call)
        #expect(try mail.fetch(#""sortOrder":"givenName","unify":false"#).names == ["Ada", "Bob"])
        let token = try mail.fetch().token
        try Self.link(keeper, "Ada", "Cid", "Dora")
        #expect(try mail.fetch(#""sortOrder":"givenName","unify":false"#).names == ["Ada", "Bob"])
        #expect(try mail.fetch().token == token)
        // After an unlink, each former member stays granted.
        let bob = try keeper.identifier(of: "Bob")
        #expect(try keeper.save([Self.step("unlink", bob, bob)]).error == nil)
        #expect(try mail.fetch(#""sortOrder":"givenName","unify":false"#).names == ["Ada", "Bob"])
        #expect(try mail.fetch().token != token)
    }

    @Test("A row that the person turns off revokes its linked cards, and a row turned off stays off")
    func takingBack() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid", "Dora")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Bob", "Cid")), strength: .installed)
        let person = try TestPerson(fixture: fixture)
        try Self.link(keeper, "Ada", "Bob")
        let answer = { (on: [String], off: [String]) in
            let prompt = try #require(try person.manage(mail))
            let list = { (names: [String]) -> String in
                let rows = try names.map { try #require(try person.rows(prompt, query: $0).first) }
                return rows.map { "\"\($0.identifier)\"" }.joined(separator: ",")
            }
            let (turnedOn, turnedOff) = (try list(on), try list(off))
            let said = try person.answer(
                prompt, #""level":"limited","identifiers":[\#(turnedOn)],"removed":[\#(turnedOff)]"#)
            #expect(said.error == nil)
        }
        try answer([], ["Bob"])
        #expect(try mail.fetch().names == ["Cid"])
        // The person turns Dora's row on and Cid's row off. Although the cards were linked before the answer, Cid stays
        // off.
        try Self.link(keeper, "Cid", "Dora")
        try answer(["Dora"], ["Cid"])
        #expect(try mail.fetch().names == ["Dora"])
    }

    private static func twin(_ name: String, in container: String? = nil) -> Change {
        let container = container.map { #","container":"\#($0)""# } ?? ""
        return .other(
            #"{"operation":"add","contact":{"givenName":"\#(name)","emailAddresses":[{"value":"\#(name)@example.org"}]}\#(container)}"#
        )
    }

    private static func addContainer(_ keeper: TestApp) throws -> String {
        let answer = try keeper.save([.other(#"{"operation":"addContainer","container":"Work"}"#)])
        return try #require(answer.strings("identifiers").first)
    }

    @Test(
        "Cards of two containers with the same name and address form one contact if apps that see everything created them"
    )
    func evidence() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Zed")
        let work = try Self.addContainer(keeper)
        let mail = try fixture.app("mail", .limited(to: fixture.records("Zed")))
        let names = try fixture.app("names", .full, keys: ContactKeySet.names)
        _ = try keeper.save([Self.twin("Ada"), Self.twin("Bob")])
        let before = try (keeper.fetch().token, names.fetch().token, mail.fetch().token)
        // Cards from other apps do not count as evidence, so such an app learns nothing from the cards that it adds.
        for app in [mail, names] { #expect(try app.save([Self.twin("Ada")]).error == nil) }
        #expect(try keeper.fetch(#""sortOrder":"givenName""#).names == ["Ada", "Ada", "Ada", "Bob", "Zed"])
        #expect(try mail.fetch(#""sortOrder":"givenName""#).names == ["Ada", "Zed"])
        let own = try mail.fetch().token
        _ = try keeper.save([Self.twin("Ada", in: work)])
        #expect(try keeper.fetch(#""sortOrder":"givenName""#).names == ["Ada", "Ada", "Ada", "Bob", "Zed"])
        #expect(try mail.fetch().token == own)
        // An app that may not see the address does not see the links that follow from it.
        #expect(try names.fetch(#""sortOrder":"givenName""#).names == ["Ada", "Ada", "Ada", "Ada", "Bob", "Zed"])
        let told = { (app: TestApp, token: String?) in
            try app.call("FetchHistory", #"{"token":"\#(token ?? "")","keys":["givenName"]}"#)
                .parameters["events"]?.elements.map { $0.compactMap { $0["kind"]?.string } } ?? []
        }
        // Ada's first card is part of a unified contact. The second card is reported as deleted too, because the app
        // may have listed it before the link.
        #expect(
            try told(keeper, before.0) == [
                "deleteContact", "deleteContact", "addContact", "addContact", "addContact",
            ])
        #expect(try told(names, before.1) == ["addContact", "addContact", "addContact"])
    }

    @Test("A card that evidence links to a granted one later is not disclosed")
    func laterEvidence() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Zed")
        _ = try keeper.save([Self.twin("Ada")])
        let mail = try fixture.app("mail")
        let person = try TestPerson(fixture: fixture)
        let call = try mail.begin("RequestAccess")
        let prompt = try #require(try person.prompts().first)
        let row = try #require(try person.rows(prompt, query: "Ada").first)
        _ = try person.answer(prompt, #""level":"limited","identifiers":["\#(row.identifier)"]"#)
        _ = try mail.replies(1, to: call)
        let token = try mail.fetch().token
        _ = try keeper.save([Self.twin("Ada", in: Self.addContainer(keeper))])
        #expect(try keeper.fetch(#""sortOrder":"givenName""#).names == ["Ada", "Zed"])
        let ada = try mail.identifier(of: "Ada")
        #expect(try Self.linked(mail, ada) == [ada])
        #expect(try mail.fetch().names == ["Ada"])
        #expect(try mail.fetch().token == token)
    }
}
