import BrokerVarlink

/// The replies of one connection that the kernel does not have, in order.
///
/// Bytes leave into the kernel as far as it takes them. A reply of which nothing has left can be taken back.
struct OutgoingReplies {
    private struct Frame {
        var bytes: [UInt8]
        /// Bytes that the kernel has.
        var left = 0
        let sensitive: Bool
        let continues: Bool
    }

    private var frames: [Frame] = []

    /// Bytes that the kernel has not taken.
    private(set) var unsentBytes = 0

    var isEmpty: Bool { frames.isEmpty }

    mutating func append(_ bytes: [UInt8], sensitive: Bool, continues: Bool) {
        unsentBytes += bytes.count
        frames.append(Frame(bytes: bytes, sensitive: sensitive, continues: continues))
    }

    /// Whether the first reply has left in part, and tells something that can be taken back.
    var hasPartlyLeftSensitive: Bool { frames.first.map { $0.left > 0 && $0.sensitive } ?? false }

    /// Hands the first bytes to `take`, of more than one reply where they are small.
    ///
    /// - Parameter take: answers how many bytes it took.
    /// - Returns: whether it took all it was offered.
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

    /// Takes back every sensitive reply of which nothing has left. In a final one's place stands the error, so that
    /// the caller counts its replies right.
    ///
    /// - Returns: how many were taken back.
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
        // A connection that is idle holds little.
        if frames.isEmpty, frames.capacity > 64 { frames = [] }
    }

    /// What small replies are gathered into, in bytes.
    private static let pieceSize = 64 * 1_024
}
