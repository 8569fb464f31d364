import BrokerJSON
import Glibc
import Synchronization
import Testing

/// A stand-in for the broker at real sockets: it sends the replies that a test sets, and records the calls.
final class ScriptedBroker: Sendable {
    enum Answer: Sendable {
        case reply(String)
        /// Several replies to a call with `more`.
        case replies([String])
        case error(String, parameters: String = "{}")
        case hangUp
        /// Several replies with a pause before each; `sent` gets the time since the one before.
        case paced([String], every: Duration, sent: @Sendable (Duration) -> Void)
        /// No reply.
        case silence
    }

    struct Asked: Sendable {
        /// The method's name without its interface.
        let method: String
        let parameters: String
    }

    let folder: String
    private let calls = Mutex<[Asked]>([])
    private let listeners: [CInt]
    /// The path of each socket below the runtime directory.
    private static let doors = ["apps/io.contactbroker.Contacts", "admin/io.contactbroker.Admin"]

    /// - Parameter answer: the answer to a method with these parameters; it may wait.
    init(_ answer: @escaping @Sendable (_ method: String, _ parameters: JSONValue) -> Answer) throws {
        var template = Array("/tmp/scripted-broker-XXXXXX".utf8CString)
        folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        var listeners: [CInt] = []
        for door in Self.doors {
            mkdir("\(folder)/\(door.prefix { $0 != "/" })", 0o700)
            listeners.append(try Self.listen(at: "\(folder)/\(door)"))
        }
        self.listeners = listeners
        let note: @Sendable (Asked) -> Void = { [weak self] in self?.note($0) }
        for listener in listeners { Self.onThread { Self.serve(listener, answer, note: note) } }
    }

    deinit {
        for listener in listeners {
            // This wakes the thread that accepts, which closes the descriptor.
            shutdown(listener, CInt(SHUT_RDWR))
        }
        for door in Self.doors {
            unlink("\(folder)/\(door)")
            rmdir("\(folder)/\(door.prefix { $0 != "/" })")
        }
        for each in ["/state/contactbook", "/state", ""] { rmdir(folder + each) }
    }

    /// The calls so far, without GetAuthorization and GetUserDefaults.
    var asked: [Asked] {
        calls.withLock { $0.filter { !["GetAuthorization", "GetUserDefaults"].contains($0.method) } }
    }

    private func note(_ asked: Asked) { calls.withLock { $0.append(asked) } }

    private static func listen(at path: String) throws -> CInt {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && Glibc.listen(descriptor, 8) == 0)
        return descriptor
    }

    private static func serve(
        _ listener: CInt, _ answer: @escaping @Sendable (String, JSONValue) -> Answer,
        note: @escaping @Sendable (Asked) -> Void
    ) {
        defer { close(listener) }
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            onThread {
                converse(connection, answer, note)
                close(connection)
            }
        }
    }

    private static func converse(
        _ connection: CInt, _ answer: (String, JSONValue) -> Answer, _ note: (Asked) -> Void
    ) {
        var pending: [UInt8] = []
        /// Where to search for the end of a call; the bytes before were searched already.
        var seen = 0
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            while let end = pending[seen...].firstIndex(of: 0) {
                seen = 0
                guard let call = try? JSONDocument(parsing: Array(pending[..<end])).root,
                    let name = call["method"]?.string
                else { return }
                pending.removeSubrange(...end)
                let method = String(name.split(separator: ".").last ?? "")
                let parameters = call["parameters"] ?? JSONDocument.emptyObject.root
                note(Asked(method: method, parameters: String(decoding: parameters.text, as: UTF8.self)))
                var frames: [String] = []
                var pacing: (pause: Duration, sent: (Duration) -> Void)?
                switch answer(method, parameters) {
                case .reply(let text): frames = ["{\"parameters\":\(text)}"]
                case .replies(let texts): frames = Self.frames(texts)
                case .error(let name, let parameters): frames = ["{\"error\":\"\(name)\",\"parameters\":\(parameters)}"]
                case .silence: break
                case .paced(let texts, let pause, let sent):
                    frames = Self.frames(texts)
                    pacing = (pause, sent)
                case .hangUp: return
                }
                var before = ContinuousClock.now
                for frame in frames {
                    if let pacing {
                        usleep(UInt32(pacing.pause / .microseconds(1)))
                        pacing.sent(ContinuousClock.now - before)
                        before = .now
                    }
                    var bytes = Array(frame.utf8) + [0]
                    while !bytes.isEmpty {
                        let sent = send(connection, bytes, bytes.count, CInt(MSG_NOSIGNAL))
                        guard sent > 0 else { return }
                        bytes.removeFirst(sent)
                    }
                }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            seen = pending.count
            pending += buffer[..<count]
        }
    }

    private static func frames(_ replies: [String]) -> [String] {
        replies.dropLast().map { "{\"parameters\":\($0),\"continues\":true}" }
            + ["{\"parameters\":\(replies.last ?? "{}")}"]
    }

    private static func onThread(_ body: @escaping @Sendable () -> Void) {
        final class Body: Sendable {
            let run: @Sendable () -> Void
            init(_ run: @escaping @Sendable () -> Void) { self.run = run }
        }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(Body(body)).toOpaque()
        pthread_create(
            &thread, nil,
            { @Sendable argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument)
        pthread_detach(thread)
    }
}
