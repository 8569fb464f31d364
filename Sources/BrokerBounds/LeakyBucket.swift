/// A leaky bucket: what is added drains evenly, so a full bucket is empty after ``Size/time``. It has no clock; times are
/// whole numbers of one unit that its owner chooses.
public struct LeakyBucket: Hashable, Sendable {
    /// The size of a bucket. An owner may add more than ``amount``, and waits until the level is below it again.
    public struct Size: Hashable, Sendable {
        public let amount: Int64
        public let time: Int64

        /// - Parameters:
        ///   - amount: at least 1 is used.
        ///   - time: at least 1 is used.
        public init(amount: Int64, time: Int64) {
            (self.amount, self.time) = (max(1, amount), max(1, time))
        }

        /// `value` times `factor` divided by `divisor`, rounded up or down.
        fileprivate static func scale(_ value: Int64, _ factor: Int64, _ divisor: Int64, up: Bool) -> Int64 {
            let product = Int128(value) * Int128(factor) + (up ? Int128(divisor) - 1 : 0)
            return Int64(clamping: product / Int128(divisor))
        }
    }

    public private(set) var level: Int64
    /// The time up to which the bucket has drained. Parts of an amount do not drain, so it may be a little in the past.
    public private(set) var drainedAt: Int64

    public init(level: Int64 = 0, at now: Int64) { (self.level, drainedAt) = (level, now) }

    /// Drains the bucket. If the clock was set back, nothing drains, and the next time counts from the new time.
    public mutating func drain(_ size: Size, now: Int64) {
        let drained = now > drainedAt ? Size.scale(now - drainedAt, size.amount, size.time, up: false) : 0
        if drained >= level || now < drainedAt {
            (level, drainedAt) = (max(0, level - drained), now)
        } else {
            level -= drained
            drainedAt += Size.scale(drained, size.time, size.amount, up: true)
        }
    }

    /// Adds to a bucket that was drained now. A negative amount is removed, but not more than there is.
    public mutating func add(_ amount: Int64) { level = max(0, level + amount) }

    /// Returns the time until there is space for this amount in a bucket that was drained now; 0 if there is.
    public func wait(for amount: Int64 = 0, _ size: Size) -> Int64 {
        let excess = level + amount - size.amount
        return excess > 0 ? Size.scale(excess, size.time, size.amount, up: true) : 0
    }
}

/// A ``LeakyBucket`` for each key. It keeps only those that are not empty.
public struct Pace<Key: Hashable> {
    private let size: LeakyBucket.Size
    private var buckets: [Key: LeakyBucket] = [:]

    public init(_ size: LeakyBucket.Size) { self.size = size }

    /// Adds an amount to the key's bucket.
    ///
    /// - Parameter shares: the keys that share one pace with this one. While so many of them are not empty, the bucket
    ///   fills so many times as fast.
    public mutating func add(_ amount: Int64, to key: Key, now: Int64, sharedBy shares: (Key) -> Bool = { _ in false })
    {
        buckets = buckets.compactMapValues { bucket in
            var bucket = bucket
            bucket.drain(size, now: now)
            return bucket.level > 0 ? bucket : nil
        }
        let sharing = 1 + buckets.keys.count { $0 != key && shares($0) }
        buckets[key, default: LeakyBucket(at: now)].add(amount * Int64(sharing))
    }

    /// Returns for how long the key must wait; 0 if it may go on at once.
    public func wait(of key: Key, now: Int64) -> Int64 {
        guard var bucket = buckets[key] else { return 0 }
        bucket.drain(size, now: now)
        return bucket.wait(size)
    }
}

extension Duration {
    /// Rounded down.
    public var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
