import BrokerVarlink
import Dispatch

/// Parses one user's long calls (``CallFrame/long``) on another thread, one after the other. Several that end at the
/// same time then do not keep all processors busy.
struct LongCalls {
    private let queue = DispatchQueue(label: "long calls")

    /// Parses a frame, and passes the result to `then` on the loop.
    func parse(
        _ frame: [UInt8], on loop: EventLoop, then: @escaping (Result<CallFrame, MessageError>) -> Void
    ) {
        let bound = LoopBound(then, loop: loop)
        queue.async {
            let parsed = Result { () throws(MessageError) in try CallFrame(parsing: frame) }
            loop.execute { bound.value(parsed) }
        }
    }
}
