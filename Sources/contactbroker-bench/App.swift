import ContactsModel
import Glibc
import JSON
import Varlink
import VarlinkClient

/// An app, as a process: does what it is told line by line, and answers each line with numbers.
///
///     ask                       asks for access
///     import COUNT              saves contacts; nanoseconds
///     learn                     takes note of every identifier that it can see; how many
///     fetch COUNT               one contact each; bytes of a call and of a reply, then nanoseconds of each
///     storm MILLISECONDS SEED   fetches until the time is over; how many, and nanoseconds
///     list COUNT                everything; bytes, then nanoseconds of each
///     add COUNT                 saves one contact each; nanoseconds of each
///     ping COUNT CALL REPLY     with a process that only answers, see ``PingPong``; nanoseconds of each
///     pin PROCESSOR…            the app, and whoever answers its pings on the first given
final class App {
    private static let interface = "io.contactbroker.Contacts."
    private static let keys = ContactKeySet.all.subtracting(.images).keys.map(\.rawValue)
    private static let contactsPerSave = 500

    private let door: String
    private let client: VarlinkClient
    private let socket: BlockingSocket
    private var identifiers: [String] = []
    private var next = 0
    private var added = 0

    init(door: String) throws {
        self.door = door
        client = try VarlinkClient(path: door, timeout: .seconds(30))
        socket = try BlockingSocket(path: door)
    }

    func run() throws {
        while let line = readLine() {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { Int($0) }
            let answer = try self.answer(String(words.first ?? ""), numbers)
            print(answer.map(String.init).joined(separator: " "))
            fflush(nil)
        }
    }

    private func answer(_ word: String, _ numbers: [Int]) throws -> [Int64] {
        switch (word, numbers.count) {
        case ("ask", 0): return try ask()
        case ("import", 1): return [try importContacts(numbers[0])]
        case ("learn", 0): return [try learn()]
        case ("fetch", 1): return try fetch(numbers[0])
        case ("storm", 2): return try storm(milliseconds: numbers[0], seed: numbers[1])
        case ("list", 1): return try list(numbers[0])
        case ("add", 1): return try add(numbers[0])
        case ("ping", 5):
            return try PingPong.measure(
                numbers[0], call: numbers[1], reply: numbers[2], here: CInt(numbers[3]), there: CInt(numbers[4]))
        case ("pin", 1...):
            try Processors.pin(process: getpid(), to: numbers.map { CInt($0) })
            return [0]
        default: throw Failure("no such task: \(word)")
        }
    }

    private func ask() throws -> [Int64] {
        let reply = try client.call(Self.interface + "RequestAccess") {
            $0.member("purpose", "measuring")
            $0.member("keys", Self.keys)
        }
        guard let status = reply["status"]?.string, status == "full" || status == "limited" else {
            throw Failure("access was not given")
        }
        return [0]
    }

    // MARK: Saving

    private static func save(_ numbers: Range<Int>) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: numbers.count * 800)
        writer.object {
            $0.name("changes")
            $0.array(numbers) { writer, number in
                writer.object {
                    $0.member("operation", "add")
                    $0.name("contact")
                    SampleContacts.write(number, into: &$0)
                }
            }
        }
        return CallFrame.encode(interface + "SaveContacts", parameters: writer.bytes)
    }

    private func importContacts(_ count: Int) throws -> Int64 {
        let start = Clock.now()
        for first in stride(from: 0, to: count, by: Self.contactsPerSave) {
            let call = Self.save(first..<min(count, first + Self.contactsPerSave))
            try socket.send(call)
            _ = try checked(socket.receiveReply())
        }
        added = count
        return Clock.now() - start
    }

    private func add(_ count: Int) throws -> [Int64] {
        try (0..<count).map { _ in
            let call = Self.save(added..<added + 1)
            added += 1
            let start = Clock.now()
            try socket.send(call)
            let size = try socket.receiveReply()
            let time = Clock.now() - start
            _ = try checked(size)
            return time
        }
    }

    // MARK: Fetching

    private func learn() throws -> Int64 {
        identifiers = []
        try client.stream(Self.interface + "FetchContacts") {
            $0.member("keys", [String]())
        } each: { reply, _ in
            guard let contacts = reply["contacts"]?.elements else { throw Failure("a reply without contacts") }
            identifiers += contacts.compactMap { $0["identifier"]?.string }
            return true
        }
        // In no order that the book has: neighbours would share its pages.
        identifiers.sort()
        return Int64(identifiers.count)
    }

    private static func fetch(_ identifier: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.name("predicate")
            $0.object { $0.member("identifiers", [identifier]) }
            $0.member("keys", keys)
        }
        return CallFrame.encode(interface + "FetchContacts", parameters: writer.bytes)
    }

    private func fetch(_ count: Int) throws -> [Int64] {
        var times: [Int64] = []
        var sizes: [Int] = []
        var callSize = 0
        for round in 0..<count + Self.warmUp {
            let identifier = identifiers[next % identifiers.count]
            next += 1
            let call = Self.fetch(identifier)
            let start = Clock.now()
            try socket.send(call)
            let size = try socket.receiveReply()
            let time = Clock.now() - start
            var contacts = try checked(size)["contacts"]?.elements
            guard contacts?.next()?["identifier"]?.string == identifier else {
                throw Failure("another contact came than was asked for")
            }
            guard round >= Self.warmUp else { continue }
            times.append(time)
            sizes.append(size)
            callSize = call.count
        }
        sizes.sort()
        return [Int64(callSize), Int64(sizes[sizes.count / 2])] + times
    }

    private func storm(milliseconds: Int, seed: Int) throws -> [Int64] {
        let calls = identifiers.map(Self.fetch)
        var place = seed * 1_009 % calls.count
        for _ in 0..<Self.warmUp { try storm(calls, &place) }
        // All begin together: one line for being ready, one for going.
        print("0")
        fflush(nil)
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

    private func list(_ count: Int) throws -> [Int64] {
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

    private static let warmUp = 200

    /// The parameters of a reply that is no error.
    private func checked(_ size: Int) throws -> JSONValue {
        let reply = try ReplyFrame(parsing: Array(socket.buffer[..<(size - 1)]))
        if let error = reply.error {
            throw Failure("\(error) \(String(decoding: reply.parameters.text, as: UTF8.self))")
        }
        return reply.parameters
    }
}
