/// An action that requires the password of the person or of an administrator. The raw value is the name of
/// the polkit action.
public enum AuthorityAction: String, CaseIterable, Sendable {
    /// Receive prompts and answer them.
    case answer = "io.contactbroker.answer"
    /// Give an app access to all contacts, or to many.
    case shareAll = "io.contactbroker.share-all"
    /// Let an app that others can imitate change or delete many contacts.
    case change = "io.contactbroker.change"
    /// Reset one's own grants, and read one's own audit.
    case manageOwn = "io.contactbroker.manage-own"
    /// Look up who may see or saw one of one's own contacts, or take it back from an app.
    case lookUp = "io.contactbroker.look-up"
    /// Make a backup of one's own contacts.
    case backUp = "io.contactbroker.back-up"
    /// Replace one's own contacts by a backup, and restore the access of apps.
    case restore = "io.contactbroker.restore"
    /// Put back many of one's own contacts from the bin.
    case putBack = "io.contactbroker.put-back"
    /// Remove something from one's own bin, or shorten its days.
    case emptyBin = "io.contactbroker.empty-bin"
    /// Read or change data of another user or of all users.
    case admin = "io.contactbroker.admin"

    /// The last part of the action's name, for the audit.
    public var word: String { String(rawValue.dropFirst("io.contactbroker.".count)) }
}

/// One request to the authority: may this process perform this action?
public struct AuthorityQuestion: Hashable, Sendable {
    public var action: AuthorityAction
    public var process: ProcessIdentity
    public var uid: UInt32
    /// The name of the app concerned, which the person sees. It is untrusted text that the broker has stripped
    /// and truncated.
    public var app: String?
    /// The access that the app gets, or what it changes, as shown to the person, for example "3 contacts"; never contact
    /// data.
    public var access: String?
    /// Whether the person may be asked for a password.
    public var mayInteract: Bool

    public init(
        action: AuthorityAction, process: ProcessIdentity, uid: UInt32, app: String? = nil, access: String? = nil,
        mayInteract: Bool
    ) {
        self.action = action
        self.process = process
        self.uid = uid
        self.app = app
        self.access = access
        self.mayInteract = mayInteract
    }
}

/// The authority's answer. Only ``granted`` permits the action; the policy may also accept ``absent``.
public enum AuthorityAnswer: Hashable, Sendable {
    case granted
    case refused
    /// A password is required, but the person may not be asked, or no program can ask for it.
    case wantsInteraction
    /// This machine has no authority. ``Policy/WithoutAuthentication`` decides whether the broker acts
    /// without one.
    case absent
    /// The authority could not be asked. The reason is for the journal.
    case failed(reason: String)
    /// The authority runs but does not respond; the administrator has to restart it.
    case hung
}

/// Asks the person or an administrator for a password before a protected action. Without a password, a
/// program could send an answer that the person never gave. Only the event loop uses it.
public protocol Authority: AnyObject {
    /// Asks the authority. `answered` runs once, on the event loop, in a later iteration. It never runs after
    /// ``AskedAuthority/cancel()``.
    ///
    /// If the process has ended before the authority answers, the answer is not ``AuthorityAnswer/granted``,
    /// even if another process reuses the pid.
    func ask(_ question: AuthorityQuestion, _ answered: @escaping (AuthorityAnswer) -> Void) -> any AskedAuthority
}

/// A request that the authority has not answered yet.
public protocol AskedAuthority: AnyObject {
    /// Cancels the request and closes the password dialog. The request then gets no answer.
    func cancel()
}
