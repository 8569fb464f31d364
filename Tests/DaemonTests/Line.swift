import BrokerJSON
import BrokerVarlink

/// One connection of a ``Companion``.
final class Line {
    let number: UInt32
    private unowned let companion: Companion
    private(set) var isOpened = false
    private(set) var isClosed = false
    private var partial: [UInt8] = []
    private var frames: [[UInt8]] = []

    init(number: UInt32, companion: Companion) {
        self.number = number
        self.companion = companion
    }

    func take(_ kind: UInt8, _ bytes: ArraySlice<UInt8>) {
        switch kind {
        case UInt8(ascii: "o"): isOpened = true
        case UInt8(ascii: "d"):
            var rest = bytes
            while let end = rest.firstIndex(of: 0) {
                frames.append(partial + rest[..<end])
                partial = []
                rest = rest[(end + 1)...]
            }
            partial += rest
        default: isClosed = true
        }
    }

    /// Sends these bytes unchanged.
    func send(_ bytes: some Collection<UInt8>) throws { try companion.order("d", number, bytes) }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func close() throws { try companion.order("c", number, []) }

    /// Stops reading, so that further bytes stay in the kernel.
    func stopReading() throws { try companion.order("p", number, []) }

    func goOnReading() throws { try companion.order("r", number, []) }

    /// The next frame without its NUL; `nil` if the broker has closed the connection.
    func frame(within time: Duration = .seconds(30)) throws -> [UInt8]? {
        try companion.wait(for: "a reply", within: time) { !frames.isEmpty || isClosed }
        return frames.isEmpty ? nil : frames.removeFirst()
    }

    /// Whether a frame is unread or the connection is closed.
    var hasNews: Bool { !frames.isEmpty || isClosed }

    func begin(_ method: String, _ parameters: String = "{}", more: Bool = false) throws {
        try send(CallFrame.encode(method, parameters: Array(parameters.utf8), more: more))
    }

    func reply(within time: Duration = .seconds(30)) throws -> Answer {
        guard let frame = try frame(within: time) else { throw Trouble("the broker hung up") }
        return try Answer(frame)
    }

    func call(_ method: String, _ parameters: String = "{}") throws -> Answer {
        try begin(method, parameters)
        return try reply()
    }
}

/// A reply of the broker, and its bytes.
struct Answer {
    let bytes: [UInt8]
    /// An error's name without its interface.
    let error: String?
    let continues: Bool
    let parameters: JSONValue

    init(_ frame: [UInt8]) throws {
        let reply = try ReplyFrame(parsing: frame)
        bytes = frame
        error = reply.error.map { String($0[($0.lastIndex(of: ".").map($0.index(after:)) ?? $0.startIndex)...]) }
        continues = reply.continues
        parameters = reply.parameters
    }

    subscript(name: String) -> JSONValue? { parameters[name] }

    /// The error's name, else the returned status, else `ok`.
    var word: String { error ?? parameters["status"]?.string ?? "ok" }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    func strings(_ name: String) -> [String] { parameters[name]?.elements?.compactMap(\.string) ?? [] }
}
