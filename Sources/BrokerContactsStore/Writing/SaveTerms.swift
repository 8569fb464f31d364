import BrokerModel

/// What a save must keep to.
public struct SaveTerms: Sendable {
    /// Contacts that the author may not delete. An update that empties one of them fails with
    /// ``ChangeError/emptiesContact(index:)``.
    public var kept: Set<RecordNumber> = []
    /// The number of the last change when the person saw the records that the changes concern. If one of them has changed
    /// since, the save fails with ``ChangeError/changedMeanwhile``.
    public var unchangedSince: Int64?
    /// The person's own card when the person saw that the save changes it; `nil` if it does not, or nobody was asked. If it is
    /// another one now, the save fails in the same way.
    public var me: RecordNumber??
    /// If one of these is not met, the save fails with ``ChangeError/recordChanged(step:)``.
    public var conditions: [ContactCondition] = []
    /// Whether the person allowed a save that cannot be put back, because the bin has no room for what contacts were.
    public var isIrreversible = false
    /// The group that the save is in; `nil` if its author cannot take it back.
    public var group: SaveGroup?
    /// The group of saves of which the save takes back all that was left; `nil` if there is none.
    public var takesBackAll: String?

    public init() {}
}
