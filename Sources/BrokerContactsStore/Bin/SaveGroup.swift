/// Saves that an app takes back together, for example those of one command.
public struct SaveGroup: Hashable, Sendable {
    /// The app's own name for the group. No other app's group has to do with it.
    public let token: String
    /// The app's own words for what the saves do.
    public let label: String
    /// The group that these saves take back; `nil` for any others.
    public let takesBack: String?

    public init(token: String, label: String, takesBack: String? = nil) {
        (self.token, self.label, self.takesBack) = (token, label, takesBack)
    }
}

/// A group of saves of which the bin has something.
public struct ListedSaveGroup: Hashable, Sendable {
    public let group: SaveGroup
    /// When its first save was made, in seconds since 1970.
    public let time: Int64
    /// The number of contacts that the saves added, changed and deleted. One that several saves changed counts each time.
    public let added: Int
    public let changed: Int
    public let deleted: Int
    /// Whether the group was taken back, and that was not taken back itself.
    public let isTakenBack: Bool
}
