import BrokerJSON
import BrokerVarlinkClient
import Glibc
import Testing

@Suite("A broker that is killed at any moment")
struct CrashTests {
    /// The app's calls, and the broker's replies.
    private struct Record {
        /// Saves that were acknowledged: the returned identifiers by given name.
        var saved: [String: [String]] = [:]
        /// The given names of saves without a reply.
        var attempted: Set<String> = []
        /// Contacts that this run's replies contained, each fetched alone.
        var told: Set<String> = []
        var calls = 0
    }

    @Test("No acknowledged save is lost, no save is partial, and every disclosure is recorded")
    func kills() throws {
        let fixture = try DaemonFixture()
        var generator = SystemRandomNumberGenerator()
        var record = Record()
        do {
            let person = try fixture.person()
            _ = try fixture.app("mail", .everything, by: person)
        }
        let end = ContinuousClock.now + .seconds(240)
        var rounds = 0
        while record.calls < 1_000, ContinuousClock.now < end {
            let app = try fixture.app("mail")
            try Self.work(app, fixture, &record, &generator)
            try fixture.start()
            try Self.check(fixture, &record)
            rounds += 1
        }
        #expect(record.calls >= 1_000 || rounds > 2)
        #expect(record.saved.count > min(record.calls, 1_000) / 10)
        #expect(try fixture.stop() == .exited(0))
    }

    /// Saves and fetches, several at a time, until the broker is killed during the last ones.
    private static func work(
        _ app: App, _ fixture: DaemonFixture, _ record: inout Record, _ generator: inout SystemRandomNumberGenerator
    ) throws {
        var waiting: [(isSave: Bool, name: String)] = []
        let known = Array(record.saved.values.joined())
        let last = Int.random(in: 20...60, using: &generator)
        for iterate in 0..<last {
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                record.calls += 1
                if Bool.random(using: &generator) || known.isEmpty {
                    let name = "N\(record.calls)"
                    record.attempted.insert(name)
                    try app.begin(
                        "SaveContacts",
                        App.saving([App.adding(given: name, family: "A"), App.adding(given: name, family: "B")]))
                    waiting.append((true, name))
                } else {
                    let identifier = known.randomElement(using: &generator) ?? ""
                    try app.begin("FetchContacts", App.fetching(#""predicate":{"identifiers":["\#(identifier)"]}"#))
                    waiting.append((false, identifier))
                }
            }
            if iterate == last - 1 {
                // Kill the broker while it handles these calls.
                let moment = ContinuousClock.now + .microseconds(Int.random(in: 0...4_000, using: &generator))
                while ContinuousClock.now < moment {}
                fixture.kill()
            }
            while !waiting.isEmpty, let frame = try app.line.frame() {
                let call = waiting.removeFirst()
                let reply = try Answer(frame)
                #expect(reply.error == nil)
                guard call.isSave else {
                    #expect(reply.names.count == 1)
                    record.told.insert(call.name)
                    continue
                }
                record.attempted.remove(call.name)
                record.saved[call.name] = reply.strings("identifiers")
            }
        }
    }

    private static func check(_ fixture: DaemonFixture, _ record: inout Record) throws {
        let app = try fixture.app("mail")
        let reply = try app.fetch("")
        let list = try whole(app, reply)
        var members: [String: [String]] = [:]
        for (name, identifier) in zip(list.names, list.identifiers) {
            let parts = name.split(separator: " ").map(String.init)
            members[parts[0], default: []].append(parts[1] + " " + identifier)
        }
        for (name, identifiers) in record.saved {
            let expected = zip(["A", "B"], identifiers).map { "\($0) \($1)" }
            #expect(members[name]?.sorted() == expected, "an acknowledged save is missing or partial")
        }
        for name in record.attempted {
            let found = members[name]?.count ?? 0
            #expect(found == 0 || found == 2, "an interrupted save is partial")
        }
        #expect(Set(members.keys).isSubset(of: record.attempted.union(record.saved.keys)))
        record.attempted = []
        record.saved = members.mapValues { values in values.sorted().map { String($0.dropFirst(2)) } }
        // For each contact that the killed run disclosed, repeatedly or not, at least the first record is there.
        let run = try fixture.audit().split { $0["event"]?.string == "start" }.dropLast().last ?? []
        let named = run.filter { $0["event"]?.string == "disclosure" && $0["contacts"]?.integer == 1 }
            .compactMap { $0["contactIdentifiers"]?.elements?.compactMap(\.string).first }
        #expect(Set(named).count >= record.told.count)
        record.told = []
        let verified = try fixture.administrator().call("io.contactbroker.Admin.VerifyAudit")
        #expect(verified["brokenAt"]?.integer == nil)
    }

    /// All pages of an unsorted list.
    private static func whole(_ app: App, _ first: Answer) throws -> (names: [String], identifiers: [String]) {
        var (names, identifiers) = (first.names, first.identifiers)
        var next = first["next"]?.string
        while let after = next {
            let page = try app.fetch(#""after":\#(quoted(after))"#)
            names += page.names
            identifiers += page.identifiers
            next = page["next"]?.string
        }
        return (names, identifiers)
    }
}
