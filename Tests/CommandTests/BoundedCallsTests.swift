import BrokerJSON
import Glibc
import Testing

@Suite("contactbook asks the broker for what it needs, with few calls")
struct BoundedCallsTests {
    private static let groups = 5_000

    /// A broker with 5,000 groups of one contact, and with any number of contacts that no name finds.
    private func broker(contacts: Int) throws -> ScriptedBroker {
        try ScriptedBroker { method, parameters in
            func list(_ body: (Int) -> String) -> String { (0..<Self.groups).map(body).joined(separator: ",") }
            switch method {
            case "GetAuthorization": return .reply("{\"status\":\"full\"}")
            case "CountContacts": return .reply("{\"count\":\(contacts)}")
            case "FetchContacts":
                let group = parameters["predicate"]?["group"] != nil
                return .reply(
                    "{\"contacts\":[\(group ? #"{"identifier":"C"}"# : #"{"identifier":"C","givenName":"Ada"}"#)]}")
            case "ListGroups":
                return .reply("{\"groups\":[\(list { "{\"identifier\":\"G\($0)\",\"name\":\"Group \($0)\"}" })]}")
            case "FetchHistory":
                let members = list { "{\"kind\":\"addMember\",\"identifier\":\"G\($0)\",\"member\":\"C\"}" }
                return .replies([
                    "{\"events\":[{\"kind\":\"dropEverything\"}],\"historyToken\":\"\"}",
                    "{\"events\":[\(members)],\"historyToken\":\"t\"}",
                ])
            case "SaveContacts":
                let changes = parameters["changes"]?.count ?? 0
                let identifiers = repeatElement("\"N\"", count: changes).joined(separator: ",")
                return .reply("{\"identifiers\":[\(identifiers)],\"historyToken\":\"\"}")
            default: return .error("org.varlink.service.MethodNotFound")
            }
        }
    }

    @Test("5,000 groups take a few calls", arguments: [["groups"], ["export", "--format", "vcard4"]])
    func groups(arguments: [String]) throws {
        let broker = try broker(contacts: 1)
        let outcome = try RunningProgram("contactbook", arguments, runtime: broker.folder).finish()
        #expect(outcome.code == 0, "\(outcome.error)")
        let isExport = arguments[0] == "export"
        let lines = outcome.output.split(whereSeparator: \.isNewline)
        #expect(
            lines.count { isExport ? $0.hasPrefix("MEMBER:") : $0.hasSuffix(" 1 ") || $0.hasSuffix(" 1") }
                == Self.groups)
        #expect(broker.asked.count <= 5, "\(broker.asked.count) calls")
    }

    /// The predicates of the fetches.
    private func imported(_ cards: Int, of book: Int) throws -> [String?] {
        let broker = try broker(contacts: book)
        let path = broker.folder + "/cards.vcf"
        let text = (0..<cards).map { "BEGIN:VCARD\nVERSION:3.0\nN:Person\($0 / 2);X;;;\nFN:X\nTEL:\($0)\nEND:VCARD\n" }
            .joined()
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        #expect(write(file, text, text.utf8.count) == text.utf8.count)
        close(file)
        defer { unlink(path) }
        let outcome = try RunningProgram("contactbook", ["import", path], runtime: broker.folder).finish()
        #expect(outcome.output == "added \(cards) contacts of 1 file\n", "\(outcome.error)")
        return try broker.asked.filter { $0.method == "FetchContacts" }.map {
            try JSONDocument(parsing: Array($0.parameters.utf8)).root["predicate"]?["name"]?.string
        }
    }

    @Test("Importing 100 cards looks up each name once in a large address book, and reads a small one once")
    func lookUps() throws {
        #expect(try imported(100, of: 1_000_000) == (0..<50).map { "x person\($0)" })
        #expect(try imported(100, of: 0) == [nil])
        // Look-ups that cost too much end with reading everything.
        let some = try imported(100, of: 400)
        #expect(some.last == .some(nil) && some.count { $0 == nil } == 1 && (2...11).contains(some.count), "\(some)")
    }
}
