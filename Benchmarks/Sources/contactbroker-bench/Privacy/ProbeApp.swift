import BrokerVarlink
import Glibc

/// An app whose calls are measured for timing side channels. ``Probe`` controls it.
///
/// It reads one task per line:
///
///     call METHOD PARAMETERS          makes one call and prints the reply
///     leave-open METHOD PARAMETERS    sends a call on a new connection, without waiting for the reply
///     close                           closes the connection of that call
///     clear                           removes all classes
///     class NUMBER METHOD PARAMETERS  adds a call to a class; prints nothing
///     check                           makes every call, compares the replies and prints their error, or `none`
///     measure ROUNDS                  prints the nanoseconds of ROUNDS calls of each class, round by round
///     pin PROCESSOR                   pins the app to this processor
final class ProbeApp {
    private let path: String
    private let socket: BlockingSocket
    private var open: BlockingSocket?
    private var classes = [[[UInt8]]](repeating: [], count: Case.classes)
    /// The number of rounds so far. It selects the next call of each class.
    private var round = 0

    init(path: String) throws {
        self.path = path
        socket = try BlockingSocket(path: path)
    }

    func run() throws {
        while let line = readLine() {
            let words = line.split(separator: " ", maxSplits: line.hasPrefix("class ") ? 3 : 2).map(String.init)
            switch (words.first ?? "", words.count) {
            case ("call", 3): say(try answer(Self.frame(words[1], words[2])))
            case ("leave-open", 3):
                let socket = try BlockingSocket(path: path)
                try socket.send(Self.frame(words[1], words[2]))
                open = socket
                say("0")
            case ("close", 1):
                open = nil
                say("0")
            case ("clear", 1):
                classes = classes.map { _ in [] }
                say("0")
            case ("class", 4): classes[Int(words[1]) ?? 0].append(Self.frame(words[2], words[3]))
            case ("check", 1):
                say(try check())
            case ("measure", 2): say(try measure(Int(words[1]) ?? 0).map(String.init).joined(separator: " "))
            case ("pin", 2):
                try Processors.pin(process: getpid(), to: [CInt(words[1]) ?? 0])
                say("0")
            default: throw Failure("no such task: \(line)")
            }
        }
    }

    private func say(_ text: String) {
        print(text)
        fflush(nil)
    }

    private static func frame(_ method: String, _ parameters: String) -> [UInt8] {
        CallFrame.encode(App.interface + method, parameters: Array(parameters.utf8))
    }

    private func answer(_ call: [UInt8]) throws -> String {
        try socket.send(call)
        let size = try socket.receiveReply()
        return String(decoding: socket.buffer[..<(size - 1)], as: UTF8.self)
    }

    /// Checks that an app cannot tell the classes apart by the replies: all have the same size and the same
    /// error, or none. It also warms up all caches.
    ///
    /// - Returns: the name of the error; `none` if the calls succeed.
    private func check() throws -> String {
        var known: (size: Int, error: String?, text: String)?
        for _ in 0..<2 {
            for call in classes.joined() {
                let text = try answer(call)
                let reply = try ReplyFrame(parsing: Array(text.utf8))
                let found = (size: text.utf8.count, error: reply.error, text: text)
                guard let first = known else {
                    known = found
                    continue
                }
                guard found.size == first.size, found.error == first.error else {
                    throw Failure("the replies differ: \(first.text.prefix(300)) and \(text.prefix(300))")
                }
            }
        }
        return known?.error?.split(separator: ".").last.map(String.init) ?? "none"
    }

    /// Makes one call of each class in every round, in random order. The calls of a class take turns.
    private func measure(_ rounds: Int) throws -> [Int64] {
        var times = [Int64](repeating: 0, count: rounds * classes.count)
        var order = Array(classes.indices)
        for place in 0..<rounds {
            order.shuffle()
            for number in order {
                let calls = classes[number]
                let call = calls[round % calls.count]
                let start = Clock.now()
                try socket.send(call)
                _ = try socket.receiveReply()
                times[place * classes.count + number] = Clock.now() - start
            }
            round += 1
        }
        return times
    }
}
