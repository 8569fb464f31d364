import BrokerJSON
import BrokerVarlinkClient
import Glibc

/// Plays the person: answers every prompt on the agent's socket.
///
/// It is a separate process and a sibling of the apps, because the broker does not ask an agent that is an
/// ancestor or descendant of the caller.
enum Person {
    /// An app named ``limitedApp`` gets ``chosen`` contacts, one named ``largeLimitedApp`` gets
    /// ``manyChosen``, and every other app gets all contacts.
    static let limitedApp = "limited-app"
    static let largeLimitedApp = "large-limited-app"
    static let chosen = 1_000
    /// The maximum number of contacts in one answer.
    static let manyChosen = 10_000
    private static let interface = "io.contactbroker.Agent."

    static func run(door: String) throws {
        let serving = try VarlinkClient(path: door, timeout: .seconds(120))
        let calling = try VarlinkClient(path: door, timeout: .seconds(30))
        try serving.begin(interface + "Serve", more: true)
        var token = ""
        while let (reply, _) = try serving.nextReply(timeout: nil) {
            if let agent = reply["agent"]?.string {
                token = agent
                print("serving")
                fflush(nil)
            }
            guard let prompt = reply["prompt"], let cookie = prompt["cookie"]?.string else { continue }
            let name = prompt["caller"]?["executable"]?.string?.split(separator: "/").last.map(String.init)
            let count = [limitedApp: chosen, largeLimitedApp: manyChosen][name ?? ""]
            let isLimited = count != nil
            let rows = try count.map { try choose($0, token, cookie, calling) } ?? []
            _ = try calling.call(interface + "Answer") {
                $0.member("agent", token)
                $0.member("cookie", cookie)
                $0.member("level", isLimited ? "limited" : "full")
                if isLimited { $0.member("identifiers", rows) }
                $0.member("keys", (prompt["keys"]?.elements).map { $0.compactMap(\.string) })
                $0.member("lifetime", "untilRevoked")
            }
        }
    }

    /// Returns rows of the person's list. From a long list it takes pages that are spread over the whole
    /// list.
    private static func choose(
        _ count: Int, _ token: String, _ cookie: String, _ calling: VarlinkClient
    ) throws -> [String] {
        var rows: [String] = []
        var step = 0
        while rows.count < count {
            let reply = try calling.call(interface + "Search") {
                $0.member("agent", token)
                $0.member("cookie", cookie)
                $0.member("query", "")
                $0.member("offset", rows.count / pageSize * step)
                $0.member("limit", pageSize)
            }
            if step == 0, let total = reply["total"]?.integer {
                step = Int(total) > Benchmark.contacts ? Int(total) * pageSize / count : pageSize
            }
            let page = (reply["rows"]?.elements).map { $0.compactMap { $0["identifier"]?.string } } ?? []
            guard !page.isEmpty else { throw Failure("the person's list ended after \(rows.count) rows") }
            rows += page
        }
        return rows
    }

    private static let pageSize = 200
}
