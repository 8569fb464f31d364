import BrokerAccessControl
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerAppCalls

@Suite("The change history that an app sees")
struct HistoryTests {
    @Test("Without a token a history starts over with every visible contact, and with the newest token it is empty")
    func startingOver() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Grace")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let all = try mail.history(nil)
        #expect(all.events == ["dropEverything", "addContact Ada"])
        #expect(try mail.history(all.token).events == [])
        #expect(try mail.history("made up").events == all.events)
        #expect(try mail.history(String(repeating: "0", count: 70_000)).events == all.events)
        // Another app's token is unknown.
        let chat = try fixture.app("chat", .full)
        #expect(try mail.history(chat.history(nil).token).events == all.events)
    }

    @Test("Each record has one event for its current state, so one added and deleted in between is reported as deleted")
    func coalescing() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Grace")
        let chat = try fixture.app("chat", .full)
        let token = try chat.history(nil).token
        let ada = try keeper.identifier(of: "Ada")
        _ = try keeper.save([.add(given: "Bob"), .add(given: "Cid"), .update(ada, #""nickname":"A""#)])
        _ = try keeper.save([
            .update(ada, #""nickname":"B""#), .delete(keeper.identifier(of: "Grace")),
            .delete(keeper.identifier(of: "Cid")), .update(keeper.identifier(of: "Bob"), #""nickname":"C""#),
        ])
        #expect(
            try chat.history(token).events == ["deleteContact", "deleteContact", "updateContact Ada", "addContact Bob"])
        // A save that changes nothing is not an event.
        let next = try chat.history(token).token
        _ = try keeper.save([.update(ada, #""nickname":"B""#)])
        #expect(try chat.history(nil).token == next)
    }

    @Test("A limited app's history separates changes of access from changes of data and mentions no other contact")
    func limited() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid", "Dan", "Eve")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Bob", "Cid")))
        let start = try mail.history(nil)
        let (ada, bob) = (try keeper.identifier(of: "Ada"), try keeper.identifier(of: "Bob"))
        let bobs = try mail.identifier(of: "Bob")

        // Changes to contacts that the app cannot see do not move its token.
        _ = try keeper.save([
            .update(keeper.identifier(of: "Eve"), #""nickname":"E""#), .add(given: "Fay"),
            .delete(keeper.identifier(of: "Dan")),
        ])
        #expect(try mail.history(start.token).text == #"{"events":[],"historyToken":"\#(start.token)"}"#)
        #expect(try mail.fetch().token == start.token)

        // Cid is revoked and then deleted, but the app gets only the revocation. Eve's earlier change is not an event,
        // because the grant reports the current contact.
        try fixture.grant(.limited(to: fixture.records("Ada", "Bob", "Eve")), to: mail)
        _ = try keeper.save([
            .delete(keeper.identifier(of: "Cid")), .update(ada, #""nickname":"A""#), .delete(bob),
        ])
        let next = try mail.history(start.token)
        #expect(next.events == ["deleteContact", "revoked", "updateContact Ada", "granted Eve"])
        #expect(next.identifiers[0] == bobs)
        #expect(try mail.history(next.token).events == [])

        // A contact that was granted and then revoked is reported as revoked, because the app may have listed it in
        // between. A contact that was revoked and then granted again is reported as granted.
        let before = try fixture.records("Fay")
        try fixture.grant(.limited(to: fixture.records("Ada", "Eve").union(before)), to: mail)
        try fixture.grant(.limited(to: fixture.records("Ada")), to: mail)
        try fixture.grant(.limited(to: fixture.records("Ada", "Eve")), to: mail)
        #expect(try mail.history(next.token).events == ["revoked", "granted Eve"])
    }

    @Test("A contact that an app adds appears in its history as added")
    func ownContacts() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada")
        let mail = try fixture.app("mail", .limited(to: []))
        let start = try mail.history(nil)
        #expect(start.events == ["dropEverything"])
        let saved = try mail.save([.add(given: "Mine")], author: "mail")
        #expect(saved.token?.count == start.token.count && saved.token != start.token)
        #expect(try mail.history(start.token).events == ["addContact Mine"])
        #expect(try mail.history(saved.token).events == [])
        // An app may leave out its own changes, but not those of others.
        #expect(try mail.history(start.token, #""excludedAuthors":["mail"]"#).events == [])
        _ = try keeper.save([.update(keeper.identifier(of: "Mine"), #""nickname":"M""#)], author: "mail")
        #expect(try mail.history(start.token, #""excludedAuthors":["mail"]"#).events == ["updateContact Mine"])
        // Another app's author name has no meaning in this app's history.
        let chat = try fixture.app("chat", .full)
        #expect(try chat.history(nil, #""excludedAuthors":["mail"]"#).events.count == 3)
        _ = try mail.save([.delete(mail.identifier(of: "Mine"))], author: "mail")
        #expect(try mail.history(saved.token, #""excludedAuthors":["mail"]"#).events == [])
        #expect(try mail.history(saved.token, #""excludedAuthors":["other"]"#).events == ["deleteContact"])
    }

    @Test("An edit of keys that an app may not read is not an event and does not move its token")
    func keyScope() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada")
        let keys = ContactKeySet([.givenName, .phoneNumbers])
        for (name, access) in [("all", Access.full), ("some", .limited(to: try fixture.records("Ada")))] {
            let app = try fixture.app(name, access, keys: keys)
            let start = try app.history(nil)
            _ = try keeper.save([.update(keeper.identifier(of: "Ada"), #""nickname":"\#(name)","note":"n""#)])
            #expect(try app.history(start.token).events == [])
            #expect(try app.fetch().token == start.token)
            _ = try keeper.save([
                .update(keeper.identifier(of: "Ada"), #""phoneNumbers":[{"value":"\#(name.count)"}]"#)
            ])
            #expect(try app.history(start.token).events == ["updateContact Ada"])
        }
    }

    @Test("The history starts over for an app whose level or keys changed")
    func otherTerms() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Bob")
        let mail = try fixture.app("mail", .full)
        let token = try mail.history(nil).token
        try fixture.grant(.limited(to: fixture.records("Ada")), to: mail)
        #expect(try mail.history(token).events == ["dropEverything", "addContact Ada"])
        let limited = try mail.history(nil).token
        try fixture.grant(.limited(to: fixture.records("Ada")), keys: ContactKeySet([.givenName]), to: mail)
        #expect(try mail.history(limited).events == ["dropEverything", "addContact Ada"])
        try fixture.grant(.denied, to: mail)
        #expect(try mail.call("FetchHistory").error == "AccessDenied")
    }

    @Test("Tokens have one length, stay the same while nothing changes, and survive a restart")
    func tokens() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Bob")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let chat = try fixture.app("chat", .full)
        _ = try mail.save([.add(given: "Mine")])
        _ = try keeper.save([.update(keeper.identifier(of: "Bob"), #""nickname":"B""#)])
        let (mails, chats) = (try mail.history(nil).token, try chat.history(nil).token)
        #expect(mails.count == chats.count)
        #expect(try mail.history(mails).token == mails)
        try fixture.restart()
        let (mailAgain, chatAgain) = (try fixture.app("mail"), try fixture.app("chat"))
        #expect(try mailAgain.fetch().token == mails)
        #expect(try chatAgain.fetch().token == chats)
        #expect(try mailAgain.history(mails).events == [])
        _ = try fixture.app("keeper").save([.update(fixture.app("keeper").identifier(of: "Ada"), #""nickname":"A""#)])
        #expect(try mailAgain.history(mails).events == ["updateContact Ada"])
        #expect(try chatAgain.history(chats).events == ["updateContact Ada"])
    }

    @Test("A token expires by time alone")
    func expiry() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let token = try mail.history(nil).token
        fixture.loop.advance(by: .seconds(19 * 86_400))
        #expect(try mail.history(token).events == [])
        fixture.loop.advance(by: .seconds(12 * 86_400))
        let again = try mail.history(token)
        #expect(again.events == ["dropEverything", "addContact Ada"])
        #expect(try mail.history(again.token).events == [])
    }

    @Test("A save that only the contacts database refuses does not move the app's token, even if it adds a contact")
    func refused() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let made = try mail.save([.other(#"{"operation":"add","group":{"name":"Mine"}}"#)])
        let token = try mail.history(nil).token
        let group = #"{"identifier":"\#(try #require(made.strings("identifiers").first))","name":"Mine"}"#
        let member = try #require(made.strings("identifiers").first)
        let refused = try mail.save([
            .add(given: "New"), .other(#"{"operation":"addSubgroup","group":\#(group),"member":"\#(member)"}"#),
        ])
        #expect(refused.error == "ContainmentCycle")
        #expect(try mail.fetch().token == token)
        #expect(try mail.history(token).events == [])
    }

    @Test("A revoked contact that the app itself added is reported as revoked, whether or not it was reported as added")
    func ownTakenBack() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let start = try mail.history(nil).token
        let told = try #require(try mail.save([.add(given: "Mine")]).token)
        try fixture.grant(.limited(to: fixture.records("Ada")), to: mail)
        #expect(try mail.history(start).events == ["revoked"])
        #expect(try mail.history(told).events == ["revoked"])
        try fixture.grant(.limited(to: fixture.records("Ada", "Mine")), to: mail)
        #expect(try mail.history(start).events == ["granted Mine"])
        #expect(try mail.history(told).events == ["granted Mine"])
    }

    @Test(
        "A token issued after thirty days without changes survives a restart and yields later changes",
        arguments: [false, true])
    func quiet(limited: Bool) throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Bob")
        let keys = ContactKeySet([.givenName])
        let mail = try fixture.app("mail", limited ? .limited(to: fixture.records("Ada")) : .full, keys: keys)
        #expect(try mail.fetch().names.contains("Ada"))
        let bob = try fixture.records("Bob")
        fixture.loop.advance(by: .seconds(40 * 86_400))
        // The next save prunes old changes. The app does not see this save.
        let keeper = try fixture.app("keeper")
        _ = try keeper.save([.update(keeper.identifier(of: "Bob"), #""nickname":"B""#)])
        let token = try mail.fetch().token
        #expect(try mail.history(token).token == token)
        try fixture.restart()
        let again = try fixture.app("mail")
        #expect(try again.fetch().token == token)
        #expect(try again.history(token).token == token)
        let nobody = try fixture.app("keeper")
        _ = try nobody.save([.update(nobody.identifier(of: "Ada"), #""givenName":"Adah""#)])
        #expect(try again.history(token).events == ["updateContact Adah"])
        guard limited else { return }
        try fixture.grant(.limited(to: fixture.records("Adah").union(bob)), keys: keys, to: again)
        #expect(try again.history(token).events == ["updateContact Adah", "granted Bob"])
    }

    @Test("A token survives a restart when the granted set changed over thirty days ago and again just now")
    func quietSet() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Bob")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        try fixture.grant(.limited(to: fixture.records("Ada", "Bob")), to: mail)
        #expect(try mail.fetch().names == ["Ada", "Bob"])
        fixture.loop.advance(by: .seconds(31 * 86_400))
        let told = try #require(try mail.save([.add(given: "Mine")]).token)
        try fixture.restart()
        let again = try fixture.app("mail")
        #expect(try again.history(told).events == [])
        #expect(try again.fetch().token == told)
    }

    @Test("A token issued before the contacts database exists is valid")
    func beforeTheBook() throws {
        let fixture = try BrokerFixture()
        let mail = try fixture.app("mail", .full)
        let start = try mail.history(nil)
        #expect(start.events == ["dropEverything"])
        #expect(try mail.history(start.token).events == [])
        try fixture.keeper(adding: "Ada")
        #expect(try mail.history(start.token).events == ["addContact Ada"])
    }

    @Test("A granted contact comes with its memberships in the app's groups, however old")
    func grantedMember() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Bob")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Bob")))
        let group = #""group":{"name":"Mine","identifier":"g"}"#
        _ = try mail.save(
            [.other(#"{"operation":"add",\#(group)}"#)]
                + ["Ada", "Bob"].map {
                    .other(#"{"operation":"addMember",\#(group),"member":"\#(try mail.identifier(of: $0))"}"#)
                })
        try fixture.grant(.limited(to: fixture.records("Ada")), to: mail)
        let token = try mail.history(nil).token
        try fixture.grant(.limited(to: fixture.records("Ada", "Bob")), to: mail)
        let told = try mail.history(token, #""includeGroups":true"#)
        #expect(told.events == ["granted Bob", "addMember"])
        #expect(told.text.contains(#""member":"\#(try mail.identifier(of: "Bob"))""#))
    }

    @Test("A long history comes in parts, only to callers that accept parts, and an interrupted one starts over")
    func batches() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.app("keeper", .full)
        let chat = try fixture.app("chat", .full)
        let start = try chat.history(nil)
        for part in 0..<2 { _ = try keeper.save((0..<600).map { .add(given: "N\(part)-\($0)") }) }
        #expect(try chat.call("FetchHistory", #"{"token":"\#(start.token)"}"#).error == "ExpectedMore")
        #expect(try chat.call("FetchHistory").error == "ExpectedMore")
        let replies = try chat.stream("FetchHistory", #"{"token":"\#(start.token)"}"#)
        #expect(replies.count > 1)
        #expect(replies.flatMap { $0.parameters["events"]?.elements.map(Array.init) ?? [] }.count == 1_200)
        #expect(replies.dropLast().allSatisfy { $0.token == start.token && $0.continues })
        let everything = try chat.stream("FetchHistory")
        #expect(everything.last?.token == replies.last?.token)
        let broken = try #require(everything.first?.token)
        #expect(try chat.stream("FetchHistory", #"{"token":"\#(broken)"}"#).count == everything.count)
        // The broker does not return a token that the app made up.
        #expect(try chat.stream("FetchHistory", #"{"token":"made up"}"#).first?.token == broken)
    }

    @Test("A history of a key that was not granted is refused")
    func named() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        let mail = try fixture.app("mail", .full)
        #expect(try mail.call("FetchHistory", #"{"keys":["note"]}"#).error == "UnauthorizedKeys")
        #expect(try fixture.app("denied", .denied).call("FetchHistory").error == "AccessDenied")
    }
}

/// A history in the form that the tests compare.
struct ToldHistory {
    /// Kinds of events, each with the given name of its contact or the name of its group, if it has one.
    var events: [String] = []
    var identifiers: [String] = []
    var token = ""
    var text = ""
}

extension TestApp {
    func history(_ token: String?, _ further: String = "") throws -> ToldHistory {
        let token = token.map { #","token":"\#($0)""# } ?? ""
        let answer = try call(
            "FetchHistory", #"{"keys":["givenName"]\#(token)\#(further.isEmpty ? "" : ",")\#(further)}"#)
        guard answer.error == nil, let events = answer.parameters["events"]?.elements else {
            throw Unanswered(description: "\(answer.error ?? "") \(answer.text)")
        }
        var told = ToldHistory(token: answer.token ?? "", text: answer.text)
        for event in events {
            let name = event["contact"]?["givenName"]?.string ?? event["group"]?["name"]?.string
            told.events.append((event["kind"]?.string ?? "") + (name.map { " " + $0 } ?? ""))
            told.identifiers.append(event["identifier"]?.string ?? "")
        }
        return told
    }
}

struct Unanswered: Error, CustomStringConvertible {
    let description: String
}
