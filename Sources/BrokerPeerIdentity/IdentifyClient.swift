import BrokerAccessControl
import CBrokerIdentify
import Glibc

/// Has `contactbroker-identify` look into peers: that of a broker without any privilege.
///
/// The helper keeps nothing. Hashes are remembered here, where they are used: whoever has taken this process over can
/// give answers without them, and could reach the next broker by a memory that outlives this one.
public final class IdentifyClient: EvidenceSource {
    /// Where systemd listens for the helper.
    public static let defaultSocket = "/run/contactbroker/identify/identify.sock"

    /// Milliseconds that a look may take. The helper gives its worker half a second; the rest is for those of the same
    /// user who came before.
    private static let patience: CInt = 2_000

    private let socket: String
    private let reader: EvidenceReader

    public init(socket: String = defaultSocket, hashes: HashCache = HashCache()) throws(PeerError) {
        self.socket = socket
        reader = try EvidenceReader(vantage: .system, hashes: hashes)
    }

    public func prepare() { reader.prepare() }

    /// Whether the helper is there and answers: a broker that cannot identify anybody should not start.
    public func isAnswered() -> Bool {
        // With no process, to which the answer is no, but an answer.
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        guard let answer = try? ask(file, 0, uid: getuid()).answer() else { return false }
        return answer.outcome == IDENTIFY_MALFORMED.rawValue
    }

    public func collect(_ peer: PeerHandle) throws(PeerError) -> Evidence {
        let question: Question
        do {
            question = try ask(about: peer, 0)
        } catch {
            throw peer.hasEnded ? PeerError.ended : error
        }
        return try reader.collect(peer, HelpersLook(client: self, question: question))
    }

    public func check(_ peer: PeerHandle, _ evidence: Evidence) -> ExecutableCheck {
        do throws(PeerError) {
            return reader.check(peer, evidence, Look(try ask(about: peer, IDENTIFY_WANTS_EXECUTABLE_ONLY).look()))
        } catch {
            // A helper that is late, busy or away says nothing about the process.
            return error == .ended ? .changed : .unknown
        }
    }

    fileprivate func ask(about peer: PeerHandle, _ wants: UInt32) throws(PeerError) -> Question {
        try ask(peer.pidfd, wants, uid: peer.uid)
    }

    private func ask(_ pidfd: CInt, _ wants: UInt32, uid: UInt32) throws(PeerError) -> Question {
        let request = identify_request(magic: IDENTIFY_MAGIC, wants: wants, uid: uid, reserved: 0)
        return try Question(socket, request, pidfd, Self.patience)
    }
}

/// What the helper has been asked, until it is given up or has been answered.
private final class Question {
    private var question = identify_question()

    init(_ socket: String, _ request: identify_request, _ pidfd: CInt, _ patience: CInt) throws(PeerError) {
        var request = request
        question.connection = -1
        let result = identify_ask(&question, socket, &request, pidfd, patience)
        guard result == 0 else { throw PeerError.unreadable(what: "contactbroker-identify", errno: -result) }
    }

    deinit { hangUp() }

    private func hangUp() {
        if question.connection >= 0 { close(question.connection) }
        question.connection = -1
    }

    /// Once. The worker goes with it: two of a user's may work at a time, so that nobody holds one while asking for another.
    func answer() throws(PeerError) -> identify_answer {
        defer { hangUp() }
        var answer = identify_answer()
        let result = identify_hear(&question, &answer)
        guard result == 0 else { throw PeerError.unreadable(what: "contactbroker-identify", errno: -result) }
        return answer
    }

    func look() throws(PeerError) -> identify_look {
        let answer = try answer()
        switch answer.outcome {
        case IDENTIFY_LOOKED.rawValue: return answer.look
        case IDENTIFY_ENDED.rawValue: throw PeerError.ended
        case IDENTIFY_TIMED_OUT.rawValue: throw PeerError.unreadable(what: "process", errno: ETIMEDOUT)
        case IDENTIFY_BUSY.rawValue: throw PeerError.unreadable(what: "process", errno: EBUSY)
        default: throw PeerError.unreadable(what: "process", errno: answer.reason == 0 ? EIO : answer.reason)
        }
    }
}

/// The helper looks each time, whoever is known: only what it says need not be read twice. It is asked first, and what
/// needs no privilege is read while it looks.
private struct HelpersLook: ProcessLooker {
    let client: IdentifyClient
    let question: Question

    func look(
        _ peer: PeerHandle, _ process: ProcessDirectory, number: Int32?, hashing: Bool, known: Sight?
    ) throws(PeerError) -> Sight {
        var seen = try (hashing ? client.ask(about: peer, IDENTIFY_WANTS_DIGEST) : question).look()
        if let known, known.isSame(as: &seen) { return known }
        return Sight(seen)
    }
}
