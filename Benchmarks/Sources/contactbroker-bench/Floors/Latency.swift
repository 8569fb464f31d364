import Glibc

/// In which of its two modes the socket is: a ping-pong takes several times longer where each message must wake another
/// processor. What is not pinned depends on where the kernel put both ends in this run.
struct Latency {
    /// Microseconds of a ping-pong (p50).
    let unpinned: Double
    let oneCore: Double
    let twoCores: Double

    private static let count = 2_000
    /// Bytes, about as many as a fetch has.
    private static let call = 600
    private static let reply = 1_200

    static func measure() throws -> Latency {
        let processors = Processors()
        let measure = { (here: CInt, there: CInt) in
            Samples(try PingPong.measure(count, call: call, reply: reply, here: here, there: there, pause: 0)).p50
        }
        return Latency(
            unpinned: try measure(-1, -1), oneCore: try measure(processors.first, processors.first),
            twoCores: try measure(processors.first, processors.second))
    }

    var text: String {
        let mode = unpinned < (oneCore * twoCores).squareRoot() ? "one-core" : "two-core"
        return "Socket latency: \(mode) mode. A ping-pong takes \(rounded(unpinned)) µs not pinned, "
            + "\(rounded(oneCore)) µs pinned to one core, \(rounded(twoCores)) µs pinned to two."
    }
}
