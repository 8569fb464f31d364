import BrokerVarlink

/// The queued replies of one connection, in order.
///
/// The kernel takes as many bytes as it has room for. A reply can be withdrawn until the kernel has taken one
/// of its bytes.
struct OutgoingReplies {
    private struct Frame {
        var bytes: [UInt8]
        /// The number of bytes that the kernel has taken.
        var left = 0
        let sensitive: Bool
        let continues: Bool
    }

    private var frames: [Frame] = []

    /// The number of bytes that the kernel has not taken yet.
    private(set) var unsentBytes = 0

    var isEmpty: Bool { frames.isEmpty }

    mutating func append(_ bytes: [UInt8], sensitive: Bool, continues: Bool) {
        unsentBytes += bytes.count
        frames.append(Frame(bytes: bytes, sensitive: sensitive, continues: continues))
    }

    /// Whether a sensitive reply was sent in part.
    var hasPartlyLeftSensitive: Bool { frames.first.map { $0.left > 0 && $0.sensitive } ?? false }

    /// Passes the first bytes to `take`; small replies are combined.
    ///
    /// - Parameter take: returns how many bytes it took.
    /// - Returns: whether `take` took all bytes that were offered to it.
    mutating func offer(using scratch: inout [UInt8], _ take: (RawSpan) -> Int) -> Bool {
        let first = frames[0]
        let offered: Int
        let taken: Int
        if frames.count == 1 || first.bytes.count - first.left >= Self.pieceSize {
            offered = first.bytes.count - first.left
            taken = take(first.bytes.span.bytes.extracting(droppingFirst: first.left))
        } else {
            scratch.removeAll(keepingCapacity: true)
            for frame in frames {
                guard scratch.isEmpty || scratch.count + frame.bytes.count <= Self.pieceSize else { break }
                scratch.append(contentsOf: frame.bytes[frame.left...])
            }
            offered = scratch.count
            taken = take(scratch.span.bytes)
        }
        advance(by: taken)
        return taken == offered
    }

    /// Withdraws every sensitive reply of which no byte was sent. If a withdrawn reply was final, `error`
    /// takes its place: every call still gets a final reply.
    ///
    /// - Returns: the number of withdrawn replies.
    mutating func withdraw(_ error: VarlinkError) -> Int {
        var kept: [Frame] = []
        var count = 0
        for frame in frames {
            guard frame.sensitive, frame.left == 0 else {
                kept.append(frame)
                continue
            }
            count += 1
            unsentBytes -= frame.bytes.count
            if !frame.continues {
                var bytes: [UInt8] = []
                ReplyFrame.append(error, to: &bytes)
                unsentBytes += bytes.count
                kept.append(Frame(bytes: bytes, sensitive: false, continues: false))
            }
        }
        frames = kept
        return count
    }

    mutating func removeAll() {
        frames = []
        unsentBytes = 0
    }

    private mutating func advance(by count: Int) {
        unsentBytes -= count
        var left = count
        var whole = 0
        while left > 0 {
            let rest = frames[whole].bytes.count - frames[whole].left
            guard left >= rest else {
                frames[whole].left += left
                break
            }
            left -= rest
            whole += 1
        }
        frames.removeFirst(whole)
        // An idle connection must not keep much memory.
        if frames.isEmpty, frames.capacity > 64 { frames = [] }
    }

    /// The maximum size of several small replies that are sent together, in bytes.
    private static let pieceSize = 64 * 1_024
}
