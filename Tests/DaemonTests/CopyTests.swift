import BrokerJSON
import Testing

/// A client that lists the book and then follows its history, over the apps' socket.
@Suite("An app that keeps a copy of the book", .timeLimit(.minutes(10)))
struct CopyTests {
    private static let keys = #""keys":["givenName"],"unify":false"#

    /// Given names by identifier.
    private struct Copy: Equatable {
        var names: [String: String] = [:]
        var token: String?

        mutating func list(_ reply: Answer) {
            for contact in reply["contacts"]?.elements.map(Array.init) ?? [] { put(contact) }
            token = reply["historyToken"]?.string ?? token
        }

        mutating func apply(_ reply: Answer) {
            for event in reply["events"]?.elements.map(Array.init) ?? [] {
                switch event["kind"]?.string {
                case "addContact", "updateContact": if let contact = event["contact"] { put(contact) }
                case "deleteContact": names[event["identifier"]?.string ?? ""] = nil
                default: Issue.record("an unexpected event: \(event.text)")
                }
            }
            token = reply["historyToken"]?.string ?? token
        }

        private mutating func put(_ contact: JSONValue) {
            names[contact["identifier"]?.string ?? ""] = contact["givenName"]?.string ?? ""
        }
    }

    /// An app that sends many saves without waiting for the replies.
    private final class Writer {
        let app: App
        private var underWay = 0
        private var added: [String] = []
        private var count = 0

        init(_ app: App) { self.app = app }

        func begin(_ step: String) throws {
            try app.begin("SaveContacts", App.saving([step]))
            underWay += 1
        }

        func add() throws {
            count += 1
            try begin(App.adding(given: "New \(count)"))
        }

        func deleteAdded() throws {
            try finish()
            for identifier in added { try begin(#"{"operation":"delete","contact":{"identifier":"\#(identifier)"}}"#) }
            added = []
        }

        /// Waits for the replies to all saves.
        func finish() throws {
            for _ in 0..<underWay {
                let reply = try app.reply()
                guard reply.error == nil else { throw Trouble(reply.text) }
                added += reply.strings("identifiers").filter { !$0.isEmpty }
            }
            underWay = 0
        }
    }

    /// Makes one call, runs `meanwhile`, and returns the call's replies.
    private func call(
        _ method: String, _ parameters: String, more: Bool, by reader: App, meanwhile: () throws -> Void
    ) throws -> [Answer] {
        try reader.begin(method, parameters, more: more)
        try meanwhile()
        var replies: [Answer] = []
        repeat {
            replies.append(try reader.reply())
            if let error = replies.last?.error { throw Trouble(error) }
        } while replies.last?.continues == true
        return replies
    }

    @Test(
        "With a busy writer, streamed or not, list and history give a copy equal to the book",
        arguments: [true, false])
    func busyWriter(more: Bool) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        // With `more` the contacts fill several batches, and without it they fit into one reply.
        let people = (0..<(more ? 4_000 : 900)).map { #""givenName":"N\#($0)""# }
        let writer = Writer(try fixture.keeper(adding: people, with: person))
        let reader = try fixture.app("reader", .everything, by: person)
        for round in 1...20 {
            var copy = Copy()
            for _ in 0..<2 { try writer.add() }
            let list = try call("FetchContacts", "{\(Self.keys)}", more: more, by: reader) {
                for _ in 0..<8 { try writer.add() }
            }
            for reply in list { copy.list(reply) }
            try writer.deleteAdded()
            for _ in 0..<3 {
                let since = #"{\#(Self.keys),"token":"\#(copy.token ?? "")"}"#
                let events = try call("FetchHistory", since, more: more, by: reader) { try writer.add() }
                for reply in events { copy.apply(reply) }
                try writer.deleteAdded()
            }
            try writer.finish()
            for reply in try call(
                "FetchHistory", #"{\#(Self.keys),"token":"\#(copy.token ?? "")"}"#, more: more, by: reader,
                meanwhile: {})
            { copy.apply(reply) }
            var book = Copy()
            for reply in try call("FetchContacts", "{\(Self.keys)}", more: more, by: reader, meanwhile: {}) {
                book.list(reply)
            }
            let (extra, missing) = (
                copy.names.filter { book.names[$0.key] != $0.value },
                book.names.filter { copy.names[$0.key] != $0.value }
            )
            try #require(
                extra.isEmpty && missing.isEmpty,
                "round \(round): extra in the copy: \(extra.values.sorted()), missing: \(missing.values.sorted())"
            )
            #expect(book.names.count == people.count)
        }
    }
}
