import BrokerVarlink
import Dispatch

/// Parses long calls (``CallFrame/long``) on other threads.
enum LongCalls {
    private static let queue = DispatchQueue(label: "long calls", attributes: .concurrent)

    /// Parses a frame, and passes the result to `then` on the loop.
    static func parse(
        _ frame: [UInt8], on loop: EventLoop, then: @escaping (Result<CallFrame, MessageError>) -> Void
    ) {
        let bound = LoopBound(then, loop: loop)
        queue.async {
            let parsed = Result { () throws(MessageError) in try CallFrame(parsing: frame) }
            loop.execute { bound.value(parsed) }
        }
    }
}
