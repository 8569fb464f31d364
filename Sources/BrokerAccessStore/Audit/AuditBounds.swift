/// How much one app may write to the audit, and which of its records are deduplicated.
public struct AuditBounds: Hashable, Sendable {
    /// Records that one app may cause within any hour. Beyond that its calls wait; see
    /// ``AccessStore/auditWait(uid:strength:app:now:)``. The person's decisions about the app do not count: they are
    /// always written at once.
    public var recordsPerHour = 1_000_000
    /// Bytes of such records within any hour, as stored.
    public var bytesPerHour = 256 * 1_048_576
    /// Equal disclosures within this time become one record and a count.
    public var disclosureWindow = Duration.seconds(10)
    /// Equal refusals or password requests within this time become one record and a count.
    public var refusalWindow = Duration.seconds(60)
    /// The most deduplication windows open at once for one app. A window with contacts counts one more for
    /// every sixteen of them. Beyond this bound the app's oldest windows close early, those of disclosures first.
    public var windowsPerApp = 4_096
    /// The most deduplication windows open at once for all apps, counted as in ``windowsPerApp``. Beyond this
    /// bound an app gets a new window only by closing one of its own.
    public var windows = 16_384
    /// The most apps of one user that have an allowance of their own. All further apps of that user share one
    /// allowance, and their records are not deduplicated.
    public var appsPerUser = 512

    public init() {}
}
