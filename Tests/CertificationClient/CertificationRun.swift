import BrokerJSON
import BrokerVarlinkClient

/// One run of `org.varlink.certification`: Start, Test01 to Test11 and End, each with the result of the call before it.
struct CertificationRun {
    enum Failure: Error {
        case unexpected(String)
    }

    private static let interface = "org.varlink.certification."
    private let client: VarlinkClient

    init(_ client: VarlinkClient) {
        self.client = client
    }

    /// Makes all calls, and prints each reply.
    func pass() throws {
        let identifier = try start()
        print("client_id: \(identifier)")
        var reply = JSONDocument.emptyObject.root
        for method in ["Test01", "Test02", "Test03", "Test04", "Test05", "Test06", "Test07", "Test08", "Test09"] {
            reply = try client.call(Self.interface + method) { Self.write(identifier, reply, to: &$0) }
            say(method, reply)
        }
        var replies: [String] = []
        try client.stream(Self.interface + "Test10", { Self.write(identifier, reply, to: &$0) }) { reply, continues in
            say("Test10", reply)
            guard let string = reply["string"]?.string else { throw Failure.unexpected("Test10 without a string") }
            replies.append(string)
            return continues
        }
        guard replies.count == 10 else { throw Failure.unexpected("\(replies.count) replies to Test10 instead of 10") }
        try client.begin(Self.interface + "Test11", oneway: true) {
            $0.member("client_id", identifier)
            $0.member("last_more_replies", replies)
        }
        print("Test11: oneway, so there is no reply")
        let end = try client.call(Self.interface + "End") { $0.member("client_id", identifier) }
        say("End", end)
        guard end["all_ok"]?.bool == true else { throw Failure.unexpected("End does not report all_ok") }
    }

    /// Sends something other than the last result. A server that accepts it would certify every client.
    func fail() throws {
        let identifier = try start()
        _ = try client.call(Self.interface + "Test01") { $0.member("client_id", identifier) }
        do throws(VarlinkClientError) {
            _ = try client.call(Self.interface + "Test02") {
                $0.member("client_id", identifier)
                $0.member("bool", false)
            }
        } catch {
            guard case .error(let name, let parameters) = error, name == Self.interface + "CertificationError",
                parameters["got"]?["parameters"]?["bool"]?.bool == false
            else { throw error }
            return print("Test02 with a wrong value: \(name)")
        }
        throw Failure.unexpected("the server accepted a wrong value")
    }

    private func start() throws -> String {
        guard let identifier = try client.call(Self.interface + "Start")["client_id"]?.string else {
            throw Failure.unexpected("Start without a client_id")
        }
        return identifier
    }

    private func say(_ method: String, _ reply: JSONValue) {
        print("\(method): \(String(decoding: reply.text, as: UTF8.self))")
    }

    /// The parameters of the next call, written from the parsed values. Copying the bytes would not test the parser.
    private static func write(_ identifier: String, _ reply: JSONValue, to writer: inout JSONWriter) {
        writer.member("client_id", identifier)
        guard let members = reply.members else { return }
        for (name, value) in members where !name.says("client_id") {
            writer.name(name.string ?? "")
            write(value, to: &writer)
        }
    }

    private static func write(_ value: JSONValue, to writer: inout JSONWriter) {
        if let bool = value.bool {
            writer.value(bool)
        } else if let integer = value.integer {
            writer.value(integer)
        } else if let double = value.double {
            writer.value(double)
        } else if let string = value.string {
            writer.value(string)
        } else if let elements = value.elements {
            writer.array(elements) { write($1, to: &$0) }
        } else if let members = value.members {
            writer.object { writer in
                for (name, value) in members {
                    writer.name(name.string ?? "")
                    write(value, to: &writer)
                }
            }
        } else {
            writer.null()
        }
    }
}
