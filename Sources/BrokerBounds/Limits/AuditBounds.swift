/// The records that some apps may cause within any hour, and the bytes that these may take in the file.
public struct AuditAllowance: Hashable, Sendable {
    public var recordsPerHour: Int
    public var bytesPerHour: Int

    public init(recordsPerHour: Int, bytesPerHour: Int) {
        self.recordsPerHour = recordsPerHour
        self.bytesPerHour = bytesPerHour
    }
}

/// How much apps may write to the audit, and which of their records are deduplicated.
public struct AuditBounds: Hashable, Sendable {
    /// Records that one app may cause within any hour. Beyond that its calls wait; see
    /// `AccessStore.auditWait(uid:strength:app:now:)`. The person's decisions about the app do not count.
    public var recordsPerHour = 1_000_000
    /// The bytes that these records may take in the file, within any hour.
    public var bytesPerHour = 256 * 1_048_576
    /// What one app may cause.
    public var app: AuditAllowance { AuditAllowance(recordsPerHour: recordsPerHour, bytesPerHour: bytesPerHour) }
    /// What all apps of one user together may cause.
    public var user = AuditAllowance(recordsPerHour: 2_000_000, bytesPerHour: 512 * 1_048_576)
    /// What all apps of all strangers together may cause; see `AccessStore.isUser`.
    public var strangers = AuditAllowance(recordsPerHour: 20_000, bytesPerHour: 8 * 1_048_576)
    /// The maximum number of apps of one user, or of all strangers, that have an allowance of their own. All further
    /// apps of that user share one allowance, and their records are not deduplicated.
    public var appsPerUser = 512
    /// An app's prompts that were never shown within this time become one record and a count.
    public var unshownWindow = Duration.seconds(3_600)

    // MARK: Internal: which records are counted instead of repeated; no caller waits for it

    /// Equal disclosures within this time become one record and a count.
    public var disclosureWindow = Duration.seconds(10)
    /// Equal refusals or password requests within this time become one record and a count.
    public var refusalWindow = Duration.seconds(60)
    /// The maximum number of deduplication windows open at once for one app. Each window counts as one, plus
    /// one for every sixteen contacts in its record. Beyond this bound the app's oldest windows close early,
    /// those of disclosures first.
    public var windowsPerApp = 4_096
    /// The maximum number of deduplication windows open at once for all apps, counted as in ``windowsPerApp``.
    /// Beyond this bound the store opens a window for an app only after closing windows of the same app.
    public var windows = 16_384

    public init() {}
}

/// How long, and how much of, the audit is kept. `nil` sets no bound.
public struct RetentionBounds: Hashable, Sendable {
    /// Segments that ended more than this many days ago are removed.
    public var days: Int?
    /// Segments are removed until the records take at most this much space, in bytes.
    public var bytes: Int64?

    public init(days: Int? = nil, bytes: Int64? = nil) {
        self.days = days
        self.bytes = bytes
    }
}
