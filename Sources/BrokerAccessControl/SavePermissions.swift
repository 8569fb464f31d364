import BrokerModel

/// What an app may change of what it sees. Pure; whether a record is there is not its business.
///
/// It is asked twice: when the steps of a save are read, so that the app gets the right error, and when it is the save's turn, since a
/// grant may be revoked in between.
public struct SavePermissions: Hashable, Sendable {
    /// The cards that the app sees.
    public let scope: RecordScope
    /// The keys that it may read, and so change.
    public let keys: ContactKeySet
    /// The keys that the policy lets it write into a new card.
    public let writableKeys: ContactKeySet

    public init(_ disclosure: Disclosure, writableKeys: ContactKeySet) {
        scope = disclosure.scope
        keys = disclosure.keys
        self.writableKeys = writableKeys
    }

    private var seesEverything: Bool { scope == .all }
    private var seesWholeCards: Bool { keys.isSuperset(of: Grant.ordinaryKeys) }

    public func mayAdd(writing written: ContactKeySet) -> Bool { written.isSubset(of: writableKeys) }

    public func mayUpdate(_ contact: RecordNumber, writing written: ContactKeySet) -> Bool {
        scope.contains(contact) && written.isSubset(of: keys)
    }

    /// Under a key scope only the app that made a card may delete what it cannot see whole.
    public func mayDelete(_ contact: RecordNumber, isOwn: Bool) -> Bool {
        scope.contains(contact) && (deletesWhatItSees || isOwn)
    }

    public var deletesWhatItSees: Bool { seesWholeCards }

    /// Links are for who sees every card, and of each everything that is not granted by name.
    public var mayLink: Bool { seesEverything && seesWholeCards }

    /// Containers, and which card is the person's own, are for who sees every card.
    public var mayChangeContainers: Bool { seesEverything }
    public var maySetMe: Bool { seesEverything }

    /// What others made under `limited` the app may not rename, delete or nest, but it may say which of its contacts are in it.
    public func mayChangeGroup(isOwn: Bool) -> Bool { seesEverything || isOwn }

    public func mayChangeMembers(ofGroupThatIsOwn isOwn: Bool) -> Bool {
        seesEverything || keys.isSuperset(of: .groups) || isOwn
    }
}
