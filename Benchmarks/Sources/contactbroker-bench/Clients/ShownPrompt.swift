import BrokerJSON
import BrokerVarlinkClient
import Glibc

/// A prompt that the broker shows to an agent of the benchmark.
///
/// The agent is a separate process and a sibling of the apps, because the broker does not ask an agent that is
/// an ancestor or descendant of the caller.
struct ShownPrompt {
    static let interface = "io.contactbroker.Agent."
    /// How many rows of the person's list one call asks for.
    static let pageSize = 200

    let prompt: JSONValue
    private let cookie: String
    private let token: String
    private let calling: VarlinkClient

    /// Becomes an agent, prints `serving`, and passes each prompt to `answer`, until the broker hangs up.
    static func serve(path: String, _ answer: (ShownPrompt) throws -> Void) throws {
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
            guard let prompt = reply["prompt"], let cookie = prompt["cookie"]?.string else { continue }
            try answer(ShownPrompt(prompt: prompt, cookie: cookie, token: token, calling: calling))
        }
    }

    /// Calls a method of the agent's interface about this prompt.
    @discardableResult
    func call(_ method: String, _ write: (inout JSONWriter) -> Void) throws -> JSONValue {
        try calling.call(Self.interface + method) {
            $0.member("agent", token)
            $0.member("cookie", cookie)
            write(&$0)
        }
    }

    /// Returns a part of the person's list, and whether and how much more there is.
    func search(
        _ query: String, offset: Int, _ more: (inout JSONWriter) -> Void = { _ in }
    ) throws -> (rows: [String], reply: JSONValue) {
        let reply = try call("Search") {
            $0.member("query", query)
            $0.member("offset", offset)
            $0.member("limit", Self.pageSize)
            more(&$0)
        }
        return (reply["rows"]?.elements?.compactMap { $0["identifier"]?.string } ?? [], reply)
    }
}
