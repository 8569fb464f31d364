import BrokerJSON
import BrokerModel
import BrokerVarlink
import BrokerVarlinkClient
import Glibc

/// An app, as a process of its own. It reads one task per line, and answers each with a line of numbers.
///
///     ask                       asks for access
///     import FIRST COUNT        saves contacts of a crowd, from this number on; nanoseconds
///     add COUNT                 saves one contact per call; nanoseconds of each
///     change COUNT              changes one contact per call; nanoseconds of each
///     learn                     remembers every identifier that it can see; how many
///     fetch COUNT               one contact per call; bytes of a call and of a reply, then nanoseconds of each
///     storm MILLISECONDS SEED   fetches until the time is over; how many, and nanoseconds
///     list COUNT                every contact; bytes, then nanoseconds of each
///     study                     remembers names, numbers and addresses too; how many contacts
///     search COUNT              three letters per call, answers as fetch
///     phone COUNT               one phone number per call, answers as fetch
///     email COUNT               one e-mail address per call, answers as fetch
///     walk STEP                 remembers places in the list, so many contacts apart; how many
///     meet SIZE                 makes up the contacts of a book of this size; how many beginnings there are of each kind
///     look-for KIND…            which beginnings the next searches use
///     order NUMBER              sort order: 0 the user's default, 1 given name first
///     fetch-once COUNT          as fetch, without a warm-up
///     count                     counts the matches of common beginnings; how many counts
///     sort                      searches for common beginnings in another order; how many searches
///     page COUNT                one page per call, answers as fetch
///     watch COUNT               answers 0 once it watches; then when each notification came, on the monotonic clock
///     change-slowly COUNT       changes one contact per call, with pauses; when each began, and its nanoseconds
///     edit-slowly COUNT         as change-slowly, each contact read right before
///     first                     waits for the broker, and fetches one contact; when it came
///     ping COUNT CALL REPLY HERE THERE   see ``PingPong``; nanoseconds of each
///     ping-slowly …             as ping, with pauses
///     pin PROCESSOR…            pins the app, and on the first of them the process that answers its pings
final class App {
    static let interface = "io.contactbroker.Contacts."
    static let keys = ContactKeySet.all.subtracting(.images).keys.map(\.rawValue)

    let door: String
    let client: VarlinkClient
    private(set) var socket: BlockingSocket
    var identifiers: [String] = []
    var next = 0
    /// How many contacts were made up so far.
    var made = 0
    var people = People()

    init(door: String) throws {
        self.door = door
        client = try VarlinkClient(path: door, timeout: .seconds(30))
        socket = try BlockingSocket(path: door)
    }

    func run() throws {
        while let line = readLine() {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { Int($0) }
            say(try answer(String(words.first ?? ""), numbers))
        }
    }

    func say(_ numbers: [Int64]) {
        print(numbers.map(String.init).joined(separator: " "))
        fflush(nil)
    }

    private func answer(_ word: String, _ numbers: [Int]) throws -> [Int64] {
        switch (word, numbers.count) {
        case ("ask", 0): return try ask()
        case ("import", 2): return [try importContacts(numbers[0], numbers[1])]
        case ("add", 1): return try add(numbers[0])
        case ("change", 1): return try change(numbers[0])
        case ("learn", 0): return [try learn()]
        case ("fetch", 1): return try fetch(numbers[0])
        case ("storm", 2): return try storm(milliseconds: numbers[0], seed: numbers[1])
        case ("list", 1): return try list(numbers[0])
        case ("study", 0): return [try study()]
        case ("search", 1): return try search(numbers[0])
        case ("phone", 1): return try phone(numbers[0])
        case ("email", 1): return try email(numbers[0])
        case ("walk", 1): return [try walk(numbers[0])]
        case ("meet", 1): return try meet(numbers[0])
        case ("look-for", 1...):
            people.letters = numbers.flatMap { people.kinds[$0] }
            return [Int64(people.letters.count)]
        case ("order", 1):
            people.order = numbers[0] == 0 ? "userDefault" : "givenName"
            return [0]
        case ("fetch-once", 1): return try fetch(numbers[0], warmUp: 0)
        case ("count", 0): return [try countMatches()]
        case ("sort", 0): return [try sortMatches()]
        case ("page", 1): return try page(numbers[0])
        case ("watch", 1): return try watch(numbers[0])
        case ("change-slowly", 1): return try changeSlowly(numbers[0], isRead: false)
        case ("edit-slowly", 1): return try changeSlowly(numbers[0], isRead: true)
        case ("first", 0): return [try first()]
        case ("ping", 5), ("ping-slowly", 5):
            return try PingPong.measure(
                numbers[0], call: numbers[1], reply: numbers[2], here: CInt(numbers[3]), there: CInt(numbers[4]),
                pause: word == "ping" ? 0 : Self.pause)
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

    /// Waits until the broker is there.
    func connectAgain() throws {
        let deadline = Clock.now() + 10_000_000_000
        while Clock.now() < deadline {
            if let socket = try? BlockingSocket(path: door) {
                self.socket = socket
                return
            }
            usleep(100)
        }
        throw Failure("the broker does not come")
    }

    /// The parameters of a reply that is no error.
    func checked(_ size: Int) throws -> JSONValue {
        let reply = try ReplyFrame(parsing: Array(socket.buffer[..<(size - 1)]))
        if let error = reply.error {
            throw Failure("\(error) \(String(decoding: reply.parameters.text, as: UTF8.self))")
        }
        return reply.parameters
    }

    /// Calls that are each answered by one reply, after some that do not count.
    ///
    /// - Parameters:
    ///   - call: makes the next call.
    ///   - check: looks at its reply.
    /// - Returns: bytes of a call and of a reply (median), then nanoseconds of each.
    func measure(
        _ count: Int, warmUp: Int, call: () throws -> [UInt8], check: (JSONValue) throws -> Void
    ) throws -> [Int64] {
        var times: [Int64] = []
        var sizes: [(call: Int, reply: Int)] = []
        for round in 0..<count + warmUp {
            let call = try call()
            let start = Clock.now()
            try socket.send(call)
            let size = try socket.receiveReply()
            let time = Clock.now() - start
            try check(checked(size))
            guard round >= warmUp else { continue }
            times.append(time)
            sizes.append((call.count, size))
        }
        sizes.sort { ($0.reply, $0.call) < ($1.reply, $1.call) }
        let median = sizes[sizes.count / 2]
        return [Int64(median.call), Int64(median.reply)] + times
    }
}
