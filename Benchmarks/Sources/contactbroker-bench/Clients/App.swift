import BrokerJSON
import BrokerModel
import BrokerVarlink
import BrokerVarlinkClient
import Glibc

/// An app in its own process. It reads one task per line, and answers each task with a line of numbers.
///
/// "Times" are in nanoseconds, one for each call. "Like fetch" means the same answer as that of `fetch`.
///
///     ask                       asks for access
///     import FIRST COUNT        saves contacts of a crowd, from this number on; total time
///     add COUNT                 saves one contact per call; times
///     change COUNT              changes one contact per call; times
///     change COUNT CONTACTS     changes so many contacts per call; times
///     learn                     reads every identifier that the app can see; number of identifiers
///     fetch COUNT               one contact per call; bytes of a call, bytes of a reply, times
///     fetch-again COUNT         the same contact in each call; like fetch
///     storm MILLISECONDS SEED   fetches until the time is over; number of fetches, total time
///     list COUNT                every contact; bytes, times
///     study                     reads names, numbers and addresses too; number of contacts
///     search COUNT              three letters per call; like fetch
///     phone COUNT               one phone number per call; like fetch
///     email COUNT               one e-mail address per call; like fetch
///     walk STEP                 reads cursors of the list, STEP contacts apart; number of cursors
///     meet SIZE                 generates a book's contacts; number of beginnings of each kind
///     look-for KIND…            selects the beginnings that the next searches use; number of beginnings
///     order NUMBER              selects the sort order: 0 the user's default, 1 given name first
///     fetch-once COUNT          like fetch, without a warm-up
///     count                     counts the matches of common beginnings; number of counts
///     sort                      searches for common beginnings in another order; number of searches
///     page COUNT                one page per call; like fetch
///     watch COUNT               answers 0 when it is watching, then the time of each notification
///     change-slowly COUNT       changes one contact per call, with pauses; start and duration of each change
///     edit-slowly COUNT         like change-slowly, but reads each contact right before it changes it
///     first                     waits for the broker and fetches one contact; time of the reply
///     ping COUNT CALL REPLY HERE THERE   see ``PingPong``; times
///     ping-slowly …             like ping, with pauses
///     pin PROCESSOR…            pins the app to these processors
final class App {
    static let interface = "io.contactbroker.Contacts."
    static let keys = ContactKeySet.all.subtracting(.images).keys.map(\.rawValue)

    let door: String
    let client: VarlinkClient
    private(set) var socket: BlockingSocket
    var identifiers: [String] = []
    var next = 0
    /// The number of the contact that was generated last; 0 before the first one.
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
        case ("change", 2): return try change(numbers[0], contacts: numbers[1])
        case ("learn", 0): return [try learn()]
        case ("fetch", 1): return try fetch(numbers[0])
        case ("fetch-again", 1): return try fetch(numbers[0], again: true)
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

    /// Waits until the broker accepts a new connection.
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

    /// Returns the parameters of a reply. Throws if the reply is an error.
    func checked(_ size: Int) throws -> JSONValue {
        let reply = try ReplyFrame(parsing: Array(socket.buffer[..<(size - 1)]))
        if let error = reply.error {
            throw Failure("\(error) \(String(decoding: reply.parameters.text, as: UTF8.self))")
        }
        return reply.parameters
    }

    /// Measures calls with one reply each. The first `warmUp` calls are not measured.
    ///
    /// - Parameters:
    ///   - call: makes the next call.
    ///   - check: checks the reply.
    /// - Returns: the sizes of a call and its reply in bytes (median), then the nanoseconds of each call.
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
