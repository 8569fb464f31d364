import BrokerInterface
import BrokerJSON
import Foundation

/// The access button without a screen of its own: what the app’s button would be given, and ``press()`` for what happens when
/// it is pressed.
///
/// The person sees, at their agent, the contacts that match and that the app cannot see yet, and shares one or more with it, or
/// none. The app learns what is newly shared and nothing else. It need not have access: with the first shared contact its
/// access is ``CNAuthorizationStatus/limited``.
public struct ContactAccessButton {
    /// What the person is shown of a single match besides its name.
    public enum Caption: String, Hashable, Sendable {
        /// What the agent shows of itself: that the contact can be shared.
        case defaultText
        /// Its first e-mail address.
        case email
        /// Its first phone number.
        case phone
    }

    private let query: String
    private let ignoredEmails: Set<String>
    private let ignoredPhoneNumbers: Set<String>
    private let approvalCallback: (([String]) -> Void)?
    private var caption: Caption?

    /// - Parameters:
    ///   - query: what the person typed; 256 bytes at most.
    ///   - ignoredEmails: contacts with one of these are not offered.
    ///   - ignoredPhoneNumbers: contacts with one of these are not offered.
    ///   - approvalCallback: is given the identifiers of what is newly shared; not called where that is nothing.
    public init(
        queryString query: String, ignoredEmails: Set<String>? = nil, ignoredPhoneNumbers: Set<String>? = nil,
        approvalCallback: (([String]) -> Void)? = nil
    ) {
        self.query = query
        self.ignoredEmails = ignoredEmails ?? []
        self.ignoredPhoneNumbers = ignoredPhoneNumbers ?? []
        self.approvalCallback = approvalCallback
    }

    /// The same button with another caption.
    public func contactAccessButtonCaption(_ caption: Caption) -> ContactAccessButton {
        var button = self
        button.caption = caption
        return button
    }

    /// Has the person asked, and waits for them. An extension of this library.
    ///
    /// - Returns: the identifiers of what is newly shared. None where nothing matched, or the person shared nothing: the two
    ///   cannot be told apart.
    @discardableResult
    public func press() throws -> [String] {
        let reply = try CNContactStore.answer { () throws(CallFailure) in
            try BrokerCalls.shared.call(.requestContacts, isRepeatable: false) { writer in
                writer.member("query", query)
                writer.member("ignoredEmailAddresses", ignoredEmails.sorted())
                writer.member("ignoredPhoneNumbers", ignoredPhoneNumbers.sorted())
                writer.member("caption", caption?.rawValue)
                writer.member("purpose", CNContactStore.purposeOfCall)
            }
        }
        let identifiers = reply["identifiers"]?.elements?.compactMap(\.string) ?? []
        if !identifiers.isEmpty { approvalCallback?(identifiers) }
        return identifiers
    }
}

/// The access picker: the person looks through what the app may see, and adds and removes. For apps whose access is
/// ``CNAuthorizationStatus/limited``; any other is answered at once that nothing is new.
///
/// Returns at once; the handler runs on a thread of this library’s own.
///
/// - Parameter completionHandler: is given the identifiers of what is newly shared. What was taken back is not told.
public func contactAccessPicker(completionHandler: @escaping @Sendable ([String]) -> Void = { _ in }) {
    CNContactStore.whileAppGoesOn { completionHandler((try? manageAccess()) ?? []) }
}

/// The access picker, for callers that can be suspended until the person is done.
///
/// - Throws: ``CNError``, where the person could not be asked.
public func contactAccessPicker() async throws -> [String] {
    try await withCheckedThrowingContinuation { continuation in
        CNContactStore.whileAppGoesOn { continuation.resume(with: Result { try manageAccess() }) }
    }
}

private func manageAccess() throws -> [String] {
    let reply = try CNContactStore.answer { () throws(CallFailure) in
        try BrokerCalls.shared.call(.manageAccess, isRepeatable: false)
    }
    return reply["identifiers"]?.elements?.compactMap(\.string) ?? []
}
