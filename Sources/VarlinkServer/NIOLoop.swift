import NIOCore
import Varlink

/// One of NIO's event loops as the loop of a Varlink server.
public struct NIOLoop: Loop {
    public let eventLoop: any EventLoop

    public init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    public var isCurrent: Bool { eventLoop.inEventLoop }

    public func execute(_ work: @escaping @Sendable () -> Void) {
        eventLoop.execute(work)
    }

    @discardableResult
    public func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Varlink.Scheduled {
        ScheduledWork(task: eventLoop.scheduleTask(in: TimeAmount(delay), work))
    }

    private struct ScheduledWork: Varlink.Scheduled {
        let task: NIOCore.Scheduled<Void>

        func cancel() { task.cancel() }
    }
}
