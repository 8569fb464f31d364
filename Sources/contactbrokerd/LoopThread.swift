import NIOCore
import NIOPosix
import Varlink
import VarlinkServer

typealias ServerLoop = NIOLoop

/// The thread on which the broker lives. Nothing else here knows what kind of loop it is.
struct LoopThread {
    let loop: ServerLoop
    private let group: MultiThreadedEventLoopGroup

    init() {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        loop = ServerLoop(group.any())
    }

    /// Runs the body on the loop and waits for it; not to be called there.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        try loop.eventLoop.submit(body).wait()
    }

    /// Ends the thread.
    func end() throws { try group.syncShutdownGracefully() }
}
