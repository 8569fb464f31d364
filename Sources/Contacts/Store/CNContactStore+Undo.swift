import BrokerModel
import Foundation
import Synchronization

/// What takes a save back.
struct UndoState: Sendable {
    var keeps = false
    var plan: UndoPlan?
}

extension CNContactStore {
    /// Whether saves of this store can be taken back with ``undoLastSave()``. Off at first: each save then fetches what it is
    /// about to change. An extension of this library.
    public var keepsUndo: Bool {
        get { undo.withLock { $0.keeps } }
        set {
            undo.withLock {
                $0.keeps = newValue
                if !newValue { $0.plan = nil }
            }
        }
    }

    /// Whether ``undoLastSave()`` has something to take back. An extension of this library.
    public var canUndo: Bool { undo.withLock { $0.plan != nil } }

    /// Takes back the last save of this store, in one step: what was added is deleted, what was changed is as it was, what was
    /// deleted is added again, under a new identifier. What others did meanwhile to the same properties is lost: the last one
    /// counts. An extension of this library.
    ///
    /// Contacts come back into their groups, groups with their members and with the groups around and within them, cards that
    /// were one person as one person. What the app may not read of a contact that was deleted does not come back.
    ///
    /// After a save that cannot be taken back there is nothing to undo, nor what was saved before it: links, containers and the
    /// person's own contact, of which the address book keeps more than it tells; a deletion of the person's own contact;
    /// and whatever would take more than 2,000 steps.
    ///
    /// - Throws: ``CNError/Code/featureNotAvailable`` where there is nothing to take back.
    public func undoLastSave() throws {
        guard let plan = undo.withLock({ $0.plan }) else {
            throw CNError(.featureNotAvailable, reason: "there is no save that can be taken back")
        }
        _ = try WaitBudget.forOneCall { () throws(CNError) in try save(plan.steps, author: nil) }
        undo.withLock { $0.plan = nil }
    }
}
