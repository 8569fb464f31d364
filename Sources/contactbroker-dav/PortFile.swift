import Glibc

/// The port of a session's service. It is chosen once: clients store it with the password that they send there.
struct PortFile {
    private let path: String

    init(folder: String) { path = folder + "/carddav-port" }

    /// Below the kernel's ports for outgoing connections (`ip_local_port_range`), and above the ports that Mozilla's
    /// programs refuse.
    private static let choices = UInt16(20_000)...32_767
    private static let attempts = 100

    /// Returns the port that ``listen`` took: the stored one, or else a random one, which is stored.
    ///
    /// - Parameter listen: returns `false` if another program has the port.
    func port(_ listen: (UInt16) throws(Failure) -> Bool) throws(Failure) -> UInt16 {
        if let stored = try stored() {
            guard try listen(stored) else {
                throw Failure(
                    "could not start: another program has port \(stored), which your programs use for this service",
                    tryThis: "find it and end it: ss -tlnp 'sport = :\(stored)'; "
                        + "or remove \(path) and set up your programs again")
            }
            return stored
        }
        for _ in 0..<Self.attempts {
            let port = UInt16.random(in: Self.choices)
            guard try listen(port) else { continue }
            try store(port)
            return port
        }
        throw Failure("could not start: no free port found between 20000 and 32767")
    }

    private func stored() throws(Failure) -> UInt16? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0, errno == ENOENT { return nil }
        guard file >= 0 else { throw failed("read") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = read(file, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        guard text.hasSuffix("\n"), let port = UInt16(text.dropLast()), port >= 1_024 else {
            throw Failure(
                "could not start: \(path) does not name a port of 1024 or more",
                tryThis: "write the port of your programs into it, or remove it and set them up again")
        }
        return port
    }

    private func store(_ port: UInt16) throws(Failure) {
        let new = path + ".new"
        let text = Array("\(port)\n".utf8)
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failed("write") }
        let isWritten = write(file, text, text.count) == text.count && fsync(file) == 0
        guard close(file) == 0, isWritten, rename(new, path) == 0 else { throw failed("write") }
    }

    private func failed(_ verb: String) -> Failure {
        Failure("could not start: cannot \(verb) \(path): \(String(cString: strerror(errno)))")
    }
}
