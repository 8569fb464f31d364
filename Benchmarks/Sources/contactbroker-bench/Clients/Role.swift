import Glibc

/// The task of one process of the benchmark.
enum Role: String {
    /// Uses contacts.
    case app
    /// Uses contacts through the library `Contacts`.
    case contacts
    /// Answers prompts.
    case person
    /// Answers each message of a ping-pong.
    case pong
    /// Connects, so that the time to identify it can be measured.
    case caller
    /// Connects to the broker and makes one call.
    case visitor
    /// Makes calls whose times must not differ.
    case probe
    /// Answers the prompts of probes.
    case probePerson = "probe-person"

    /// The path of this program.
    static let program: String = {
        var path = [CChar](repeating: 0, count: 4_097)
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        return String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    /// The path of another program in this program's folder.
    static func program(onWorker name: String) throws -> String {
        guard let slash = program.lastIndex(of: "/") else { throw Failure("this program has no path") }
        return program[...slash] + name
    }

    func run(_ arguments: [String]) throws {
        switch (self, arguments.count) {
        case (.app, 1): try App(door: arguments[0]).run()
        case (.contacts, 1): try ContactsApp(door: arguments[0]).run()
        case (.person, 1): try Person.run(door: arguments[0])
        case (.pong, 2): try PingPong.answer(call: Int(arguments[0]) ?? 1, reply: Int(arguments[1]) ?? 1)
        case (.caller, 4):
            try Identification.connect(
                to: arguments[0], times: Int(arguments[1]) ?? 1, pause: UInt32(arguments[2]) ?? 0,
                on: CInt(arguments[3]) ?? 0)
        case (.visitor, 3):
            try Visit.run(door: arguments[0], times: Int(arguments[1]) ?? 1, on: CInt(arguments[2]) ?? 0)
        case (.probe, 1): try ProbeApp(path: arguments[0]).run()
        case (.probePerson, 1): try ProbePerson.run(path: arguments[0])
        case (.app, _), (.contacts, _), (.person, _), (.pong, _), (.caller, _), (.visitor, _), (.probe, _),
            (.probePerson, _):
            throw Failure("another number of arguments is needed")
        }
    }
}
