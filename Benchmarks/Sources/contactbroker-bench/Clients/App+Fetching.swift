import BrokerJSON
import BrokerModel
import BrokerVarlink
import BrokerVarlinkClient
import Glibc

/// Fetches contacts by identifier, and all contacts.
extension App {
    func learn() throws -> Int64 {
        identifiers = []
        try client.stream(Self.interface + "FetchContacts") {
            $0.member("keys", [String]())
        } each: { reply, _ in
            guard let contacts = reply["contacts"]?.elements else { throw Failure("a reply without contacts") }
            identifiers += contacts.compactMap { $0["identifier"]?.string }
            return true
        }
        // The order differs from the book's, because neighbours in the book would share its pages.
        identifiers.sort()
        return Int64(identifiers.count)
    }

    static func fetch(_ identifier: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.name("predicate")
            $0.object { $0.member("identifiers", [identifier]) }
            $0.member("keys", keys)
        }
        return CallFrame.encode(interface + "FetchContacts", parameters: writer.bytes)
    }

    func fetch(_ count: Int, warmUp: Int = 200, again: Bool = false) throws -> [Int64] {
        var identifier = ""
        return try measure(count, warmUp: warmUp) {
            identifier = identifiers[next % identifiers.count]
            if !again { next += 1 }
            return Self.fetch(identifier)
        } check: { reply in
            try Self.check(reply, is: identifier)
        }
    }

    private static func check(_ reply: JSONValue, is identifier: String) throws {
        var contacts = reply["contacts"]?.elements
        guard contacts?.next()?["identifier"]?.string == identifier else {
            throw Failure("another contact came than was asked for")
        }
    }

    func storm(milliseconds: Int, seed: Int) throws -> [Int64] {
        let calls = identifiers.map(Self.fetch)
        var place = seed * 1_009 % calls.count
        for _ in 0..<Self.warmUp { try storm(calls, &place) }
        // All clients begin together. This client prints a line when it is ready, and the benchmark sends a
        // line when all clients are ready.
        say([0])
        guard readLine() != nil else { throw Failure("nobody is there any more") }
        let start = Clock.now()
        let end = start + Int64(milliseconds) * 1_000_000
        var count: Int64 = 0
        var now = start
        while now < end {
            for _ in 0..<16 { try storm(calls, &place) }
            count += 16
            now = Clock.now()
        }
        return [count, now - start]
    }

    private func storm(_ calls: [[UInt8]], _ place: inout Int) throws {
        try socket.send(calls[place])
        let size = try socket.receiveReply()
        guard size > 300 else { throw Failure("no contact came") }
        place = (place + 1) % calls.count
    }

    func list(_ count: Int) throws -> [Int64] {
        var writer = JSONWriter()
        writer.object { $0.member("keys", Self.keys) }
        let call = CallFrame.encode(Self.interface + "FetchContacts", parameters: writer.bytes, more: true)
        var bytes = 0
        let times = try (0..<count).map { _ in
            let start = Clock.now()
            try socket.send(call)
            bytes = try socket.receiveReplies()
            return Clock.now() - start
        }
        guard bytes > identifiers.count * 300 else { throw Failure("the list is too short") }
        return [Int64(bytes)] + times
    }

    /// Fetches one contact from a broker that is just starting. Returns the time of the reply.
    func first() throws -> Int64 {
        let identifier = identifiers[next % identifiers.count]
        next += 1
        let call = Self.fetch(identifier)
        try connectAgain()
        try socket.send(call)
        let size = try socket.receiveReply()
        let time = Clock.now()
        try Self.check(checked(size), is: identifier)
        return time
    }

    private static let warmUp = 200
}
