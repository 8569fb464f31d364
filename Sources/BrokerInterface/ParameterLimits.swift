/// Bounds of what a caller may put into parameters. Lengths in bytes of UTF-8, numbers in elements.
public enum ParameterLimits {
    public static let purpose = 1_024
    public static let query = 256
    public static let author = 256
    public static let token = 2_048
    /// Identifiers in one predicate or answer; as many addresses to ignore.
    public static let identifiers = 10_000
    /// Family names of one rule of the one-time picker.
    public static let familyNames = 1_000
    /// Contacts or values picked at one prompt.
    public static let picked = 100
    /// Steps of one save. More at once cost less each, and keep others waiting longer.
    public static let changes = 2_000
    /// Contacts asked for in one call, or one page of it.
    public static let contacts = 1_000_000
}
