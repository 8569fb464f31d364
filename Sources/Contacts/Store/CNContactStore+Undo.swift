import BrokerModel
import Foundation
import Synchronization

/// Whether a store keeps undo plans, and the plan for its last save.
struct UndoState: Sendable {
    var keeps = false
    var plan: UndoPlan?
}

extension CNContactStore {
    /// Whether ``undoLastSave()`` can undo saves of this store. The default is `false`, because keeping an
    /// undo plan makes each save first fetch the records that it changes. An extension of this library.
    public var keepsUndo: Bool {
        get { undo.withLock { $0.keeps } }
        set {
            undo.withLock {
                $0.keeps = newValue
                if !newValue { $0.plan = nil }
            }
        }
    }

    /// Whether ``undoLastSave()`` has a save to undo. An extension of this library.
    public var canUndo: Bool { undo.withLock { $0.plan != nil } }

    /// Undoes the last save of this store. The undo is a single save. Added records are deleted, changed
    /// properties get their former values, and deleted records are added again under new identifiers. The
    /// undo overwrites changes that other programs have made to the same properties since the save. An
    /// extension of this library.
    ///
    /// Contacts return to their groups, groups get back their members, parents and subgroups, and cards are
    /// linked as before. If the app may not read all keys of a deleted contact, the values of the other keys
    /// are lost.
    ///
    /// Some saves cannot be undone, and after one of them ``canUndo`` is `false`:
    ///
    /// - saves that change links, containers or the person's own contact, since an app cannot read everything
    ///   that the address book stores about these
    /// - saves that delete the person's own contact
    /// - saves that add a unified contact to a group or remove it from a group
    /// - saves whose undo takes more than 2,000 steps
    ///
    /// - Throws: ``CNError/Code/featureNotAvailable`` if there is nothing to undo.
    public func undoLastSave() throws {
        guard let plan = undo.withLock({ $0.plan }) else {
            throw CNError(.featureNotAvailable, reason: "there is no save to undo")
        }
        _ = try WaitBudget.forOneCall { () throws(CNError) in try save(plan.steps, author: nil) }
        undo.withLock { $0.plan = nil }
    }
}
