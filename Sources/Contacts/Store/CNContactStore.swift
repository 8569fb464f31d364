import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation
import Synchronization

/// The person's contacts, groups and containers that this app may see.
///
/// A store is safe to use from any thread, and a process may create several stores. Calls block, except
/// ``requestAccess(for:completionHandler:)``. If the person has not decided on access, a call that needs
/// access prompts the person and waits for the answer. A call waits at most 300 seconds in all, and at most 5
/// seconds for a broker that restarts. Returned objects stay valid without the store.
///
/// Methods throw ``CNError``: for example `authorizationDenied` if the app has no access, or
/// `communicationError` if the broker cannot be reached.
///
/// A subclass, such as one for tests, can override Apple's methods. The library's own work, such as an undo, does
/// not use the overrides.
open class CNContactStore: NSObject, @unchecked Sendable {
    // Proof that the class is Sendable: its only stored property is a constant that is Sendable. The compiler cannot
    // check this, because the class is open. A subclass must state the same for its own properties.

    let undo = Mutex<UndoState>(UndoState())

    /// Creates a store. This does not prompt the person and does not block.
    public override init() {
        super.init()
        ChangeWatch.shared.start()
    }

    /// Creates a store, and chooses whether it posts `CNContactStoreDidChange`. An extension of this library.
    ///
    /// - Parameter observingChanges: `false` saves a thread and a connection, for programs that do one thing
    ///   and exit. Another store in the same process may still observe changes.
    public init(observingChanges: Bool) {
        super.init()
        if observingChanges { ChangeWatch.shared.start() }
    }

    // MARK: Authorization

    private static let purpose = Mutex<String?>(nil)

    /// The purpose: the app's own text that says why it asks for contacts. The prompt shows this text in
    /// quotation marks, cut at 1,024 bytes. Set it before the first call to a store.
    ///
    /// An extension of this library. On Apple's systems the text is `NSContactsUsageDescription` in the app's
    /// Info.plist. On Linux, the library uses the value of that key in `Bundle.main` until this property is
    /// set.
    public static var usageDescription: String? {
        get { purpose.withLock { $0 } ?? inBundle }
        set { purpose.withLock { $0 = newValue } }
    }

    /// The purpose that a call carries; `nil` if the app has not given one.
    static var purposeOfCall: String? {
        purpose.withLock { purpose in
            if purpose == nil { purpose = inBundle ?? "" }
            guard let text = purpose, !text.isEmpty else { return nil }
            return shortened(text)
        }
    }

    /// Cuts the purpose to the length that a call may carry.
    static func shortened(_ text: String) -> String {
        guard text.utf8.count > ParameterLimits.purpose else { return text }
        var cut = text
        while cut.utf8.count > ParameterLimits.purpose { cut.removeLast() }
        return cut
    }

    private static let inBundle = Bundle.main.object(forInfoDictionaryKey: "NSContactsUsageDescription") as? String

    /// Returns this app's authorization level. This never prompts. If the call fails, for example because the
    /// broker cannot be reached, this returns `notDetermined`.
    open class func authorizationStatus(for entityType: CNEntityType) -> CNAuthorizationStatus {
        guard let reply = try? BrokerCalls.shared.call(.getAuthorization) else { return .notDetermined }
        let status = CNAuthorizationStatus(wire: reply["status"]?.string)
        if status != .notDetermined { isDecided.store(true, ordering: .relaxed) }
        return status
    }

    /// Prompts the person for access to contacts if they have not decided on it.
    ///
    /// This returns at once. The handler runs on a thread of this library. It receives `true` if the app may
    /// see all contacts or some (``CNAuthorizationStatus/limited``); otherwise `false` and the error.
    ///
    /// As on Apple's systems, a program in Swift 6 mode whose handler captures a mutable object gets a warning, not
    /// an error.
    @preconcurrency open func requestAccess(
        for entityType: CNEntityType, completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        requestAccess(for: entityType, keysToOffer: [], completionHandler: completionHandler)
    }

    /// Prompts the person for access to contacts if they have not decided on it. The prompt also offers these
    /// keys, which must be granted by name: ``CNContactNoteKey``, ``CNContactExtraPropertiesKey`` and
    /// ``CNGroupsOfOthersKey``.
    ///
    /// If the app has access without some of these keys, prompts for them alone. The handler then receives `true`
    /// even if the person does not give them; ``authorizedKeys()`` returns the keys that the app may read. An
    /// extension of this library.
    @preconcurrency public func requestAccess(
        for entityType: CNEntityType, keysToOffer: [any CNKeyDescriptor],
        completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        requestAccess(for: entityType, keysToOffer: keysToOffer, changes: .own, completionHandler: completionHandler)
    }

    /// Prompts the person for access to contacts if they have not decided on it. The prompt says what the app wants to
    /// change, and the person may give less; ``authorizedChanges()`` returns what they gave. An extension of this
    /// library.
    ///
    /// - Parameter keysToOffer: as in ``requestAccess(for:keysToOffer:completionHandler:)``.
    @preconcurrency public func requestAccess(
        for entityType: CNEntityType, keysToOffer: [any CNKeyDescriptor] = [], changes: CNContactChangeRight,
        completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let keys = Result { () throws(CNError) in try ContactKeySet(offered: keysToOffer) }
        Self.whileAppGoesOn {
            do throws(CNError) {
                try Self.askForAccess(keys.get(), changes)
                completionHandler(true, nil)
            } catch {
                completionHandler(false, error)
            }
        }
    }

    /// Prompts the person for access to contacts if they have not decided on it, and suspends until they have
    /// answered.
    ///
    /// This calls ``requestAccess(for:completionHandler:)``, so a subclass needs to override only that method.
    ///
    /// - Throws: ``CNError/Code/authorizationDenied`` if the app has no access.
    @discardableResult
    open func requestAccess(for entityType: CNEntityType) async throws -> Bool {
        try await Self.answer { requestAccess(for: entityType, completionHandler: $0) }
    }

    /// The same as ``requestAccess(for:keysToOffer:completionHandler:)``, but suspends until the person has
    /// answered. An extension of this library.
    @discardableResult
    public func requestAccess(for entityType: CNEntityType, keysToOffer: [any CNKeyDescriptor]) async throws -> Bool {
        try await Self.answer { requestAccess(for: entityType, keysToOffer: keysToOffer, completionHandler: $0) }
    }

    /// The same as ``requestAccess(for:keysToOffer:changes:completionHandler:)``, but suspends until the person has
    /// answered. An extension of this library.
    @discardableResult
    public func requestAccess(
        for entityType: CNEntityType, keysToOffer: [any CNKeyDescriptor] = [], changes: CNContactChangeRight
    ) async throws -> Bool {
        try await Self.answer {
            requestAccess(for: entityType, keysToOffer: keysToOffer, changes: changes, completionHandler: $0)
        }
    }

    /// Suspends until a request for access calls its handler.
    private static func answer(
        _ request: (@escaping @Sendable (Bool, (any Error)?) -> Void) -> Void
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            request { isGranted, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: isGranted) }
            }
        }
    }

    /// Runs a blocking call on a separate thread, so that it does not block a thread of the app.
    ///
    /// This does not use a Dispatch queue, because Dispatch's threads try to set their priority. If that is
    /// not permitted, they write a line to the system's journal. The journal also stores the program's
    /// command line, including any names in it.
    static func whileAppGoesOn(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = "contacts-ask"
        thread.stackSize = 512 * 1_024
        thread.start()
    }

    /// Suspends until a blocking call has returned, which runs on a separate thread.
    static func suspended<Answer: Sendable>(_ body: @escaping @Sendable () throws -> Answer) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            whileAppGoesOn { continuation.resume(with: Result { try body() }) }
        }
    }

    private static func askForAccess(
        _ keys: ContactKeySet = [], _ changes: CNContactChangeRight = .own
    ) throws(CNError) {
        // A first prompt must list all keys to offer. A later one asks only for those that the app wants in addition,
        // and not again for ordinary keys that the person withheld.
        let isFirst = keys.isEmpty || CNContactStore.authorizationStatus(for: .contacts) == .notDetermined
        let named = isFirst ? ContactKeySet.all.subtracting(.named).union(keys) : keys
        let reply = try answer {
            () throws(CallFailure) in
            try BrokerCalls.shared.call(.requestAccess) {
                $0.member("purpose", purposeOfCall)
                if !keys.isEmpty { $0.member("keys", named.grantNames) }
                if changes != .own { $0.member("changes", changes.rawValue) }
            }
        }
        switch CNAuthorizationStatus(wire: reply["status"]?.string) {
        case .authorized, .limited: isDecided.store(true, ordering: .relaxed)
        case .notDetermined: throw CNError.unanswered
        case .denied: throw CNError(.authorizationDenied)
        case .restricted:
            if let unreadable = reply["reason"]?.string { throw CNError(refusedBecause: unreadable) }
            throw CNError(.authorizationDenied, reason: "the administrator's policy does not allow it")
        }
    }

    // MARK: Fetching and saving. Swift does not override methods of extensions, so Apple's methods are here.

    /// Returns the contact with this identifier, merged with its linked contacts that the app may see.
    ///
    /// - Throws: ``CNError/Code/recordDoesNotExist``, also if the app may not see the contact.
    open func unifiedContact(
        withIdentifier identifier: String, keysToFetch keys: [any CNKeyDescriptor]
    ) throws -> CNContact {
        try one(.identifiers([identifier]), keys, identifier)
    }

    /// Returns the contacts that match a predicate. Linked contacts are merged.
    ///
    /// - Throws: ``CNError/Code/predicateInvalid`` if ``CNContact`` did not make the predicate.
    open func unifiedContacts(
        matching predicate: NSPredicate, keysToFetch keys: [any CNKeyDescriptor]
    ) throws -> [CNContact] {
        let request = CNContactFetchRequest(keysToFetch: keys)
        request.predicate = predicate
        return try contacts(request).contacts
    }

    /// Returns the person's own contact.
    ///
    /// - Throws: ``CNError/Code/recordDoesNotExist`` if the person has not chosen one, or if the app may not
    ///   see it.
    open func unifiedMeContactWithKeys(toFetch keys: [any CNKeyDescriptor]) throws -> CNContact {
        try one(.me, keys, nil)
    }

    /// Calls a block with each contact that matches a request. The library does not keep the whole list in
    /// memory.
    ///
    /// - Parameters:
    ///   - request: selects the contacts, keys and sort order.
    ///   - block: receives a contact, and a flag that it may set to end the enumeration.
    open func enumerateContacts(
        with request: CNContactFetchRequest, usingBlock block: (CNContact, UnsafeMutablePointer<ObjCBool>) -> Void
    ) throws {
        _ = try fetch(request) { contact in
            var stop = ObjCBool(false)
            // Sound: the pointer is valid only while the block runs, as on Apple's systems.
            unsafe withUnsafeMutablePointer(to: &stop) { unsafe block(contact, $0) }
            return !stop.boolValue
        }
    }

    /// Returns the groups that match the predicate; `nil` returns all groups that the app may see.
    open func groups(matching predicate: NSPredicate?) throws -> [CNGroup] { try fetchGroups(predicate) }

    /// Returns the containers that match the predicate; `nil` returns all containers that the app may see.
    open func containers(matching predicate: NSPredicate?) throws -> [CNContainer] { try fetchContainers(predicate) }

    /// Returns the identifier of the container for new contacts; empty if the app has no access or the call
    /// fails. Like every call that needs access, this may prompt the person.
    open func defaultContainerIdentifier() -> String { (try? containers { _ in })?.standard ?? "" }

    /// The history token for the current state; `nil` if the app has no access, or if the broker cannot be
    /// reached. Reading it never prompts.
    open var currentHistoryToken: Data? { historyToken() }

    /// Saves a request as a whole: either all of its steps or none.
    ///
    /// If two saves change the same property, the last one wins. When this returns, the save is durable on
    /// disk, and added records have their identifiers.
    ///
    /// A request has at most 2,000 steps and 16 MiB, photos included. It may touch at most about 10,000
    /// cards, where each card of a unified contact counts. Beyond these limits the save fails with
    /// ``CNError/Code/policyViolation``, and nothing is saved. Apple's systems have no such limits. The
    /// library does not split a request, because one part could then fail after others were saved. An app
    /// that does not need this guarantee can execute several requests.
    ///
    /// If the address book has no space for the save, the error has the same code and a reason. A request
    /// that only deletes is never refused for lack of space.
    ///
    /// - Throws: ``CNError``. If a step is refused, the error contains the step's record. After
    ///   `communicationError`, the save may or may not have been made.
    open func execute(_ saveRequest: CNSaveRequest) throws {
        try WaitBudget.forOneCall { try beginExecuting(saveRequest).finish() }
    }

    // MARK: Calling

    private static let isDecided = Atomic(false)

    /// Requests access before the first call that cannot carry the app's purpose, so that the prompt shows
    /// the purpose. Among the calls that need access, only fetches of contacts can carry it.
    static func askFirst() throws(CNError) {
        guard !isDecided.load(ordering: .relaxed), purposeOfCall != nil else { return }
        // If this call fails, the app's call reports the error.
        guard let reply = try? BrokerCalls.shared.call(.getAuthorization) else { return }
        if reply["status"]?.says("notDetermined") == true { try askForAccess() }
        isDecided.store(true, ordering: .relaxed)
    }

    /// Makes a call that may prompt the person, and translates its errors into ``CNError``.
    static func ask<Answer>(_ call: () throws(CallFailure) -> Answer) throws(CNError) -> Answer {
        try WaitBudget.forOneCall { () throws(CNError) in
            try askFirst()
            return try answer(call)
        }
    }

    /// Translates the errors of a call into ``CNError``.
    static func answer<Answer>(_ call: () throws(CallFailure) -> Answer) throws(CNError) -> Answer {
        do throws(CallFailure) {
            return try call()
        } catch {
            throw error.asError()
        }
    }
}

extension CNAuthorizationStatus {
    /// Decodes the Varlink type `AuthorizationStatus`. An unknown level becomes `notDetermined`.
    init(wire: String?) {
        switch wire {
        case "full": self = .authorized
        case "limited": self = .limited
        case "denied": self = .denied
        case "restricted": self = .restricted
        default: self = .notDetermined
        }
    }
}
