import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation
import Synchronization

/// The person's contacts, groups and containers, as far as they let this app.
///
/// A store may be used from any thread, and there may be many. Its calls block: where nothing was decided yet, until the
/// person has answered the question that the call brings up. No call waits longer than 300 seconds in all, and five for a broker
/// that is being restarted; most take less than a millisecond. ``requestAccess(for:completionHandler:)`` does not block. What
/// a store returned does not need it any more.
///
/// Errors are ``CNError``: `authorizationDenied` where the app may not, `communicationError` where the broker is not there.
public final class CNContactStore: NSObject, Sendable {
    let undo = Mutex<UndoState>(UndoState())

    /// Makes a store. This asks nobody, and waits for nothing.
    public override init() {
        super.init()
        ChangeWatch.shared.start()
    }

    /// Makes a store, and says whether the process wants `CNContactStoreDidChange`. An extension of this library.
    ///
    /// - Parameter observingChanges: `false` spares a program that does one thing and ends a thread and a connection. Another
    ///   store of the same process may want them all the same.
    public init(observingChanges: Bool) {
        super.init()
        if observingChanges { ChangeWatch.shared.start() }
    }

    // MARK: Authorization

    private static let purpose = Mutex<String?>(nil)

    /// Why the app wants contacts, in its own words: the person reads them, in quotation marks, when they are asked. At most
    /// 1,024 bytes; what is longer is cut. Set it before the first call to a store.
    ///
    /// An extension of this library: on Apple's systems `NSContactsUsageDescription` stands in the app's Info.plist, and
    /// Linux knows no such file. Where a program has one all the same (`Bundle.main`), its text counts until this is set.
    public static var usageDescription: String? {
        get { purpose.withLock { $0 } ?? inBundle }
        set { purpose.withLock { $0 = newValue } }
    }

    /// The purpose as a call carries it; looked up once, as calls are many.
    static var purposeOfCall: String? {
        purpose.withLock { purpose in
            if purpose == nil { purpose = inBundle ?? "" }
            guard let text = purpose, !text.isEmpty else { return nil }
            return shortened(text)
        }
    }

    /// As much of the app's own words as a call carries.
    static func shortened(_ text: String) -> String {
        guard text.utf8.count > ParameterLimits.purpose else { return text }
        var cut = text
        while cut.utf8.count > ParameterLimits.purpose { cut.removeLast() }
        return cut
    }

    private static let inBundle = Bundle.main.object(forInfoDictionaryKey: "NSContactsUsageDescription") as? String

    /// What was decided for this app. Asks nobody. Where there is no broker, nothing was.
    public class func authorizationStatus(for entityType: CNEntityType) -> CNAuthorizationStatus {
        guard let reply = try? BrokerCalls.shared.call(.getAuthorization) else { return .notDetermined }
        let status = CNAuthorizationStatus(wire: reply["status"]?.string)
        if status != .notDetermined { isDecided.store(true, ordering: .relaxed) }
        return status
    }

    /// Has the person asked whether this app may see contacts, if nothing was decided yet.
    ///
    /// Returns at once. The handler runs on a thread of this library's own: `true` where the app may see all contacts, or some
    /// of them (``CNAuthorizationStatus/limited``); otherwise `false` and the reason.
    public func requestAccess(
        for entityType: CNEntityType, completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        requestAccess(for: entityType, keysToOffer: [], completionHandler: completionHandler)
    }

    /// The same, with keys that the person is offered to share besides the ordinary ones: ``CNContactNoteKey``,
    /// ``CNContactExtraPropertiesKey``, and ``CNGroupsOfOthersKey``. An extension of this library.
    public func requestAccess(
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

    /// Has the person asked whether this app may see contacts, if nothing was decided yet. Suspends until they have answered.
    ///
    /// - Throws: ``CNError/Code/authorizationDenied`` where the app may see none.
    @discardableResult
    public func requestAccess(for entityType: CNEntityType) async throws -> Bool {
        try await requestAccess(for: entityType, keysToOffer: [])
    }

    /// The same, with keys that the person is offered to share besides the ordinary ones: ``CNContactNoteKey``,
    /// ``CNContactExtraPropertiesKey``, and ``CNGroupsOfOthersKey``. An extension of this library.
    @discardableResult
    public func requestAccess(for entityType: CNEntityType, keysToOffer: [any CNKeyDescriptor]) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            requestAccess(for: entityType, keysToOffer: keysToOffer) { isGranted, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: isGranted) }
            }
        }
    }

    /// Waits for the person on a thread of its own, so that no thread of the app's does.
    ///
    /// No queue of Dispatch: its threads want to set their priority, and where they may not they write that to the system's
    /// journal, which keeps the program's command line beside it, with whatever names stand there.
    static func whileAppGoesOn(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = "contacts-ask"
        thread.stackSize = 512 * 1_024
        thread.start()
    }

    private static func askForAccess(_ keys: ContactKeySet = []) throws(CNError) {
        let reply = try answer {
            () throws(CallFailure) in
            try BrokerCalls.shared.call(.requestAccess) {
                $0.member("purpose", purposeOfCall)
                // Those that are not named are ordinary.
                if !keys.isEmpty {
                    $0.member("keys", ContactKeySet.all.subtracting(.named).union(keys).grantNames)
                }
            }
        }
        switch CNAuthorizationStatus(wire: reply["status"]?.string) {
        case .authorized, .limited: isDecided.store(true, ordering: .relaxed)
        case .notDetermined:
            throw CNError(
                .authorizationDenied, reason: "the question was not answered",
                details: CNError.Details(name: "AuthorizationNotDetermined"))
        case .denied: throw CNError(.authorizationDenied)
        case .restricted: throw CNError(.authorizationDenied, reason: "the administrator's policy does not allow it")
        }
    }

    // MARK: Calling

    private static let isDecided = Atomic(false)

    /// Has the person asked, with the app's purpose, before the first call that cannot say it. Fetching can.
    static func askFirst() throws(CNError) {
        guard !isDecided.load(ordering: .relaxed), purposeOfCall != nil else { return }
        // Without a broker the call itself says so.
        guard let reply = try? BrokerCalls.shared.call(.getAuthorization) else { return }
        if reply["status"]?.says("notDetermined") == true { try askForAccess() }
        isDecided.store(true, ordering: .relaxed)
    }

    /// Makes a call that may have the person asked, and translates what it failed with.
    static func ask<Answer>(_ call: () throws(CallFailure) -> Answer) throws(CNError) -> Answer {
        try WaitBudget.forOneCall { () throws(CNError) in
            try askFirst()
            return try answer(call)
        }
    }

    /// Translates what a call failed with.
    static func answer<Answer>(_ call: () throws(CallFailure) -> Answer) throws(CNError) -> Answer {
        do throws(CallFailure) {
            return try call()
        } catch {
            throw error.asError()
        }
    }
}

extension CNAuthorizationStatus {
    /// A word that this version does not know means that nothing certain was decided.
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
