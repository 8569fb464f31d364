import BrokerVarlink
import CBrokerLinux
import Dispatch
import Glibc

/// Closes sockets, so that the event loop never waits for what a peer sent with its bytes.
///
/// A peer can send descriptors (SCM_RIGHTS, unix(7)). Closing a connection closes those that nobody has received, and the
/// kernel may wait for that: for hours if one is a socket with SO_LINGER. Such a connection is closed by a thread. Only a
/// few of these threads run at once for each user, so files that the kernel cannot close delay only the same user's
/// connections of this kind. Used only on the event loop.
final class Closer {
    /// The user's connections that wait for a thread, in order.
    private var waiting: [AccountOwner: [Connection]] = [:]
    private var running: [AccountOwner: Int] = [:]
    private let threadsPerUser: Int

    private struct Connection {
        let descriptor: CInt
        let done: () -> Void
    }

    init(threadsPerUser: Int) { self.threadsPerUser = threadsPerUser }

    /// Ends a connected socket in both directions, and closes it.
    ///
    /// - Parameter done: called once when the socket is closed: at once, or later on the loop if a thread closes it.
    func close(_ descriptor: CInt, of owner: AccountOwner, on loop: EventLoop, done: @escaping () -> Void = {}) {
        let isClosed = loop.inside.scratch.withUnsafeMutableBytes {
            clinux_close_if_empty(descriptor, $0.baseAddress, $0.count)
        }
        guard !isClosed else { return done() }
        waiting[owner, default: []].append(Connection(descriptor: descriptor, done: done))
        closeNext(of: owner, on: loop)
    }

    private func closeNext(of owner: AccountOwner, on loop: EventLoop) {
        guard let next = waiting[owner]?.first, running[owner, default: 0] < threadsPerUser else { return }
        waiting[owner]?.removeFirst()
        running[owner, default: 0] += 1
        let closed = LoopBound(
            { [self] in
                running[owner, default: 1] -= 1
                next.done()
                closeNext(of: owner, on: loop)
                if running[owner] == 0 { (running[owner], waiting[owner]) = (nil, nil) }
            }, loop: loop)
        Self.closeByThread(next.descriptor) { loop.execute { closed.value() } }
    }

    /// Closes a descriptor by a thread, and then runs `closed` on any thread.
    static func closeByThread(_ descriptor: CInt, _ closed: @escaping @Sendable () -> Void = {}) {
        // A queue for each call, because a serial queue starts a thread even if all others wait.
        DispatchQueue(label: "close").async {
            clinux_close_by_thread(descriptor)
            closed()
        }
    }
}
