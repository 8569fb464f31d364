import BrokerJSON
import Testing

@Suite("Apps that watch for changes", .timeLimit(.minutes(10)))
struct WatchingTests {
    @Test("A watch reports visible changes only, the history describes them, and a revocation ends the watch")
    func watching() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let chat = try fixture.app("chat", .only(["Ada Lovelace"]), by: person)
        let token = try #require(chat.fetch()["historyToken"]?.string)

        let watcher = try App(companion: fixture.companion("chat"), at: fixture.appsSocket)
        try watcher.begin("WatchChanges", more: true)
        #expect(try watcher.reply()["historyToken"]?.string == token)
        let people = try keeper.fetch()
        let identifier = { (name: String) in
            people.identifiers[try #require(people.names.firstIndex(of: name))]
        }
        // The order matters: if the watch reported the first change, that change's token would come first.
        for name in ["Grace Hopper", "Ada Lovelace"] {
            let step =
                #"{"operation":"update","contact":{"identifier":"\#(try identifier(name))","nickname":"N"}}"#
            #expect(try keeper.save([step]).word == "ok")
        }
        let next = try #require(watcher.reply()["historyToken"]?.string)
        #expect(next != token)
        let history = try chat.call("FetchHistory", #"{"token":"\#(token)","keys":["familyName"]}"#)
        let events = history["events"]?.elements.map(Array.init) ?? []
        #expect(events.map { $0["kind"]?.string } == ["updateContact"])
        #expect(events.first?["contact"]?["familyName"]?.string == "Lovelace")
        #expect(history["historyToken"]?.string == next)

        try fixture.revoke(chat)
        #expect(try watcher.reply().word == "AccessDenied")
        #expect(try chat.call("FetchHistory").word == "AccessDenied")
    }

    @Test("A crash loses no event of an acknowledged save")
    func crash() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let token = try #require(keeper.fetch()["historyToken"]?.string)
        #expect(try keeper.save([App.adding(given: "Late")]).word == "ok")
        fixture.kill()
        try fixture.start()
        let again = try App(companion: fixture.companion("keeper"), at: fixture.appsSocket)
        let history = try again.call("FetchHistory", #"{"token":"\#(token)","keys":["givenName"]}"#)
        let events = history["events"]?.elements.map(Array.init) ?? []
        #expect(events.map { $0["kind"]?.string } == ["addContact"])
        #expect(events.first?["contact"]?["givenName"]?.string == "Late")
    }
}
