import BrokerModel

/// How much disk space a book may use.
public struct SpaceBounds: Hashable, Sendable {
    /// Bytes in use in the book's file, not counting free pages. The default is enough for 100,000 contacts
    /// with photos of 12 KB.
    public var book: Int64 = 2_048 * 1_048_576
    /// Bytes that one app without full access may add to a book at once. This allowance refills within
    /// ``refillTime``.
    public var app: Int64 = 256 * 1_048_576
    /// Seconds in which an app's used-up allowance refills completely.
    public var refillTime: Int64 = 30 * 86_400
    /// Bytes of an app's allowance that each change uses in addition to its content. Even a change that only
    /// replaces a value makes the change history and the indexes grow.
    public var change: Int64 = 256
    /// After an app without full access found the book full, all such apps can add nothing for this many
    /// seconds.
    public var pause: Int64 = 600
    /// The size of the write-ahead log, in bytes, at which a save checkpoints it. The size is large because
    /// every checkpoint delays a save, and writes pages again that many saves change. The broker also
    /// checkpoints the log soon after a user's last save.
    public var log: Int64 = 128 * 1_048_576

    public init() {}
}

/// What the author of a save may see. This determines which limits on space apply to the save.
public enum AuthorAccess: Hashable, Sendable {
    /// Everything. The person and the broker itself also have full access. Only ``SpaceBounds/book`` applies.
    case full
    /// Only some contacts, or only these keys. The allowance of the app, ``SpaceBounds/app``, applies too.
    case limited(seeing: ContactKeySet)
}
