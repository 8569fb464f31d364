import BrokerVarlink
import Dispatch

/// Parses long frames on other threads. Parsing a photo takes several milliseconds, and other connections must not
/// wait for that.
enum LongCalls {
    /// The size of a long frame, in bytes.
    static let size = 128 * 1_024
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
