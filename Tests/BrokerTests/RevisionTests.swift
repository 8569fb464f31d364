import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerModel
import Testing

@Suite("Revisions of contacts, and saves that name them")
struct RevisionTests {
    private let fixture: BrokerFixture
    private let keeper: TestApp

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.keeper(adding: "Ada", "Grace")
        try fixture.grant(.full, keys: .all, to: keeper)
    }

    private func revision(
        of given: String, for app: TestApp, keys: String = #""givenName""#, unify: Bool = true
    ) throws -> String {
        let fields = #"{"keys":[\#(keys)],"revisions":true,"unify":\#(unify)}"#
        let contacts = try app.call("FetchContacts", fields).contacts
        let found = contacts.first { $0["givenName"]?.string == given } ?? (contacts.count == 1 ? contacts[0] : nil)
        return try #require(found?["revision"]?.string)
    }

    private static func update(_ identifier: String, _ members: String, _ revision: String) -> Change {
        .other(
            #"{"operation":"update","unchangedSince":"\#(revision)","contact":{"identifier":"\#(identifier)",\#(members)}}"#
        )
    }

    private func change(_ given: String, _ members: String) throws {
        #expect(try keeper.save([.update(keeper.identifier(of: given), members)]).error == nil)
    }

    @Test("A change names the revision that it is based on, and fails if the app sees another one now")
    func compareAndSet() throws {
        let app = try fixture.app("mail", .full)
        let ada = try app.identifier(of: "Ada")
        let first = try revision(of: "Ada", for: app)
        #expect(try app.save([Self.update(ada, #""jobTitle":"Countess""#, first)]).error == nil)
        let stale = try app.save([.add(given: "New"), Self.update(ada, #""jobTitle":"Queen""#, first)])
        #expect(stale.error == "RecordChanged" && stale.text == #"{"index":1}"#)
        #expect(try keeper.fetch().names == ["Ada", "Grace"])
        let second = try revision(of: "Ada", for: app)
        #expect(second != first && second.count == 32)
        let delete = #"{"operation":"delete","unchangedSince":"\#(first)","contact":{"identifier":"\#(ada)"}}"#
        #expect(try app.save([.other(delete)]).error == "RecordChanged")
        let right = delete.replacing(first, with: second)
        #expect(try app.save([.other(right)]).error == nil)
        #expect(try app.save([.other(right)]).error == "RecordDoesNotExist")
    }

    @Test(
        "A revision is the same for the same state, whatever keys are fetched, and different for each app and contact")
    func same() throws {
        let (app, other) = (try fixture.app("mail", .full), try fixture.app("chat", .full))
        let first = try revision(of: "Ada", for: app)
        #expect(try revision(of: "Ada", for: app, keys: #""givenName","phoneNumbers""#) == first)
        #expect(try revision(of: "Ada", for: app, unify: false) == first)
        #expect(try revision(of: "Ada", for: other) != first)
        #expect(try keeper.save([.add(given: "Ada")]).error == nil)
        let contacts = try app.call("FetchContacts", #"{"keys":["givenName"],"revisions":true}"#).contacts
        #expect(Set(contacts.compactMap { $0["revision"]?.string }).count == 3)
        // Back to the former state, back to the former revision: no counter and no time.
        try change("Grace", #""jobTitle":"Admiral""#)
        let admiral = try revision(of: "Grace", for: app)
        try change("Grace", #""jobTitle":"""#)
        try change("Grace", #""jobTitle":"Admiral""#)
        #expect(try revision(of: "Grace", for: app) == admiral)
        #expect(try app.fetch().text.contains("revision") == false)
    }

    @Test("What an app cannot see changes no revision, and is no reason to refuse a change")
    func hidden() throws {
        let names = ContactKeySet([.givenName, .jobTitle])
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")), keys: names, changes: .edit)
        let ada = try app.identifier(of: "Ada")
        let before = try revision(of: "Ada", for: app)
        try change("Ada", #""phoneNumbers":[{"value":"1"}],"note":"n","nickname":"A","imageData":"AAAA""#)
        try change("Grace", #""jobTitle":"x""#)
        #expect(try revision(of: "Ada", for: app) == before)
        // A hidden card that is linked.
        let link =
            #"{"operation":"link","contact":{"identifier":"\#(try keeper.identifier(of: "Ada"))"},"member":"\#(try keeper.identifier(of: "Grace"))"}"#
        #expect(try keeper.save([.other(link)]).error == nil)
        #expect(try revision(of: "Ada", for: app) == before)
        #expect(try app.save([Self.update(ada, #""jobTitle":"Countess""#, before)]).error == nil)
        #expect(try revision(of: "Ada", for: app) != before)
    }

    @Test("Photo, note, UIDs and links count for who may see them")
    func visible() throws {
        let app = try fixture.app("mail", .full, keys: .all)
        let whole = try fixture.app("chat", .full)
        let names = try fixture.app("names", .full, keys: ContactKeySet(.givenName))
        var last: [String: String] = [:]
        func changed(_ app: TestApp) throws -> Bool {
            let now = try revision(of: "Ada", for: app)
            return last.updateValue(now, forKey: app.caller.app) != now
        }
        for app in [app, whole, names] { _ = try changed(app) }
        for (members, seen) in [
            (#""note":"n""#, [true, false, false]), (#""imageData":"AAAA""#, [true, true, false]),
            (#""imageData":"BBBB""#, [true, true, false]), (#""extraProperties":["UID:1"]"#, [true, true, false]),
            (#""extraProperties":["UID:1","X-A:b"]"#, [true, false, false]), (#""jobTitle":"x""#, [true, true, false]),
        ] {
            try change("Ada", members)
            #expect(try [app, whole, names].map(changed) == seen, "\(members)")
        }
        let link =
            #"{"operation":"link","contact":{"identifier":"\#(try keeper.identifier(of: "Ada"))"},"member":"\#(try keeper.identifier(of: "Grace"))"}"#
        #expect(try keeper.save([.other(link)]).error == nil)
        #expect(try [app, whole, names].map(changed) == [true, true, true])
        try change("Grace", #""jobTitle":"Admiral""#)
        #expect(try [app, whole, names].map(changed) == [true, true, false])
    }

    @Test("A unified contact has the revision of all visible cards, and each card its own")
    func unified() throws {
        let app = try fixture.app("mail", .full)
        let (ada, grace) = (try app.identifier(of: "Ada"), try app.identifier(of: "Grace"))
        let card = try revision(of: "Ada", for: app)
        let link = #"{"operation":"link","contact":{"identifier":"\#(ada)"},"member":"\#(grace)"}"#
        #expect(try app.save([.other(link)]).error == nil)
        let unified = try #require(app.fetch().contacts.first?["identifier"]?.string)
        let both = try revision(of: "Ada", for: app)
        #expect(try revision(of: "Ada", for: app, unify: false) == card && both != card)
        #expect(try app.save([Self.update(unified, #""jobTitle":"x""#, card)]).error == "RecordChanged")
        #expect(try app.save([Self.update(ada, #""jobTitle":"x""#, both)]).error == "RecordChanged")
        try change("Grace", #""nickname":"G""#)
        #expect(try app.save([Self.update(unified, #""jobTitle":"x""#, both)]).error == "RecordChanged")
        #expect(try app.save([Self.update(ada, #""jobTitle":"x""#, card)]).error == nil)
        let now = try revision(of: "Ada", for: app)
        #expect(try app.save([Self.update(unified, #""nickname":"x""#, now)]).error == nil)
    }

    @Test("An invisible record does not exist, whatever revision is named")
    func invisible() throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")), changes: .all)
        let grace = try keeper.call("FetchContacts", #"{"keys":["givenName"],"revisions":true}"#).contacts
            .first { $0["givenName"]?.string == "Grace" }?["revision"]?.string
        let mine = try revision(of: "Ada", for: app)
        var answers: Set<String> = []
        for hidden in try namesOfNothing(for: app, hidden: "Grace", of: keeper).prefix(6) {
            for revision in [try #require(grace), mine, String(repeating: "0", count: 32), "nothing"] {
                let answer = try app.save([Self.update(hidden, #""jobTitle":"x""#, revision)])
                answers.insert((answer.error ?? "none") + answer.text)
            }
        }
        #expect(answers == [#"RecordDoesNotExist{"index":0}"#])
        let ada = try app.identifier(of: "Ada")
        for revision in [try #require(grace), String(repeating: "0", count: 32), "nothing", ""] {
            #expect(try app.save([Self.update(ada, #""jobTitle":"x""#, revision)]).error == "RecordChanged")
        }
        let add = #"{"operation":"add","unchangedSince":"\#(mine)","contact":{"givenName":"x"}}"#
        #expect(try app.save([.other(add)]).error == "InvalidParameter")
        #expect(try app.fetch().names == ["Ada"])
    }

    @Test("Of two apps that change one contact at the same time, one is told that it changed")
    func race() throws {
        let (one, other) = (try fixture.app("mail", .full), try fixture.app("chat", .full))
        let calls = try [one, other].map { app in
            let step = Self.update(
                try app.identifier(of: "Ada"), #""jobTitle":"\#(app.caller.app)""#, try revision(of: "Ada", for: app))
            return try app.begin("SaveContacts", #"{"changes":[\#(step.text)]}"#)
        }
        let errors = try [one.replies(1, to: calls[0])[0].error, other.replies(1, to: calls[1])[0].error]
        #expect(errors.contains(nil) && errors.contains("RecordChanged"))
    }
}
