import BrokerModel

/// Decides which changes an app may make to the contacts that it sees. It does not check whether a record exists.
///
/// The broker checks a save twice: first when it reads the steps, so that the app gets the right error, and
/// again before it carries out the save, because the grant may have been revoked in between.
public struct SavePermissions: Hashable, Sendable {
    /// The cards that the app sees.
    public let scope: RecordScope
    /// The keys that the app may read and therefore change.
    public let keys: ContactKeySet
    /// The keys that the policy lets the app write into a new card.
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

    /// An app that may not read all ordinary keys may delete only cards that it created.
    public func mayDelete(_ contact: RecordNumber, isOwn: Bool) -> Bool {
        scope.contains(contact) && (deletesWhatItSees || isOwn)
    }

    public var deletesWhatItSees: Bool { seesWholeCards }

    /// Linking requires access to every card and to all ordinary keys.
    public var mayLink: Bool { seesEverything && seesWholeCards }

    /// Changing containers or the person's own card requires access to every card.
    public var mayChangeContainers: Bool { seesEverything }
    public var maySetMe: Bool { seesEverything }

    /// Without access to every card, the app may not rename, delete or nest groups that it did not create. If
    /// it has the key `groups`, it may still add contacts that it sees to such groups, and remove them.
    public func mayChangeGroup(isOwn: Bool) -> Bool { seesEverything || isOwn }

    public func mayChangeMembers(ofGroupThatIsOwn isOwn: Bool) -> Bool {
        seesEverything || keys.isSuperset(of: .groups) || isOwn
    }
}
