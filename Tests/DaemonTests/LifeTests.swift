import BrokerBounds
import BrokerJSON
import BrokerVarlinkClient
import BrokerVarlinkServer
import CBrokerSQLite
import CTestCaller
import Glibc
import PseudoTerminal
import Testing
import ThreadSanitizer

@Suite("Deletion, shutdown and scarce resources")
struct LifeTests {
    @Test(
        "Deleted or replaced text is in no file five seconds after it left the bin, or at once without a bin",
        arguments: ["delete", "update"], [true, false])
    func forgotten(operation: String, hasBin: Bool) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(
            adding: DaemonFixture.people + [
                #""givenName":"Zqforget","familyName":"Zqme","note":"Zqsecret note","nickname":"Zqnick""#
            ],
            with: person)
        if !hasBin { try Self.endBin(of: fixture) }
        let app = hasBin ? keeper : try fixture.app("keeper")
        let found = try app.fetch(#""predicate":{"name":"zqforget"}"#)
        let identifier = try #require(found.identifiers.first)
        #expect(Self.files(holding: "zq", in: fixture).contains { $0.contains("contacts.sqlite") })
        let change =
            operation == "delete"
            ? #"{"operation":"delete","contact":{"identifier":"\#(identifier)"}}"#
            : #"{"operation":"update","contact":{"identifier":"\#(identifier)","givenName":"Eve","familyName":"E","nickname":""}}"#
        #expect(try app.save([change]).word == "ok")
        if hasBin {
            try Self.endBin(of: fixture)
            #expect(Self.files(holding: "zqforget", in: fixture).contains { $0.contains("contacts.sqlite") })
            // The book is opened.
            _ = try fixture.app("keeper").fetch()
        }
        let words =
            operation == "delete" ? ["zqforget", "zqme", "zqsecret", "zqnick"] : ["zqforget", "zqme", "zqnick"]
        #expect(Self.filesAfterFiveSeconds(holding: words, in: fixture) == [])
        // The other contacts are still there.
        #expect(Self.files(holding: "lovelace", in: fixture).isEmpty == false)
        #expect(try fixture.app("keeper").fetch().names.count == (operation == "delete" ? 4 : 5))
    }

    @Test(
        "What the person removes from the bin is in no file five seconds later",
        arguments: [["--empty"], ["--remove", "zqme ZQFORGET", "--save"]])
    func removed(options: [String]) throws {
        let fixture = try DaemonFixture()
        let keeper = try fixture.keeper(
            adding: [#""givenName":"Zqforget","familyName":"Zqme","note":"Zqsecret""#, #""givenName":"Ada""#],
            with: fixture.person())
        let identifiers = try keeper.fetch(#""predicate":{"name":"zqforget"}"#).identifiers
        let delete = #"{"operation":"delete","contact":{"identifier":"\#(try #require(identifiers.first))"}}"#
        #expect(try keeper.save([delete]).word == "ok")
        let saves = try fixture.administrator().call("io.contactbroker.Admin.ListChanges")["saves"]?.elements
        let save = "\(try #require(saves?.first { _ in true }?["number"]?.integer))"
        #expect(Self.files(holding: "zqsecret", in: fixture).contains { $0.contains("contacts.sqlite") })
        let words = ["bin", "--yes"] + options + (options.last == "--save" ? [save] : [])
        let made = try Command(DaemonFixture.programs + "/contactctl", words, in: fixture)
        #expect(made.end == .exited(0), "\(made.errors)")
        #expect(Self.filesAfterFiveSeconds(holding: ["zqforget", "zqme", "zqsecret"], in: fixture) == [])
    }

    /// The files that still have one of the words after the time in which they must have none.
    private static func filesAfterFiveSeconds(holding words: [String], in fixture: DaemonFixture) -> [String] {
        let deadline = ContinuousClock.now + .seconds(5) * (ThreadSanitizer.isPresent ? 10 : 1)
        var left: [String] = []
        // The deadline applies to the start of a search, because a search itself takes time.
        var began: ContinuousClock.Instant
        repeat {
            began = .now
            left = words.flatMap { files(holding: $0, in: fixture) }
            if !left.isEmpty { poll(nil, 0, 50) }
        } while !left.isEmpty && began < deadline
        return left
    }

    /// Sets the days of the bin to none, while the broker does not run.
    private static func endBin(of fixture: DaemonFixture) throws {
        try fixture.stop()
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        let path = fixture.state + "/users/\(getuid())/contacts.sqlite"
        try #require(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        try #require(sqlite3_exec(database, "UPDATE book SET binDays = 0", nil, nil, nil) == SQLITE_OK)
        try fixture.start()
    }

    private static func files(holding word: String, in fixture: DaemonFixture) -> [String] {
        let wanted = Array(word.utf8)
        return DaemonFixture.contents(of: fixture.state).filter { _, bytes in
            let small = bytes.map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 }
            return small.firstRange(of: wanted) != nil
        }.keys.sorted()
    }

    @Test("A broker whose standard error is blocked still serves, and later reports how many lines were lost")
    func nobodyListens() throws {
        let fixture = try DaemonFixture(starting: false)
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let (output, input) = (ends[0], ends[1])
        defer { close(output) }
        // Fill the pipe, then make it blocking again: a write to it would wait.
        try #require(fcntl(input, F_SETFL, O_NONBLOCK) == 0)
        let line = [UInt8](repeating: UInt8(ascii: "."), count: 4_096)
        while write(input, line, line.count) > 0 {}
        try #require(fcntl(input, F_SETFL, 0) == 0)
        let broker = try fixture.launch(errors: input)
        close(input)
        try fixture.waitUntilServed(by: broker)
        let app = try VarlinkClient(path: fixture.appsSocket, timeout: .seconds(20))
        defer { app.close() }
        #expect(try app.call("io.contactbroker.Contacts.GetAuthorization")["status"]?.string == "notDetermined")
        // Reading resumes, and the next message arrives.
        var said: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        try #require(fcntl(output, F_SETFL, O_NONBLOCK) == 0)
        while read(output, &piece, piece.count) > 0 {}
        try #require(fcntl(output, F_SETFL, 0) == 0)
        broker.signal(SIGTERM)
        while true {
            let count = read(output, &piece, piece.count)
            guard count > 0 else { break }
            said += piece.prefix(count)
        }
        #expect(try broker.waitForEnd() == .exited(0))
        #expect(String(decoding: said, as: UTF8.self).contains("lines were lost while standard error accepted none"))
    }

    @Test("SIGTERM ends the broker soon and cleanly, whatever is in progress")
    func stops() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let filler = String(repeating: "x", count: 2_000)
        let keeper = try fixture.keeper(
            adding: (0..<2_000).map { #""givenName":"N\#($0)","organizationName":"\#(filler)""# }, with: person)
        // In progress are a list that is not read, a prompt without an answer, half a call, and saves.
        try keeper.line.stopReading()
        try keeper.begin("FetchContacts", #"{"keys":["givenName","organizationName"]}"#, more: true)
        try fixture.app("mail").begin("RequestAccess")
        _ = try person.prompt()
        try fixture.companion("half").open(fixture.appsSocket).send(#"{"method":"#)
        let saving = try fixture.app("keeper")
        for number in 0..<20 { try saving.begin("SaveContacts", App.saving([App.adding(given: "S\(number)")])) }
        let first = try saving.reply()
        #expect(first.error == nil)
        let start = ContinuousClock.now
        #expect(try fixture.stop() == .exited(0))
        #expect(ContinuousClock.now - start < .seconds(10))
        var acknowledged = 1
        while let frame = try saving.line.frame() { acknowledged += try Answer(frame).error == nil ? 1 : 0 }
        try fixture.start()
        #expect(try fixture.audit("gap").isEmpty)
        #expect(try fixture.audit("stop").count == 1)
        let found = try fixture.app("keeper").fetch(#""predicate":{"name":"s"}"#).names.count
        #expect(found >= acknowledged && found <= 20)
    }

    @Test("With too few file descriptors, the broker reports it and exits; no signal kills it")
    func fewDescriptors() throws {
        let fixture = try DaemonFixture()
        var table: [String] = []
        for count in Array(3...40) + [63] {
            let folder = "\(fixture.folder)/few-\(count)"
            let words = """
                ulimit -n \(count); exec "$0" --session --runtime-dir \(folder)/run --state-dir \(folder)/state \
                --config-dir \(folder)/config
                """
            let ended = try Command("/bin/sh", ["-c", words, DaemonFixture.programs + "/contactbrokerd"], in: fixture)
            // With three descriptors the dynamic loader cannot open a library and reports that.
            let isSaid =
                count == 3
                ? ended.end == .exited(127) && ended.errors.contains("error while loading")
                : ended.end == .exited(2) && ended.errors.contains("to at least 64")
            if !isSaid { table.append("\(count): \(ended.end) \(ended.errors)") }
        }
        #expect(table.isEmpty)
    }

    @Test("When descriptors run out, connected apps are served, and new ones once descriptors are free")
    func descriptorsRunOut() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(adding: (0..<300).map { #""givenName":"P\#($0)""# }, with: person)
        let sorting = try fixture.app("sorting", .everything, by: person, keys: ["emailAddresses"])
        let daemon = try #require(fixture.daemon?.pid)
        let inUse = { (0..<256).filter { access("/proc/\(daemon)/fd/\($0)", F_OK) == 0 } }
        let last = try #require(inUse().last)
        // Allow the descriptors in use, those for files, and twelve more: far too few for forty apps.
        let kept = ServerLimits().descriptorsForFiles
        let limiting = ["--pid", "\(daemon)", "--nofile=\(last + 13 + kept)"]
        try #require(Command("/usr/bin/prlimit", limiting, in: fixture).end == .exited(0))
        var waiting: [VarlinkClient] = []
        for _ in 0..<40 { waiting.append(try VarlinkClient(path: fixture.appsSocket, timeout: .seconds(30))) }
        for number in 0..<10 {
            #expect(try keeper.save([App.adding(given: "N\(number)")]).error == nil)
            let found = try keeper.fetch(#""predicate":{"name":"n\#(number)"}"#)
            #expect(found.names.count == 1, "\(found.text)")
        }
        // While the broker identifies an app, it also has a few files open.
        #expect(inUse().count < last + 11 + kept)
        // The broker sorts these contacts itself, on a connection to the database that it opens now.
        let sorted = try sorting.call("FetchContacts", #"{"keys":["emailAddresses"],"sortOrder":"familyName"}"#)
        #expect(sorted.identifiers.count == 310, "\(sorted.text)")
        for client in waiting { client.close() }
        // Until the broker has noticed that the clients are gone, a new one waits.
        let client = try VarlinkClient(path: fixture.appsSocket, timeout: .seconds(30))
        #expect(try client.call("io.contactbroker.Contacts.GetAuthorization")["status"]?.string == "notDetermined")
        client.close()
        #expect(try fixture.stop() == .exited(0))
    }

    @Test("If a socket fails, the broker reports it and ends with an error, so that systemd starts it again")
    func socketFails() throws {
        let fixture = try DaemonFixture()
        let daemon = try #require(fixture.daemon)
        // Otherwise the broker closes its other sockets as soon as the first one is shut down.
        try daemon.pause()
        let results = (3..<64).map { test_shut_down_listener(daemon.pid, $0) }
        daemon.signal(SIGCONT)
        // Some machines do not permit pidfd_getfd(2).
        if results.contains(-EPERM) || results.contains(-ENOSYS) { return }
        #expect(results.count { $0 == 0 } == fixture.sockets.count)
        #expect(try daemon.waitForEnd() == .exited(2))
        #expect(fixture.journal.contains("io.contactbroker.Contacts failed: another program has shut it down"))
    }

    @Test("Access for a terminal session applies to that session only and ends with it")
    func session() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let environment = [
            "TERM": "xterm", "CONTACTBROKER_RUNTIME_DIR": fixture.runtime, "PATH": "/usr/bin:/bin",
            "BOOK": DaemonFixture.programs + "/contactbook",
        ]
        let shell = try PseudoTerminal("/bin/sh", arguments: ["-i"], environment: environment, columns: 200)
        shell.send("$BOOK list; echo first=$?\r")
        let prompt = try person.prompt()
        #expect(prompt["lifetimes"]?.elements?.compactMap(\.string) == ["session", "untilRevoked", "untilTime"])
        #expect(prompt["caller"]?["terminal"]?.string?.hasPrefix("pts/") == true)
        try person.answer(prompt, #""level":"full""#)
        try shell.wait(for: "first=0")
        // Run another process in the same session.
        shell.send("$BOOK search ada; echo second=$?\r")
        try shell.wait(for: "second=0")
        #expect(shell.screen.contains("ada@example.org"))
        #expect(try person.wasNotAsked())
        // Another session gets nothing.
        let other = try PseudoTerminal("/bin/sh", arguments: ["-i"], environment: environment, columns: 200)
        other.send("$BOOK list; echo other=$?\r")
        try person.answer(person.prompt())
        try other.wait(for: "other=1")
        let apps = { try Command(DaemonFixture.programs + "/contactctl", ["apps"], in: fixture).output }
        #expect(try apps().contains("contactbook"))
        shell.terminate()
        let deadline = ContinuousClock.now + .seconds(10)
        while try apps().contains("contactbook"), ContinuousClock.now < deadline {}
        #expect(try !apps().contains("contactbook"))
        #expect(try fixture.audit("revocation").last?["detail"]?.string == "ended")
    }
}
