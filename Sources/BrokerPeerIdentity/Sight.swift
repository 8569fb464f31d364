import CBrokerIdentify

/// What a look found, in the kernel's words and in ours: the same words need not be put into ours again.
final class Sight: Sendable {
    let look: Look
    private let seen: identify_known

    init(_ seen: identify_known) {
        self.seen = seen
        look = Look(seen.look)
    }

    /// What somebody else has looked at.
    convenience init(_ look: identify_look) {
        var seen = identify_known()
        seen.look = look
        self.init(seen)
    }

    /// Another look would find the same now.
    func isStill(_ peer: PeerHandle, _ process: ProcessDirectory, number: Int32?) -> Bool {
        withUnsafePointer(to: seen) { identify_is_as_known(peer.pidfd, number ?? 0, process.descriptor, $0) == 1 }
    }

    func isSame(as look: UnsafePointer<identify_look>) -> Bool {
        withUnsafePointer(to: seen.look) { identify_is_same($0, look) == 1 }
    }
}
