import BrokerInterface
import BrokerJSON
import BrokerVarlinkClient
import Foundation

/// A save that is prepared or sent, but not finished. ``CNContactStore/prepare(_:)`` and
/// ``CNContactStore/beginExecuting(_:)`` return one. An extension of this library.
///
/// While the save is under way, the program can do other work: read the next records to save, or serve its
/// own clients. Only one thread at a time may use this object. Releasing the object before the save is
/// finished has the same effect as ``abandon()``.
public final class CNPendingSave {
    private let store: CNContactStore
    private let request: CNSaveRequest
    private let steps: [CNSaveRequest.Step]
    private var state: State

    private enum State {
        /// The steps, encoded for the broker.
        case prepared([UInt8])
        case underWay(PendingCall, CNSaveGroup?)
        case over
    }

    init(_ request: CNSaveRequest, in store: CNContactStore) throws(CNError) {
        (self.request, self.store, steps) = (request, store, request.steps)
        guard !steps.isEmpty else {
            state = .over
            return
        }
        try CNContactStore.require(bounded: steps)
        do throws(CNError) {
            state = .prepared(try CNContactStore.written(steps))
        } catch {
            throw CNContactStore.unauthorized(error) ?? error
        }
    }

    /// Sends the prepared save. This may first prompt the person, and then waits at most 300 seconds for the
    /// answer. If the save was already sent, this does nothing.
    ///
    /// - Throws: ``CNError`` if the save could not be sent. In this case nothing is saved.
    public func begin() throws {
        guard case .prepared(let changes) = state else { return }
        try WaitBudget.forOneCall {
            let group = request.saveGroup ?? (store.keepsUndo ? CNSaveGroup() : nil)
            state = .over
            state = .underWay(try CNContactStore.begin(changes, author: request.transactionAuthor, in: group), group)
        }
    }

    /// A descriptor for poll(2) and event loops. It becomes readable when the reply or a part of it arrives.
    /// This object owns the descriptor, so do not close it. The value is -1 before the save is sent, and
    /// after the save is finished or abandoned.
    public var fileDescriptor: Int32 {
        if case .underWay(let call, _) = state { call.fileDescriptor } else { -1 }
    }

    /// Whether there is no reply to wait for: the reply was already read from the socket, or the save is
    /// finished or abandoned. Check this before you wait for ``fileDescriptor``, which does not become
    /// readable in these cases.
    public var isAnswered: Bool {
        switch state {
        case .prepared: false
        case .underWay(let call, _): call.isAnswered
        case .over: true
        }
    }

    /// Waits at most 300 seconds for the reply. If the save was not sent yet, this sends it first. When this
    /// returns, the save is durable on disk, and added records have their identifiers, as after
    /// ``CNContactStore/execute(_:)``.
    ///
    /// - Throws: the same errors as ``CNContactStore/execute(_:)``. After the save has succeeded or failed,
    ///   another call returns at once.
    public func finish() throws {
        try WaitBudget.forOneCall {
            guard try !finish(within: Self.bound) else { return }
            abandon()
            throw CallFailure(.timedOut).asError()
        }
    }

    /// Waits for the reply for this number of seconds, at most 300. If the save was not sent yet, this sends
    /// it first.
    ///
    /// - Parameter seconds: 0 polls without waiting.
    /// - Returns: `false` if the reply has not arrived. In this case wait again, or call ``abandon()``.
    /// - Throws: the same errors as ``finish()``.
    public func finish(within seconds: TimeInterval) throws -> Bool {
        try WaitBudget.forOneCall { try answered(within: seconds) }
    }

    private func answered(within seconds: TimeInterval) throws -> Bool {
        try begin()
        guard case .underWay(let call, let group) = state else { return true }
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
            steps, as: CNContactStore.identifiers(answer), in: group, refetching: request.shouldRefetchContacts)
        return true
    }

    /// Stops waiting for the reply. If the save was already sent, the broker may still apply it. To find out,
    /// fetch the contacts of the request.
    public func abandon() {
        if case .underWay(let call, _) = state { call.abandon() }
        state = .over
    }

    private static let bound: TimeInterval = 300
}

extension CNContactStore {
    /// Prepares a save; ``CNPendingSave/begin()`` sends it. A program can prepare the next save while another one is
    /// under way. An extension of this library.
    ///
    /// This call reads the request's contacts; later changes to them are not saved. Added contacts have their
    /// identifiers when ``CNPendingSave/finish()`` returns.
    ///
    /// - Throws: ``CNError/Code/validationConfigurationError`` if a contact has a changed property that was
    ///   not fetched; ``CNError/Code/unauthorizedKeys`` if the app may not fetch it;
    ///   ``CNError/Code/policyViolation`` if the request exceeds the limits of a save.
    public func prepare(_ saveRequest: CNSaveRequest) throws -> CNPendingSave {
        try CNPendingSave(saveRequest, in: self)
    }

    /// Sends a save like ``execute(_:)``, but returns before the reply. An extension of this library.
    ///
    /// This call reads the request's contacts; later changes to them are not saved. Added contacts have their
    /// identifiers when ``CNPendingSave/finish()`` returns. If several saves are under way at once, the
    /// broker may make them in any order.
    ///
    /// - Throws: the same errors as ``prepare(_:)`` and ``CNPendingSave/begin()``.
    public func beginExecuting(_ saveRequest: CNSaveRequest) throws -> CNPendingSave {
        let save = try prepare(saveRequest)
        try save.begin()
        return save
    }

    /// Returns the error for a changed property that the app could not fetch, because it lacks consent to it; `nil` if
    /// the error has another cause.
    fileprivate static func unauthorized(_ error: CNError) -> CNError? {
        guard error.code == .validationConfigurationError, let changed = error.keyPaths,
            let reply = try? BrokerCalls.shared.call(.getAuthorization), let granted = reply["keys"]?.elements
        else { return nil }
        let missing = changed.filter { key in !granted.contains { $0.says(key) } }
        return missing.isEmpty ? nil : error.with(.unauthorizedKeys)
    }

    /// Encodes the steps as an array of the Varlink type `Change`.
    static func written(_ steps: [CNSaveRequest.Step]) throws(CNError) -> [UInt8] {
        var changes = JSONWriter(reservingCapacity: 512 * steps.count)
        let names = CNSaveRequest.Step.names(in: steps)
        changes.beginArray()
        for step in steps { try step.write(naming: names, to: &changes) }
        changes.endArray()
        guard changes.bytes.count <= largestSave else { throw tooLarge("16 MiB", "is larger", largestSave) }
        return changes.bytes
    }

    /// Sends a save. This never retries: if no reply arrives, the broker may still have made the save.
    static func begin(
        _ changes: [UInt8], author: String?, in group: CNSaveGroup?
    ) throws(CNError) -> PendingCall {
        try askFirst()
        ChangeWatch.shared.saved()
        return try answer { () throws(CallFailure) in
            try BrokerCalls.shared.begin(.saveContacts) { writer in
                writer.name("changes")
                writer.raw(changes)
                writer.member("author", author)
                writer.member("group", group?.identifier)
                writer.member("label", group?.label)
            }
        }
    }
}
