/// How much of the audit one app may write, and when its records are one.
public struct AuditBounds: Hashable, Sendable {
    /// Records that one app may cause within any hour. Past them its calls wait; see ``AccessStore/auditWait(uid:strength:app:now:)``.
    /// What the person decides about the app is no part of it: that is always written at once.
    public var recordsPerHour = 1_000_000
    /// Bytes of such records within any hour, as they are stored.
    public var bytesPerHour = 256 * 1_048_576
    /// Repeats of a disclosure within this time are one record and a count.
    public var disclosureWindow = Duration.seconds(10)
    /// Equal refusals within this time are one record and a count.
    public var refusalWindow = Duration.seconds(60)
    /// Windows open at once for one app; one that names many contacts counts for each sixteen of them. Past it the
    /// oldest is closed early.
    public var windowsPerApp = 4_096
    /// Windows open at once, counted as ``windowsPerApp``. Past it only who has windows gets a new one, for an old one
    /// of its own.
    public var windows = 16_384
    /// Apps of one user whose share is kept in mind; further ones of that user have one share together, and their records are not
    /// folded.
    public var appsPerUser = 512

    public init() {}
}
