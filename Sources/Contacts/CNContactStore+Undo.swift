import ContactsModel
import Foundation

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
    /// Groups and links are not taken back, nor what the app may not read: after such a save there is nothing to undo.
    ///
    /// - Throws: ``CNError/Code/featureNotAvailable`` where there is nothing to take back.
    public func undoLastSave() throws {
        guard let plan = undo.withLock({ $0.plan }) else {
            throw CNError(.featureNotAvailable, reason: "there is no save that can be taken back")
        }
        _ = try save(plan.steps, author: nil)
        undo.withLock { $0.plan = nil }
    }
}

/// The steps that take back others, made before those are taken.
struct UndoPlan: Sendable {
    private enum Step: Sendable {
        /// Deletes what a step of that place added.
        case delete(place: Int)
        case put(ContactValues, ContactKeySet)
        case add(ContactValues)
    }

    private var plan: [Step] = []
    private var added: [Int: String] = [:]

    /// - Returns: `nil` where one of the steps cannot be taken back.
    init?(of steps: [CNSaveRequest.Step], in store: CNContactStore) throws {
        var wanted: [String: ContactKeySet] = [:]
        for step in steps {
            switch step {
            case .add: continue
            case .update(let contact): wanted[contact.identifier, default: []].formUnion(contact.changes.changed)
            case .delete(let contact): wanted[contact.identifier] = Self.everything
            default: return nil
            }
        }
        let former = try Self.fetch(wanted, store)
        for (place, step) in steps.enumerated().reversed() {
            switch step {
            case .add: plan.append(.delete(place: place))
            case .update(let contact):
                guard let values = former[contact.identifier] else { return nil }
                plan.append(.put(values, contact.changes.changed))
            case .delete(let contact):
                guard let values = former[contact.identifier] else { return nil }
                plan.append(.add(values))
            default: return nil
            }
        }
    }

    /// What an app may read without naming it, and write.
    private static let everything = ContactKeySet.all.subtracting(.named).subtracting(
        ContactKeySet([.creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData]))

    private static func fetch(
        _ wanted: [String: ContactKeySet], _ store: CNContactStore
    ) throws -> [String: ContactValues] {
        guard !wanted.isEmpty else { return [:] }
        let keys = wanted.values.reduce(into: ContactKeySet()) { $0.formUnion($1) }
        let request = CNContactFetchRequest(keysToFetch: [TaskKeys(keys: keys)])
        request.predicate = CNContact.predicateForContacts(withIdentifiers: Array(wanted.keys))
        var former: [String: ContactValues] = [:]
        _ = try store.fetch(request) {
            former[$0.identifier] = $0.values
            return true
        }
        return former
    }

    /// With the identifiers that the save gave.
    func completed(_ identifiers: [String]) -> UndoPlan {
        var completed = self
        completed.added = Dictionary(uniqueKeysWithValues: identifiers.enumerated().map { ($0.offset, $0.element) })
        return completed
    }

    var steps: [CNSaveRequest.Step] {
        plan.compactMap { step in
            switch step {
            case .delete(let place):
                let values = ContactValues(identifier: added[place] ?? "")
                return .delete(CNMutableContact(values, keys: []))
            case .put(let values, let keys): return .update(CNMutableContact(values, writing: keys))
            case .add(var values):
                values.identifier = UUID().uuidString
                return .add(CNMutableContact(values, keys: .all), container: nil)
            }
        }
    }
}
