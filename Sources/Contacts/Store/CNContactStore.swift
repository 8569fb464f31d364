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
public final class CNContactStore: NSObject, Sendable {
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
    public class func authorizationStatus(for entityType: CNEntityType) -> CNAuthorizationStatus {
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
    @preconcurrency public func requestAccess(
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
        let keys = Result { () throws(CNError) in try ContactKeySet(offered: keysToOffer) }
        Self.whileAppGoesOn {
            do throws(CNError) {
                try Self.askForAccess(keys.get())
                completionHandler(true, nil)
            } catch {
                completionHandler(false, error)
            }
        }
    }

    /// Prompts the person for access to contacts if they have not decided on it, and suspends until they have
    /// answered.
    ///
    /// - Throws: ``CNError/Code/authorizationDenied`` if the app has no access.
    @discardableResult
    public func requestAccess(for entityType: CNEntityType) async throws -> Bool {
        try await requestAccess(for: entityType, keysToOffer: [])
    }

    /// The same as ``requestAccess(for:keysToOffer:completionHandler:)``, but suspends until the person has
    /// answered. An extension of this library.
    @discardableResult
    public func requestAccess(for entityType: CNEntityType, keysToOffer: [any CNKeyDescriptor]) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            requestAccess(for: entityType, keysToOffer: keysToOffer) { isGranted, error in
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

    private static func askForAccess(_ keys: ContactKeySet = []) throws(CNError) {
        // A first prompt must list all keys to offer. A later one asks only for those that the app wants in addition,
        // and not again for ordinary keys that the person withheld.
        let isFirst = keys.isEmpty || authorizationStatus(for: .contacts) == .notDetermined
        let named = isFirst ? ContactKeySet.all.subtracting(.named).union(keys) : keys
        let reply = try answer {
            () throws(CallFailure) in
            try BrokerCalls.shared.call(.requestAccess) {
                $0.member("purpose", purposeOfCall)
                if !keys.isEmpty { $0.member("keys", named.grantNames) }
            }
        }
        switch CNAuthorizationStatus(wire: reply["status"]?.string) {
        case .authorized, .limited: isDecided.store(true, ordering: .relaxed)
        case .notDetermined:
            throw CNError(
                .authorizationDenied, reason: "the person did not answer the prompt",
                details: CNError.Details(name: "AuthorizationNotDetermined"))
        case .denied: throw CNError(.authorizationDenied)
        case .restricted:
            if let unreadable = reply["reason"]?.string { throw CNError(refusedBecause: unreadable) }
            throw CNError(.authorizationDenied, reason: "the administrator's policy does not allow it")
        }
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
