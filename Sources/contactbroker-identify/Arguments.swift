import Glibc

/// The command line: `[--socket PATH] [--for-uid UID]`.
struct Arguments {
    static let usage = "usage: contactbroker-identify [--socket PATH] [--for-uid UID]"

    /// The path to listen at. If `nil`, the helper uses the socket that systemd passed.
    var socket: String?
    /// The user to serve. If `nil`, the helper serves the owner of the socket's file.
    var uid: UInt32?

    struct Failure: Error {
        let message: String
    }

    init(_ words: some Sequence<String>) throws(Failure) {
        var words = Array(words)[...]
        while let word = words.popFirst() {
            guard let value = words.popFirst() else { throw Failure(message: "\(word) needs a value") }
            switch word {
            case "--socket" where value.hasPrefix("/"): socket = value
            case "--for-uid":
                guard let number = UInt32(value), number != .max else {
                    throw Failure(message: "\(value) is not a user ID")
                }
                uid = number
            default: throw Failure(message: "unknown argument \(word) \(value)")
            }
        }
    }
}

/// The socket that systemd opened and passed, sd_listen_fds(3).
enum PassedSocket {
    static var descriptor: CInt? {
        guard let pid = getenv("LISTEN_PID"), Int32(String(cString: pid)) == getpid(),
            let count = getenv("LISTEN_FDS"), String(cString: count) == "1"
        else { return nil }
        return 3
    }
}
