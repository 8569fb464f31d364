import Glibc

/// The latency of a socket. A ping-pong takes several times longer if each message must wake another
/// processor. Unpinned figures depend on where the kernel placed both processes in this run.
struct Latency {
    /// The time of a ping-pong in microseconds (p50).
    let unpinned: Double
    let oneCore: Double
    let twoCores: Double

    private static let count = 2_000
    /// The sizes of a call and a reply in bytes, about those of a fetch.
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
