import BrokerInterface
import BrokerJSON
import BrokerVarlinkClient
import Foundation

/// A save that is prepared or under way: what ``CNContactStore/beginExecuting(_:)`` and ``CNContactStore/prepare(_:)`` return. An
/// extension of this library.
///
/// It is there for programs with something else to do meanwhile: to read what is to be saved next, or to listen to whom it is for. Whoever
/// began the save finishes it, on one thread at a time. When it is let go of before it is finished, that is ``abandon()``.
public final class CNPendingSave {
    private let store: CNContactStore
    private let request: CNSaveRequest
    private let steps: [CNSaveRequest.Step]
    private var state: State

    private enum State {
        /// With the steps as they go to the broker.
        case prepared([UInt8])
        case underWay(PendingCall, UndoPlan?)
        case over
    }

    init(_ request: CNSaveRequest, in store: CNContactStore) throws(CNError) {
        (self.request, self.store, steps) = (request, store, request.steps)
        guard !steps.isEmpty else {
            state = .over
            return
        }
        try CNContactStore.require(bounded: steps)
        state = .prepared(try CNContactStore.written(steps))
    }

    /// Sends what was prepared, and has the person asked before where nothing was decided yet: 300 seconds at most. Once it was sent,
    /// this does nothing.
    ///
    /// - Throws: ``CNError``, where it could not be sent: then it is not made.
    public func begin() throws {
        guard case .prepared(let changes) = state else { return }
        try WaitBudget.forOneCall {
            let undoing = store.keepsUndo ? try UndoPlan(of: steps, in: store) : nil
            state = .over
            state = .underWay(try CNContactStore.begin(changes, author: request.transactionAuthor), undoing)
        }
    }

    /// For poll(2) and event loops: it has something to read when the answer has come, or a part of it. It belongs to the save; -1
    /// before that is sent, and once it is over.
    public var fileDescriptor: Int32 {
        if case .underWay(let call, _) = state { call.fileDescriptor } else { -1 }
    }

    /// Whether the answer was read already, with what else came. Look here before you wait for ``fileDescriptor``, which does not
    /// tell of it any more.
    public var isAnswered: Bool {
        switch state {
        case .prepared: false
        case .underWay(let call, _): call.isAnswered
        case .over: true
        }
    }

    /// Waits for the answer, 300 seconds at most, after sending what is not sent yet. When this returns the save is on the disk, and what
    /// was added has its identifier, as after ``CNContactStore/execute(_:)``.
    ///
    /// - Throws: as ``CNContactStore/execute(_:)``. Once this has returned or thrown, it returns at once.
    public func finish() throws {
        try WaitBudget.forOneCall {
            guard try !finish(within: Self.bound) else { return }
            abandon()
            throw CallFailure(.timedOut).asError()
        }
    }

    /// Waits for the answer as long as that, 300 seconds at most; what is not sent yet is sent before.
    ///
    /// - Parameter seconds: 0 only looks.
    /// - Returns: `false` where it has not come: wait again, or ``abandon()``.
    /// - Throws: as ``finish()``.
    public func finish(within seconds: TimeInterval) throws -> Bool {
        try WaitBudget.forOneCall { try answered(within: seconds) }
    }

    private func answered(within seconds: TimeInterval) throws -> Bool {
        try begin()
        guard case .underWay(let call, let undoing) = state else { return true }
        let answer: JSONValue?
        do throws(CallFailure) {
            answer = try call.poll(within: .seconds(max(0, min(seconds, Self.bound))))
        } catch {
            state = .over
            throw error.asError(saving: steps)
        }
        guard let answer else { return false }
        state = .over
        store.saved(
            steps, as: CNContactStore.identifiers(answer), undoing, refetching: request.shouldRefetchContacts)
        return true
    }

    /// Waits no more. Of what was sent nobody knows then whether it is made: not before its contacts are fetched.
    public func abandon() {
        if case .underWay(let call, _) = state { call.abandon() }
        state = .over
    }

    private static let bound: TimeInterval = 300
}

extension CNContactStore {
    /// Does of a save what needs no broker, and returns before anything is sent: ``CNPendingSave/begin()`` does that. So the next save
    /// can be made ready while one is under way. An extension of this library.
    ///
    /// The request's contacts are looked at now. They have their identifiers when ``CNPendingSave/finish()`` returns.
    ///
    /// - Throws: ``CNError/Code/validationConfigurationError`` where what was written of a contact had not been fetched;
    ///   ``CNError/Code/policyViolation`` where there is more than one save can have.
    public func prepare(_ saveRequest: CNSaveRequest) throws -> CNPendingSave {
        try CNPendingSave(saveRequest, in: self)
    }

    /// Sends a save, as ``execute(_:)``, and returns before it is answered. An extension of this library.
    ///
    /// The request's contacts are looked at now. They have their identifiers when ``CNPendingSave/finish()`` returns. Saves that are
    /// under way at the same time are made in any order.
    ///
    /// - Throws: as ``prepare(_:)`` and ``CNPendingSave/begin()``.
    public func beginExecuting(_ saveRequest: CNSaveRequest) throws -> CNPendingSave {
        let save = try prepare(saveRequest)
        try save.begin()
        return save
    }

    /// The steps as `Change`s of the interface.
    static func written(_ steps: [CNSaveRequest.Step]) throws(CNError) -> [UInt8] {
        var changes = JSONWriter(reservingCapacity: 512 * steps.count)
        let names = CNSaveRequest.Step.names(in: steps)
        changes.beginArray()
        for step in steps { try step.write(naming: names, to: &changes) }
        changes.endArray()
        guard changes.bytes.count <= largestSave else { throw tooLarge("16 MiB", "is larger", largestSave) }
        return changes.bytes
    }

    /// Sends a save. What is begun and not answered may have been done: it is not begun again.
    static func begin(_ changes: [UInt8], author: String?) throws(CNError) -> PendingCall {
        try askFirst()
        ChangeWatch.shared.saved()
        return try answer { () throws(CallFailure) in
            try BrokerCalls.shared.begin(.saveContacts) { writer in
                writer.name("changes")
                writer.raw(changes)
                writer.member("author", author)
            }
        }
    }
}
