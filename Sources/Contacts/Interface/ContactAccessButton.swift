import BrokerInterface
import BrokerJSON
import Foundation

/// The access button without a view. The app shows its own button, whose action calls ``press()``.
///
/// The agent shows the matching contacts that the app cannot see yet. The person shares some of them with the
/// app, or none. The app learns only which contacts are newly shared. The app needs no access beforehand.
/// When the person shares the first contact, the app's access becomes ``CNAuthorizationStatus/limited``.
public struct ContactAccessButton {
    /// The text that the app wants next to the name if only one contact matches. The broker passes this wish
    /// to the agent.
    public enum Caption: String, Hashable, Sendable {
        /// Nothing but the name.
        case defaultText
        /// The contact's first e-mail address.
        case email
        /// The contact's first phone number.
        case phone
    }

    private var request: Request
    private let approvalCallback: (([String]) -> Void)?

    /// What the broker needs to know, as values that another thread can use.
    private struct Request: Sendable {
        let query: String
        let ignoredEmails: [String]
        let ignoredPhoneNumbers: [String]
        var caption: Caption?
        /// Names the prompt of this button and its copies for ``shownQuery``.
        let token = UUID().uuidString

        /// Prompts the person, and returns the identifiers of the newly shared contacts.
        func make() throws -> [String] {
            let reply = try CNContactStore.answer { () throws(CallFailure) in
                try BrokerCalls.shared.call(.requestContacts, isRepeatable: false) { writer in
                    writer.member("query", query)
                    writer.member("ignoredEmailAddresses", ignoredEmails)
                    writer.member("ignoredPhoneNumbers", ignoredPhoneNumbers)
                    writer.member("caption", caption?.rawValue)
                    writer.member("token", token)
                    writer.member("purpose", CNContactStore.purposeOfCall)
                }
            }
            return reply["identifiers"]?.elements?.compactMap(\.string) ?? []
        }
    }

    /// - Parameters:
    ///   - query: the text that the person typed; at most 256 bytes.
    ///   - ignoredEmails: contacts with one of these addresses are not offered.
    ///   - ignoredPhoneNumbers: contacts with one of these numbers are not offered.
    ///   - approvalCallback: receives the identifiers of the newly shared contacts; not called if there are
    ///     none.
    public init(
        queryString query: String, ignoredEmails: Set<String>? = nil, ignoredPhoneNumbers: Set<String>? = nil,
        approvalCallback: (([String]) -> Void)? = nil
    ) {
        request = Request(
            query: query, ignoredEmails: (ignoredEmails ?? []).sorted(),
            ignoredPhoneNumbers: (ignoredPhoneNumbers ?? []).sorted())
        self.approvalCallback = approvalCallback
    }

    /// Returns a copy of the button with this caption.
    public func contactAccessButtonCaption(_ caption: Caption) -> ContactAccessButton {
        var button = self
        button.request.caption = caption
        return button
    }

    /// Prompts the person, and waits for the answer. An extension of this library.
    ///
    /// - Returns: the identifiers of the newly shared contacts. Empty if nothing matched or nothing was
    ///   shared; the app cannot distinguish the two cases.
    @discardableResult
    public func press() throws -> [String] { shared(try request.make()) }

    /// The same as ``press()``, but suspends the task instead of blocking the thread. The approval callback runs on
    /// the caller's actor. An extension of this library.
    @discardableResult
    public nonisolated(nonsending) func press() async throws -> [String] {
        let request = request
        return shared(try await CNContactStore.suspended { try request.make() })
    }

    private func shared(_ identifiers: [String]) -> [String] {
        if !identifiers.isEmpty { approvalCallback?(identifiers) }
        return identifiers
    }

    /// The query of the prompt that this button, or a copy of it, has open. An extension of this library.
    public var shownQuery: ShownQuery { ShownQuery(token: request.token) }

    /// The query of an open prompt, which the app can change while the person goes on typing in the app.
    public struct ShownQuery: Sendable {
        fileprivate let token: String

        /// Changes the query. Call this on another thread than the waiting ``ContactAccessButton/press()``.
        ///
        /// The person sees at most two changes in a second; the last text wins. The broker ignores each change after the
        /// person has pressed a key at the prompt. A change does not give the person more time. The app does not learn
        /// whether it had an effect.
        ///
        /// - Parameter query: the text that the person typed; at most 256 bytes.
        public func change(to query: String) throws {
            _ = try CNContactStore.answer { () throws(CallFailure) in
                try BrokerCalls.shared.call(.updateRequest, isRepeatable: false) { writer in
                    writer.member("token", token)
                    writer.member("query", query)
                }
            }
        }
    }
}

/// Shows the access picker, in which the person adds contacts to the app's granted set or removes them. This
/// works only for an app whose access is ``CNAuthorizationStatus/limited``; any other app gets
/// an empty result at once.
///
/// This returns at once; the handler runs on a thread of this library. Without a handler, `contactAccessPicker()` is the
/// async function below, at the top level of a script too.
///
/// - Parameter completionHandler: receives the identifiers of the newly shared contacts; empty on an error.
///   Removed contacts are not reported.
@preconcurrency public func contactAccessPicker(completionHandler: @escaping @Sendable ([String]) -> Void) {
    CNContactStore.whileAppGoesOn { completionHandler((try? manageAccess()) ?? []) }
}

/// Shows the access picker, and suspends until the person is done.
///
/// - Throws: ``CNError`` if the person could not be prompted.
public func contactAccessPicker() async throws -> [String] {
    try await CNContactStore.suspended { try manageAccess() }
}

private func manageAccess() throws -> [String] {
    let reply = try CNContactStore.answer { () throws(CallFailure) in
        try BrokerCalls.shared.call(.manageAccess, isRepeatable: false) {
            $0.member("purpose", CNContactStore.purposeOfCall)
        }
    }
    return reply["identifiers"]?.elements?.compactMap(\.string) ?? []
}
