import BrokerJSON
import BrokerVarlinkClient
import Glibc

/// Plays the person of the measurements of timing side channels. It answers each prompt as the next line of
/// its standard input says:
///
///     LEVEL KEYS ADDED REMOVED
///
/// LEVEL is `limited`, `full`, or `none`, which leaves the prompt open and prints a line. KEYS, ADDED and REMOVED are lists
/// with commas, or `-` for none: the keys to grant, and words that find the contacts to add and to remove.
struct ProbePerson {
    private static let interface = "io.contactbroker.Agent."
    private static let pageSize = 200
    private let calling: VarlinkClient
    private let token: String
    private let cookie: String

    static func run(path: String) throws {
        let serving = try VarlinkClient(path: path, timeout: .seconds(120))
        let calling = try VarlinkClient(path: path, timeout: .seconds(30))
        try serving.begin(interface + "Serve", more: true)
        var token = ""
        while let (reply, _) = try serving.nextReply(timeout: nil) {
            if let agent = reply["agent"]?.string {
                token = agent
                print("serving")
                fflush(nil)
            }
            guard let prompt = reply["prompt"], let cookie = prompt["cookie"]?.string, let line = readLine() else {
                continue
            }
            let words = line.split(separator: " ").map { $0 == "-" ? [] : $0.split(separator: ",").map(String.init) }
            guard words.count == 4, let level = words[0].first else { throw Failure("no such answer: \(line)") }
            guard level != "none" else {
                print("open")
                fflush(nil)
                continue
            }
            try ProbePerson(calling: calling, token: token, cookie: cookie)
                .answer(level, keys: words[1], adding: words[2], removing: words[3], prompt)
        }
    }

    private func answer(
        _ level: String, keys: [String], adding: [String], removing: [String], _ prompt: JSONValue
    ) throws {
        let added = try adding.flatMap { try rows(of: $0, granted: false) }
        let removed = try removing.flatMap { try rows(of: $0, granted: true) }
        _ = try calling.call(Self.interface + "Answer") {
            name(&$0)
            $0.member("level", level)
            if !added.isEmpty { $0.member("identifiers", added) }
            if !removed.isEmpty { $0.member("removed", removed) }
            $0.member("keys", keys)
            if prompt["kind"]?.string != "manage" { $0.member("lifetime", "untilRevoked") }
        }
    }

    /// The rows of the agent's list that a word finds.
    private func rows(of word: String, granted: Bool) throws -> [String] {
        var rows: [String] = []
        while true {
            let reply = try calling.call(Self.interface + "Search") {
                name(&$0)
                $0.member("query", word)
                $0.member("offset", rows.count)
                $0.member("limit", Self.pageSize)
                $0.member("granted", granted)
            }
            rows += reply["rows"]?.elements?.compactMap { $0["identifier"]?.string } ?? []
            guard reply["more"]?.bool == true else { break }
        }
        guard !rows.isEmpty else { throw Failure("the person finds no \(word)") }
        return rows
    }

    private func name(_ writer: inout JSONWriter) {
        writer.member("agent", token)
        writer.member("cookie", cookie)
    }
}
