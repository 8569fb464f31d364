import BrokerJSON
import BrokerVarlinkClient
import Glibc
import Testing

@Suite("Prompts")
struct PromptTests {
    @Test("A prompt shows the app, its identity strength, its purpose and the number of contacts")
    func words() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail")
        try app.begin("RequestAccess", #"{"purpose":"to fill in addresses","keys":["givenName","note"]}"#)
        let prompt = try person.prompt()
        #expect(prompt["kind"]?.string == "access")
        #expect(prompt["currentStatus"]?.string == "notDetermined")
        #expect(prompt["purpose"]?.string == "to fill in addresses")
        #expect(prompt["keys"]?.elements?.compactMap(\.string) == ["givenName", "note"])
        #expect(prompt["totalContacts"]?.integer == 4)
        #expect(prompt["quiet"]?.bool == false)
        #expect(prompt["caller"]?["displayName"]?.string == "mail")
        #expect(prompt["caller"]?["strength"]?.string == "unverified")
        #expect(prompt["caller"]?["executable"]?.string == app.path)
        #expect(prompt["caller"]?["pid"]?.integer == Int64(app.companion.process.pid))
        try person.answer(prompt)
    }

    @Test("A prompt is withdrawn when the app closes its connection, and the next prompt follows")
    func withdrawal() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let mail = try fixture.app("mail")
        let chat = try fixture.app("chat")
        try mail.begin("RequestAccess")
        let first = try person.prompt()
        try chat.begin("RequestAccess")
        try fixture.waitForPrompts(2)
        #expect(try person.wasNotAsked())
        try mail.line.close()
        try person.waitForWithdrawal(of: first)
        let second = try person.prompt()
        #expect(second["caller"]?["displayName"]?.string == "chat")
        #expect(try person.answer(first, #""level":"full""#).error == "UnknownPrompt")
        try person.answer(second, #""level":"full""#)
        #expect(try chat.reply().word == "full")
        #expect(try fixture.app("mail").call("GetAuthorization").word == "notDetermined")
    }

    @Test("A prompt is withdrawn when the app is killed")
    func killedApp() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.app("mail").begin("FetchContacts", App.fetching(""))
        let prompt = try person.prompt()
        fixture.end("mail")
        try person.waitForWithdrawal(of: prompt)
    }

    @Test("The second dismissal begins the app's back-off, but no other app's")
    func backOff() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let mail = try fixture.app("mail")
        for _ in 1...2 {
            try mail.begin("RequestAccess")
            try person.answer(.dismissed)
            #expect(try mail.reply().word == "notDetermined")
        }
        let refusal = try mail.call("RequestAccess")
        #expect(refusal.error == "TooManyPrompts")
        #expect((1...5).contains(refusal["retryAfterSeconds"]?.integer ?? 0))
        #expect(refusal["reason"]?.string == "refusals")
        // A new process is the same app.
        let process = try Companion(at: mail.path)
        #expect(try App(companion: process, at: fixture.appsSocket).call("RequestAccess").error == "TooManyPrompts")
        #expect(try person.wasNotAsked())
        let chat = try fixture.app("chat")
        try chat.begin("RequestAccess")
        #expect(try person.prompt()["caller"]?["displayName"]?.string == "chat")
    }

    @Test("After one dismissal an app may prompt again at once, and be granted access")
    func forgiven() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let mail = try fixture.app("mail")
        let chat = try fixture.app("chat")
        // The apps call one after the other, because prompts come in the order in which the apps are identified.
        try mail.begin("RequestAccess")
        try fixture.waitForPrompts(1)
        try chat.begin("RequestAccess")
        try fixture.waitForPrompts(2)
        try person.answer(.dismissed)
        _ = try mail.reply()
        try person.answer(.everything)
        #expect(try chat.reply().word == "full")
        try mail.begin("RequestAccess")
        try person.answer(.everything)
        #expect(try mail.reply().word == "full")
    }

    @Test(
        "A second prompt of the same app is refused at once",
        arguments: [
            ("RequestContacts", #"{"query":"b"}"#, "RequestContacts"),
            ("RequestAccess", "{}", "RequestContacts"), ("RequestContacts", #"{"query":"b"}"#, "RequestAccess"),
        ])
    func secondQuestion(second: String, parameters: String, first: String) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.app("mail")
        try app.begin(first, first == "RequestAccess" ? "{}" : #"{"query":"a"}"#)
        let prompt = try person.prompt()
        let other = try fixture.app("mail")
        #expect(try other.call(second, parameters).error == "TooManyPrompts")
        // A prompt of another process of the app is refused too, unless it is for access and joins one for access.
        let process = try Companion(at: app.path)
        if first == "RequestContacts" {
            #expect(try App(companion: process, at: fixture.appsSocket).call("RequestAccess").error == "TooManyPrompts")
        }
        try person.answer(prompt)
        _ = try app.reply()
    }

    @Test("A call for access joins the open prompt of the same caller, which is shown once")
    func joined() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let first = try fixture.app("mail")
        let second = try fixture.app("mail")
        let third = try fixture.app("mail")
        try first.begin("RequestAccess")
        let prompt = try person.prompt()
        try second.begin("FetchContacts", App.fetching(""))
        try third.begin("RequestAccess")
        #expect(try person.wasNotAsked())
        // If one connection closes, the others still wait.
        try third.line.close()
        #expect(try person.wasNotAsked())
        try person.answer(prompt, #""level":"full""#)
        #expect(try first.reply().word == "full")
        #expect(try second.reply().names.count == 4)
        #expect(try person.wasNotAsked())
    }

    @Test("Prompts of several apps are shown one at a time, in order")
    func queue() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let apps = try ["mail", "chat", "news"].map { try fixture.app($0) }
        for (place, app) in apps.enumerated() {
            try app.begin("RequestAccess")
            try fixture.waitForPrompts(place + 1)
        }
        for (place, app) in apps.enumerated() {
            let prompt = try person.prompt()
            #expect(prompt["caller"]?["executable"]?.string == app.path)
            #expect(try person.wasNotAsked())
            try person.answer(prompt, #""level":"\#(place == 1 ? "denied" : "full")""#)
            #expect(try app.reply().word == (place == 1 ? "denied" : "full"))
        }
    }

    @Test("Four prompts of unverified apps may be open; a fifth is refused at once")
    func fullQueue() throws {
        let fixture = try DaemonFixture()
        // This agent does not answer.
        let person = try fixture.person()
        defer { withExtendedLifetime(person) {} }
        var apps: [App] = []
        for number in 0..<4 {
            apps.append(try fixture.app("app\(number)"))
            try apps[number].begin("RequestAccess")
        }
        try fixture.waitForPrompts(4)
        let fifth = try fixture.app("app4").call("RequestAccess")
        #expect(fifth.error == "TooManyPrompts" && fifth["reason"]?.string == "crowd")
    }

    @Test("After eight prompts of copies of a program, the next ones are shown as lines")
    func copies() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        for number in 1...10 {
            let copy = try fixture.app("copy\(number)")
            try copy.begin("RequestAccess")
            let prompt = try person.prompt()
            #expect(prompt["quiet"]?.bool == (number > 8), "\(number)")
            #expect(prompt["currentStatus"]?.string == "notDetermined")
            try person.answer(prompt)
            #expect(try copy.reply().word == "notDetermined")
        }
    }

    @Test("If the person chose never to be asked again, the access button returns nothing without a prompt")
    func neverAgain() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail")
        try app.begin("RequestContacts", #"{"query":"ada"}"#)
        try person.answer(person.prompt(), #""neverAskAgain":true"#)
        #expect(try app.reply().strings("identifiers").isEmpty)
        #expect(try app.call("RequestContacts", #"{"query":"ada"}"#).text == #"{"parameters":{"identifiers":[]}}"#)
        #expect(try person.wasNotAsked())
    }

    @Test("A contact that is deleted during the prompt is not granted")
    func deletedMeanwhile() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let app = try fixture.app("mail")
        try app.begin("RequestAccess")
        let prompt = try person.prompt()
        let rows = try person.search(prompt)
        let grace = try keeper.fetch().identifiers[0]
        #expect(try keeper.save([#"{"operation":"delete","contact":{"identifier":"\#(grace)"}}"#]).word == "ok")
        try person.answer(prompt, #""level":"limited","identifiers":\#(quoted(rows.map(\.identifier)))"#)
        #expect(try app.reply().word == "limited")
        #expect(try app.fetch().names == Array(DaemonFixture.names.dropFirst()))
    }

    @Test("An app that executed another program after it connected causes no prompt")
    func becameAnother() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.app("mail")
        #expect(try app.call("GetAuthorization").word == "notDetermined")
        // Stop the broker while the app calls and executes another program.
        try fixture.daemon?.pause()
        try app.begin("RequestAccess")
        try app.companion.become("/bin/sleep")
        let deadline = ContinuousClock.now + .seconds(10)
        while !app.companion.process.executable.hasSuffix("/sleep"), ContinuousClock.now < deadline { poll(nil, 0, 2) }
        #expect(app.companion.process.executable.hasSuffix("/sleep"))
        fixture.daemon?.signal(SIGCONT)
        while try fixture.audit("refusal").first?["detail"]?.string != "executable changed",
            ContinuousClock.now < deadline
        { poll(nil, 0, 5) }
        #expect(try fixture.audit("refusal").first?["detail"]?.string == "executable changed")
        #expect(try fixture.audit("prompt").isEmpty)
        #expect(try person.wasNotAsked())
    }
}
