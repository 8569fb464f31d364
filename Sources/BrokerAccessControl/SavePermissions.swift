import BrokerModel

/// Decides which changes an app may make to the contacts that it sees. It does not check whether a record exists.
///
/// The right to change only narrows: each step also needs what the level, the granted set and the keys demand.
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
    public let changes: ChangeRight

    public init(_ disclosure: Disclosure, writableKeys: ContactKeySet, changes: ChangeRight) {
        scope = disclosure.scope
        keys = disclosure.keys
        self.writableKeys = writableKeys
        self.changes = changes
    }

    private var seesEverything: Bool { scope == .all }
    private var seesWholeCards: Bool { keys.isSuperset(of: Grant.ordinaryKeys) }

    /// Whether the app may add contacts and groups.
    public var mayAdd: Bool { changes >= .own }
    public func mayAdd(writing written: ContactKeySet) -> Bool { mayAdd && written.isSubset(of: writableKeys) }

    /// A new record may be put into a container by an app that sees all of them.
    public var mayPutIntoContainers: Bool { mayAdd && seesEverything }

    public func mayUpdate(_ contact: RecordNumber, isOwn: Bool, writing written: ContactKeySet) -> Bool {
        scope.contains(contact) && written.isSubset(of: keys) && (updatesWhatItSees || changes == .own && isOwn)
    }

    /// Whether the app may change contacts that it did not add.
    public var updatesWhatItSees: Bool { changes >= .edit }

    /// An app that may not delete others' cards, or not read all ordinary keys, may delete only cards that it created.
    public func mayDelete(_ contact: RecordNumber, isOwn: Bool) -> Bool {
        scope.contains(contact) && (deletesWhatItSees || changes >= .own && isOwn)
    }

    public var deletesWhatItSees: Bool { changes == .all && seesWholeCards }

    public var seesEverythingWhole: Bool { seesEverything && seesWholeCards }

    /// Linking requires access to every card and to all ordinary keys. Only the values of an app that may link cards are
    /// evidence for links.
    public var mayLink: Bool { changes == .all && seesEverythingWhole }

    /// Changing containers, settings or the person's own card requires access to every card.
    public var mayChangeContainers: Bool { changes == .all && seesEverything }
    public var maySetMe: Bool { changes == .all && seesEverything }
    public var mayChangeSettings: Bool { changes == .all && seesEverything }

    /// Without access to every card, the app may not rename, delete or nest groups that it did not create. If
    /// it has the key `groups`, it may still add contacts that it sees to such groups, and remove them.
    public func mayChangeGroup(isOwn: Bool) -> Bool {
        changes == .all && seesEverything || changes >= .own && isOwn
    }

    public func mayChangeMembers(ofGroupThatIsOwn isOwn: Bool) -> Bool {
        changes >= .edit && (seesEverything || keys.isSuperset(of: .groups)) || changes >= .own && isOwn
    }
}
