import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation
import Synchronization

/// Whether the saves of a store can be undone, and the group of its last save.
struct UndoState: Sendable {
    var keeps = false
    var last: CNSaveGroup?
}

extension CNContactStore {
    /// Whether ``undoLastSave()`` can undo saves of this store that are in no group of their own
    /// (``CNSaveRequest/saveGroup``). The default is `false`. An extension of this library.
    public var keepsUndo: Bool {
        get { undo.withLock { $0.keeps } }
        set {
            undo.withLock {
                $0.keeps = newValue
                if !newValue { $0.last = nil }
            }
        }
    }

    /// Whether ``undoLastSave()`` has a save to undo. An extension of this library.
    public var canUndo: Bool { undo.withLock { $0.last != nil } }

    /// Undoes the last save of this store. Added records are deleted, changed properties get their former values, and deleted
    /// records come back under their former identifiers, with their groups, their links, and the values that the app
    /// does not see. The undo overwrites changes that other programs have made to the same properties since the save. An
    /// extension of this library.
    ///
    /// The undo is a save like any other: what the app may change now decides. See ``takeBack(_:in:overwriting:onlyCounting:)`` for more
    /// than the last save.
    ///
    /// - Throws: ``CNError/Code/featureNotAvailable`` if there is nothing to undo, for example because the person's address
    ///   book keeps nothing of what saves changed.
    public func undoLastSave() throws {
        guard let group = undo.withLock({ $0.last }) else {
            throw CNError(.featureNotAvailable, reason: "there is no save to undo")
        }
        try WaitBudget.forOneCall {
            while true {
                let part = try takeBack(group, overwriting: true)
                if !part.hasMore || part.count == 0 { break }
            }
        }
        undo.withLock { $0.last = nil }
    }

    /// Takes back what this app's saves of a group did, or a part of it. This is a save: the person may be asked, and it is refused
    /// for the same reasons. A record that was changed several times becomes what it was before the first save of the
    /// group. An extension of this library.
    ///
    /// - Parameters:
    ///   - new: the group that this save is in, so that it can be taken back itself; `nil` if it need not be.
    ///   - overwriting: whether what was changed since is taken back, too.
    ///   - onlyCounting: whether to change nothing, and return what would happen altogether.
    /// - Returns: what was done. If ``CNTakenBack/hasMore``, call this again for the rest.
    /// - Throws: ``CNError/Code/featureNotAvailable`` if nothing of such a group can be taken back; otherwise the
    ///   errors of ``execute(_:)``.
    public func takeBack(
        _ group: CNSaveGroup, in new: CNSaveGroup? = nil, overwriting: Bool = false, onlyCounting: Bool = false
    ) throws -> CNTakenBack {
        if !onlyCounting { ChangeWatch.shared.saved() }
        return CNTakenBack(
            try Self.ask { () throws(CallFailure) in
                try BrokerCalls.shared.call(.takeBack) { writer in
                    writer.member("group", group.identifier)
                    writer.member("newGroup", new?.identifier)
                    writer.member("label", new?.label)
                    writer.member("force", overwriting)
                    writer.member("dryRun", onlyCounting)
                }
            })
    }

    /// Returns the groups of saves that this app may take back, the newest first, at most 1,000. An extension of this
    /// library.
    ///
    /// - Returns: also for how many days the person's address book keeps what a save changed; 0 if it does not.
    public func saveGroups() throws -> (groups: [CNSaveGroupRecord], days: Int) {
        let reply = try Self.ask { () throws(CallFailure) in try BrokerCalls.shared.call(.listSaves) }
        let groups = reply["saves"]?.elements?.map { save in
            func count(_ name: String) -> Int { save[name]?.integer.flatMap { Int(exactly: $0) } ?? 0 }
            return CNSaveGroupRecord(
                group: CNSaveGroup(identifier: save["group"]?.string ?? "", label: save["label"]?.string ?? ""),
                date: save["time"]?.string.flatMap { Date(wire: $0) } ?? .distantPast, added: count("added"),
                changed: count("changed"), deleted: count("deleted"), takesBack: save["takesBack"]?.string,
                isTakenBack: save["takenBack"]?.bool ?? false)
        }
        return (groups ?? [], reply["days"]?.integer.flatMap { Int(exactly: $0) } ?? 0)
    }
}
