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

    /// `frames[..<head]` have left.
    private var frames: [Frame] = []
    private var head = 0

    /// Bytes that the kernel has not taken.
    private(set) var unsentBytes = 0

    var isEmpty: Bool { head == frames.count }

    mutating func append(_ bytes: [UInt8], sensitive: Bool, continues: Bool) {
        unsentBytes += bytes.count
        frames.append(Frame(bytes: bytes, sensitive: sensitive, continues: continues))
    }

    /// Whether the first reply has left in part, and tells something that can be taken back.
    var hasPartlyLeftSensitive: Bool {
        head < frames.count && frames[head].left > 0 && frames[head].sensitive
    }

    /// Hands the first bytes to `take`, of more than one reply where they are small.
    ///
    /// - Parameter take: answers how many bytes it took.
    /// - Returns: whether it took all it was offered.
    mutating func offer(using scratch: inout [UInt8], _ take: (RawSpan) -> Int) -> Bool {
        let first = frames[head]
        let offered: Int
        let taken: Int
        if head + 1 == frames.count || first.bytes.count - first.left >= Self.pieceSize {
            offered = first.bytes.count - first.left
            taken = take(first.bytes.span.bytes.extracting(droppingFirst: first.left))
        } else {
            scratch.removeAll(keepingCapacity: true)
            for frame in frames[head...] {
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
        for frame in frames[head...] {
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
        head = 0
        return count
    }

    mutating func removeAll() {
        frames = []
        head = 0
        unsentBytes = 0
    }

    private mutating func advance(by count: Int) {
        unsentBytes -= count
        var left = count
        while left > 0 {
            let rest = frames[head].bytes.count - frames[head].left
            guard left >= rest else {
                frames[head].left += left
                return
            }
            left -= rest
            frames[head].bytes = []
            head += 1
        }
        if head == frames.count {
            frames.removeAll(keepingCapacity: frames.capacity <= 64)
            head = 0
        } else if head >= 64, head > frames.count / 2 {
            frames.removeSubrange(..<head)
            head = 0
        }
    }

    /// What small replies are gathered into, in bytes.
    private static let pieceSize = 64 * 1_024
}
