/// How much disk space a book may use. Sizes are bytes, times are seconds.
public struct SpaceBounds: Hashable, Sendable {
    /// Bytes in use in the book's file, not counting free pages. The default is enough for 100,000 contacts
    /// with photos of 12 KB.
    public var book: Int64 = 2_048 * 1_048_576
    /// Bytes that one app without full access may add to a book at once. This allowance refills within
    /// ``refillTime``.
    public var app: Int64 = 256 * 1_048_576
    /// The time, in seconds, in which a fully used allowance refills.
    public var refillTime: Int64 = 30 * 86_400
    /// Bytes of an app's allowance that each change uses in addition to its content. Even a change that only
    /// replaces a value makes the change history and the indexes grow.
    public var change: Int64 = 256
    /// When an app without full access finds the book full, no such app can add anything for this many
    /// seconds.
    public var pause: Int64 = 600
    /// The size of the write-ahead log, in bytes, at which a save checkpoints it. The size is large because
    /// every checkpoint delays a save and rewrites the pages that many saves change. The broker also
    /// checkpoints the log soon after a user's last save.
    public var log: Int64 = 128 * 1_048_576

    // The bin, whose bytes do not count for ``book``

    /// How long the bin keeps what a save changed, in seconds, unless the person chose another time; 0 for no bin.
    public var binTime: Int64 = 30 * 86_400
    /// The most days that the person can choose.
    public static let mostBinDays: Int64 = 3_650
    /// How long after the person chose fewer days these take effect, in seconds.
    public static let binDelay: Int64 = 86_400
    /// Bytes that the bin has for the saves of all apps that other programs can imitate. They share one bound, because
    /// such a program can have any number of names. Enough for 10,000 contacts with photos of 10 KB.
    public var binOfAssumableApps: Int64 = 160 * 1_048_576
    /// The same for all other apps.
    public var binOfOtherApps: Int64 = 64 * 1_048_576
    /// The same for the person's own saves.
    public var binOfPerson: Int64 = 32 * 1_048_576

    public init() {}
}
