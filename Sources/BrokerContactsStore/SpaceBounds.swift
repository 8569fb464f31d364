import BrokerModel

/// How much space on the disk a book may use.
public struct SpaceBounds: Hashable, Sendable {
    /// Bytes in use in the book's file: everything but free pages. It holds 100,000 contacts with photos of 12 KB.
    public var book: Int64 = 2_048 * 1_048_576
    /// Bytes that one app without full access may add to a book at once. They become available again within
    /// ``refillTime``.
    public var app: Int64 = 256 * 1_048_576
    /// Seconds in which a used-up allowance of an app is available again in full.
    public var refillTime: Int64 = 30 * 86_400
    /// Bytes of an app's allowance that each change uses beside its content: the change history and indexes grow even
    /// if a value is only replaced.
    public var change: Int64 = 256
    /// Seconds for which apps without full access add nothing after one of them found the book full.
    public var pause: Int64 = 600
    /// Bytes of the write-ahead log after which a save checkpoints it. Each such save waits for the disk, and pages
    /// that many saves change are written each time, so it is not small. The log is also checkpointed when no save
    /// has come for a while.
    public var log: Int64 = 128 * 1_048_576

    public init() {}
}

/// What the author of a save may see, which decides the bounds of the save.
public enum AuthorAccess: Hashable, Sendable {
    /// Everything; also the broker and the person themselves. Only ``SpaceBounds/book`` applies.
    case full
    /// Some contacts, or only these keys. The app also has an allowance, ``SpaceBounds/app``.
    case limited(seeing: ContactKeySet)
}
