import Foundation
import JSON

/// A save that is under way: what ``CNContactStore/beginExecuting(_:)`` returns. An extension of this library.
///
/// It is there for programs with something else to do meanwhile: to read what is to be saved next, or to listen to whom it is for. Whoever
/// began the save finishes it, on one thread at a time. When it is let go of before it is finished, that is ``abandon()``.
public final class CNPendingSave {
    private let store: CNContactStore
    private let request: CNSaveRequest
    private let steps: [CNSaveRequest.Step]
    private let undoing: UndoPlan?
    private var call: PendingCall?

    init(_ request: CNSaveRequest, in store: CNContactStore) throws {
        (self.request, self.store, steps) = (request, store, request.steps)
        guard !steps.isEmpty else {
            undoing = nil
            return
        }
        try CNContactStore.require(bounded: steps)
        undoing = store.keepsUndo ? try UndoPlan(of: steps, in: store) : nil
        call = try store.begin(steps, author: request.transactionAuthor)
    }

    /// For poll(2) and event loops: it has something to read when the answer has come, or a part of it. It belongs to the save; -1 once
    /// that is over.
    public var fileDescriptor: Int32 { call?.fileDescriptor ?? -1 }

    /// Whether the answer was read already, with what else came. Look here before you wait for ``fileDescriptor``, which does not
    /// tell of it any more.
    public var isAnswered: Bool { call?.isAnswered ?? true }

    /// Waits for the answer, 300 seconds at most. When this returns the save is on the disk, and what was added has its
    /// identifier, as after ``CNContactStore/execute(_:)``.
    ///
    /// - Throws: as ``CNContactStore/execute(_:)``. Once it has returned or thrown, it returns at once.
    public func finish() throws {
        guard try !finish(within: Self.bound) else { return }
        abandon()
        throw CallFailure(.timedOut).asError()
    }

    /// Waits for the answer as long as that, 300 seconds at most.
    ///
    /// - Parameter seconds: 0 only looks.
    /// - Returns: `false` where it has not come: wait again, or ``abandon()``.
    /// - Throws: as ``finish()``.
    public func finish(within seconds: TimeInterval) throws -> Bool {
        guard let call else { return true }
        let answer: JSONValue?
        do throws(CallFailure) {
            answer = try call.poll(within: .seconds(max(0, min(seconds, Self.bound))))
        } catch {
            self.call = nil
            throw error.asError(saving: steps)
        }
        guard let answer else { return false }
        self.call = nil
        store.saved(
            steps, as: CNContactStore.identifiers(answer), undoing, refetching: request.shouldRefetchContacts)
        return true
    }

    /// Waits no more. Whether the save is made nobody knows then: not before its contacts are fetched.
    public func abandon() {
        call?.abandon()
        call = nil
    }

    private static let bound: TimeInterval = 300
}

extension CNContactStore {
    /// Sends a save, as ``execute(_:)``, and returns before it is answered. An extension of this library.
    ///
    /// The request's contacts are looked at now; they have their identifiers when ``CNPendingSave/finish()`` returns. Saves that are
    /// under way at the same time are made in any order.
    ///
    /// - Throws: ``CNError``, where it could not be sent, or what was written of a contact had not been fetched.
    public func beginExecuting(_ saveRequest: CNSaveRequest) throws -> CNPendingSave {
        try CNPendingSave(saveRequest, in: self)
    }
}
