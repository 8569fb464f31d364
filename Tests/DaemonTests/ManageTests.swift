import BrokerJSON
import BrokerVarlinkClient
import Testing

@Suite("Managing an app's granted set")
struct ManageTests {
    let fixture: DaemonFixture

    init() throws {
        fixture = try DaemonFixture()
    }

    /// A person and `mail`, which sees Ada and Grace.
    private func people() throws -> (Person, App) {
        let person = try fixture.person()
        try fixture.keeper(with: person)
        return (person, try fixture.app("mail", .only(["Ada Lovelace", "Grace Hopper"]), by: person))
    }

    private func row(_ name: String, _ prompt: JSONValue, _ person: Person) throws -> String {
        try #require(person.search(prompt).first { $0.name == name }).identifier
    }

    @Test("An app gets the identifiers of added contacts and no longer sees removed ones")
    func addsAndRemoves() throws {
        let (person, mail) = try people()
        let before = try mail.fetch()
        try mail.begin("ManageAccess")
        let prompt = try person.prompt()
        #expect(prompt["kind"]?.string == "manage")
        #expect(prompt["grantedContacts"]?.integer == 2)
        let added = try row("Emmy Noether", prompt, person)
        let removed = try row("Grace Hopper", prompt, person)
        let answer = try person.answer(
            prompt, #""level":"limited","identifiers":["\#(added)"],"removed":["\#(removed)"]"#)
        #expect(answer.error == nil)
        let newly = try mail.reply().strings("identifiers")
        let after = try mail.fetch()
        #expect(after.names == ["Ada Lovelace", "Emmy Noether"])
        #expect(newly == [after.identifiers[1]])
        let gone = try #require(before.identifiers.first)
        #expect(try mail.fetch(#""predicate":{"identifiers":["\#(gone)"]}"#).identifiers == [])
    }

    @Test("A search in a manage prompt marks the contacts that the app sees already")
    func marksShared() throws {
        let (person, mail) = try people()
        try mail.begin("ManageAccess")
        let prompt = try person.prompt()
        let names = #""agent":"\#(person.token)","cookie":"\#(prompt["cookie"]?.string ?? "")""#
        let all = try person.call("Search", #"{\#(names),"query":""}"#)
        #expect(
            all["rows"]?.elements?.compactMap { $0["granted"]?.string } == ["all", "none", "all", "none"])
        let shared = try person.call("Search", #"{\#(names),"query":"","granted":true}"#)
        #expect(shared["total"]?.integer == 2)
        try person.answer(prompt)
        _ = try mail.reply()
    }

    @Test(
        "Unless the person adds a contact, the app gets the same reply",
        arguments: ["", #""level":"denied""#, #""level":"limited""#, "removed", #""neverAskAgain":true"#])
    func grantsNothing(fields: String) throws {
        let (person, mail) = try people()
        try mail.begin("ManageAccess")
        let prompt = try person.prompt()
        var fields = fields
        if fields == "removed" {
            fields = #""level":"limited","removed":["\#(try row("Grace Hopper", prompt, person))"]"#
        }
        #expect(try person.answer(prompt, fields).error == nil)
        #expect(try mail.reply().text == #"{"parameters":{"identifiers":[]}}"#)
        // The back-off is the same too.
        if !fields.contains("denied"), !fields.contains("never") {
            try mail.begin("ManageAccess")
            try person.answer(person.prompt())
            #expect(try mail.reply().text == #"{"parameters":{"identifiers":[]}}"#)
            let again = try mail.call("ManageAccess")
            #expect((1...5).contains(again["retryAfterSeconds"]?.integer ?? 0))
        }
    }

    @Test("ManageAccess causes no prompt for an app that has full access, is denied or was never decided on")
    func answersEmpty() throws {
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let refused = try fixture.app("refused", .refused, by: person)
        let stranger = try fixture.app("stranger")
        for app in [keeper, refused, stranger] {
            #expect(try app.call("ManageAccess").text == #"{"parameters":{"identifiers":[]}}"#)
        }
        #expect(try person.wasNotAsked())
    }

    @Test("A list that is being sent ends when one of its contacts leaves the granted set")
    func endsStreams() throws {
        let person = try fixture.person()
        let many = (0..<3_000).map { #""givenName":"Given \#($0)","note":"\#(String(repeating: "n", count: 900))""# }
        try fixture.keeper(adding: many, with: person)
        let mail = try fixture.app("mail")
        try mail.begin("RequestAccess", #"{"keys":["givenName","note"]}"#)
        let first = try person.prompt()
        let names = #""agent":"\#(person.token)","cookie":"\#(first["cookie"]?.string ?? "")""#
        var rows: [String] = []
        for offset in stride(from: 0, to: 3_000, by: 200) {
            let page = try person.call("Search", #"{\#(names),"query":"","offset":\#(offset),"limit":200}"#)
            rows += page["rows"]?.elements?.compactMap { $0["identifier"]?.string } ?? []
        }
        let taken = try person.answer(
            first,
            #""level":"limited","keys":["givenName","note"],"lifetime":"untilRevoked","identifiers":"# + quoted(rows))
        #expect(taken.error == nil)
        _ = try mail.reply()
        // The app's second connection does not read.
        let stream = try fixture.app("mail")
        try stream.line.stopReading()
        try stream.begin("FetchContacts", #"{"keys":["givenName","note"]}"#, more: true)
        // Wait until a part of the list was sent. A list that starts after the change would not contain the removed
        // contact.
        let deadline = ContinuousClock.now + .seconds(20)
        while try fixture.audit("disclosure").isEmpty { try #require(ContinuousClock.now < deadline) }
        try mail.begin("ManageAccess")
        let prompt = try person.prompt()
        let removed = try #require(person.search(prompt).first).identifier
        #expect(try person.answer(prompt, #""level":"limited","removed":["\#(removed)"]"#).error == nil)
        _ = try mail.reply()
        try stream.line.goOnReading()
        var seen = 0
        var end = "hung up"
        while let frame = try stream.line.frame() {
            let reply = try Answer(frame)
            seen += reply.names.count
            guard reply.continues else {
                end = reply.error ?? "whole"
                break
            }
        }
        #expect(end != "whole")
        #expect(seen < 3_000)
        #expect(try fixture.audit("withheld").count == 1)
    }

    // MARK: Opened by the person

    private func open(_ app: App, _ person: Person) throws -> Answer {
        let grants = try person.call("ListGrants", #"{"agent":"\#(person.token)"}"#)
        let grant = try #require(
            grants["grants"]?.elements?.first { $0["app"]?.string?.hasPrefix(app.path + " ") ?? false })
        let name = quoted(grant["app"]?.string ?? "")
        return try person.call("Manage", #"{"agent":"\#(person.token)","app":\#(name),"strength":"unverified"}"#)
    }

    @Test("The person can open an app's grant without delaying prompts of other apps")
    func opensOwn() throws {
        let (person, mail) = try people()
        fixture.end("mail")
        let prompt = try #require(open(mail, person)["prompt"])
        #expect(prompt["kind"]?.string == "manage")
        #expect(prompt["caller"]?["executable"]?.string == mail.path)
        // Another app's prompt is answered meanwhile.
        _ = try fixture.app("other", .refused, by: person)
        let added = try row("Emmy Noether", prompt, person)
        #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(added)"]"#).error == nil)
        let back = try fixture.app("mail")
        #expect(try back.fetch().names == ["Grace Hopper", "Ada Lovelace", "Emmy Noether"])
        #expect(try person.answer(prompt, #""level":"denied""#).error == "UnknownPrompt")
    }

    @Test("The person can turn a denial or full access into a limited grant")
    func changesLevel() throws {
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let refused = try fixture.app("refused", .refused, by: person)
        for app in [keeper, refused] {
            let prompt = try #require(open(app, person)["prompt"])
            let ada = try row("Ada Lovelace", prompt, person)
            #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(ada)"]"#).error == nil)
            #expect(try app.fetch().names == ["Ada Lovelace"])
            #expect(try app.call("GetAuthorization").word == "limited")
        }
    }

    @Test("An agent cannot answer for a grant that another agent opened, or with a replaced prompt")
    func otherAgents() throws {
        let (person, mail) = try people()
        let other = try fixture.person("other agent")
        let first = try #require(open(mail, person)["prompt"])
        #expect(try other.answer(first, #""level":"denied""#).error == "UnknownPrompt")
        let second = try #require(open(mail, person)["prompt"])
        #expect(try person.answer(first, #""level":"denied""#).error == "UnknownPrompt")
        #expect(try mail.call("GetAuthorization").word == "limited")
        #expect(try person.answer(second, #""level":"denied""#).error == nil)
        #expect(try mail.call("GetAuthorization").word == "denied")
        #expect(try mail.fetch().error == "AccessDenied")
    }

    @Test("An app without a decision has no grant to open")
    func nothingToOpen() throws {
        let person = try fixture.person()
        let parameters = #"{"agent":"\#(person.token)","app":"/usr/bin/x","strength":"unverified"}"#
        #expect(try person.call("Manage", parameters).error == "InvalidParameter")
    }

    @Test("A grant that was reset while the person had it open stays reset")
    func revokedMeanwhile() throws {
        let (person, mail) = try people()
        let prompt = try #require(open(mail, person)["prompt"])
        let added = try row("Emmy Noether", prompt, person)
        let administrator = try fixture.administrator()
        let grants = try administrator.call("io.contactbroker.Admin.ListGrants")["grants"]?.elements
        let name = try #require(
            grants?.compactMap { $0["app"]?.string }.first { $0.hasPrefix(mail.path + " ") })
        _ = try administrator.call("io.contactbroker.Admin.ResetGrant") { $0.member("app", name) }
        let answer = try person.answer(prompt, #""level":"limited","identifiers":["\#(added)"]"#)
        #expect(answer.error == "InvalidAnswer" && answer["problem"]?.string == "grantEnded")
        #expect(try mail.call("GetAuthorization").word == "notDetermined")
    }
}
