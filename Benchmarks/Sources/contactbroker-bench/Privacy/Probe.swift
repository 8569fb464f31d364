import BrokerJSON
import BrokerVarlink

/// A ``ProbeApp`` in its own process, from the side that controls it.
final class Probe {
    /// The name of its program.
    let name: String
    private let process: ChildProcess

    init(_ name: String, _ process: ChildProcess) {
        self.name = name
        self.process = process
    }

    /// Makes one call. Throws if the reply is an error.
    @discardableResult
    func call(_ call: ProbeCall) throws -> JSONValue {
        try process.tell("call \(call.method) \(call.parameters)")
        let line = try process.line(within: 120)
        guard line.hasPrefix("{") else { throw Failure(line) }
        let reply = try ReplyFrame(parsing: Array(line.utf8))
        if let error = reply.error { throw Failure("\(name): \(call.method): \(error) \(line.prefix(400))") }
        return reply.parameters
    }

    func leaveOpen(_ call: ProbeCall) throws { _ = try process.ask("leave-open \(call.method) \(call.parameters)") }

    /// Ends the call that was left open.
    func close() throws { _ = try process.ask("close") }

    func pin(_ processor: CInt) throws { _ = try process.ask("pin \(processor)") }

    /// Sets the classes of calls, and checks that their replies are alike.
    ///
    /// - Parameter error: the name of the error that all calls must have; `none` if they must succeed.
    func prepare(_ classes: [[ProbeCall]], error: String) throws {
        _ = try process.ask("clear")
        for (number, calls) in classes.enumerated() {
            for call in calls { try process.tell("class \(number) \(call.method) \(call.parameters)") }
        }
        try process.tell("check")
        let line = try process.line(within: 120)
        guard line == error else { throw Failure("\(name): not \(error) but \(line)") }
    }

    /// Returns the nanoseconds of each class.
    func measure(rounds: Int, classes: Int) throws -> [[Int64]] {
        let times = try process.ask("measure \(rounds)", within: 600)
        guard times.count == rounds * classes else { throw Failure("\(name): some calls were not measured") }
        return (0..<classes).map { number in stride(from: number, to: times.count, by: classes).map { times[$0] } }
    }

    // MARK: Contacts and groups

    /// Makes changes, and returns the identifiers of the records that they add, or "".
    @discardableResult
    func save(_ changes: [String]) throws -> [String] {
        var identifiers: [String] = []
        for start in stride(from: 0, to: changes.count, by: Self.changesPerSave) {
            let part = changes[start..<min(changes.count, start + Self.changesPerSave)]
            let reply = try call(.save(part.joined(separator: ",")))
            identifiers += reply["identifiers"]?.elements?.map { $0.string ?? "" } ?? []
        }
        return identifiers
    }

    /// The app's identifiers of the cards whose names have a word, by given name.
    func identifiers(of word: String) throws -> [String: String] {
        var found: [String: String] = [:]
        var next: String?
        repeat {
            let after = next.map { #","after":"\#($0)""# } ?? ""
            let reply = try call(
                ProbeCall(
                    "FetchContacts",
                    #"{"predicate":{"name":"\#(word)"},"keys":["givenName"],"unify":false\#(after)}"#))
            for contact in reply["contacts"]?.elements.map(Array.init) ?? [] {
                found[contact["givenName"]?.string ?? ""] = contact["identifier"]?.string
            }
            next = reply["next"]?.string
        } while next != nil
        return found
    }

    /// The app's identifiers of the groups that it sees, by name.
    func groups() throws -> [String: String] {
        var found: [String: String] = [:]
        for group in try call(ProbeCall("ListGroups", "{}"))["groups"]?.elements.map(Array.init) ?? [] {
            found[group["name"]?.string ?? ""] = group["identifier"]?.string
        }
        return found
    }

    private static let changesPerSave = 250
}
