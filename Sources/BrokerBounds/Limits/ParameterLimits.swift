/// Limits for the parameters of one call. Lengths are bytes of UTF-8, counts are elements.
public enum ParameterLimits {
    public static let purpose = 1_024
    public static let query = 256
    public static let author = 256
    public static let token = 2_048
    /// The members of one object.
    public static let members = 64
    /// A member's name, or a word of an enumeration.
    public static let name = 64
    /// The keys in one list.
    public static let keys = 64
    /// One identifier, also one that an app chooses for a new record.
    public static let identifier = 256
    /// The identifiers in one predicate or answer, and the addresses to ignore in one call.
    public static let identifiers = 10_000
    /// The family names in one rule of the one-time picker.
    public static let familyNames = 1_000
    public static let familyName = 1_024
    /// The name of a group or a container.
    public static let groupName = 1_024
    /// The contacts or values picked at one prompt.
    public static let picked = 100
    /// The steps of one save. A larger save costs less per step, but delays other callers longer.
    public static let changes = 2_000
    /// The words for a group of saves.
    public static let label = 256
    /// The groups of saves that are listed, and the records that a reply about one names.
    public static let saveGroups = 1_000
    /// The contacts requested in one call, or in one page.
    public static let contacts = 1_000_000
    /// The rows in one reply to `Search` of an agent.
    public static let rows = 200
    /// The look-ups of other users' contacts that root may make in an hour, and the contacts or groups that one call
    /// about a grant names.
    public static let lookUps = 20
    /// An app's identifier.
    public static let app = 8_192
    /// The longest path that Linux accepts.
    public static let path = 4_096
    /// The bytes of all files of a policy that is tried.
    public static let policyBytes = 1_048_576
    /// The audit records requested in one call.
    public static let auditRecords = 100_000
    /// The lines of a backup in one call.
    public static let backupLines = 10_000
    /// The remembered positions of the audit in one call.
    public static let auditHeads = 10_000
}
