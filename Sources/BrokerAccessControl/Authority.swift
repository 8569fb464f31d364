/// What requires the password of the person or of an administrator: polkit's actions of the same names.
public enum AuthorityAction: String, CaseIterable, Sendable {
    /// To receive prompts and answer them.
    case answer = "io.contactbroker.answer"
    /// To give an app access to all contacts, or to many.
    case shareAll = "io.contactbroker.share-all"
    /// To withdraw a denial, and to read one's own audit.
    case manageOwn = "io.contactbroker.manage-own"
    /// To see or change data of another user or of all users.
    case admin = "io.contactbroker.admin"

    /// The last part of its name, for the audit.
    public var word: String { String(rawValue.dropFirst("io.contactbroker.".count)) }
}

/// One question to the authority: may this process do this?
public struct AuthorityQuestion: Hashable, Sendable {
    public var action: AuthorityAction
    public var process: ProcessIdentity
    public var uid: UInt32
    /// The app concerned, shown to the person; never contact data. Text from strangers, stripped and truncated.
    public var app: String?
    /// Whether the person may be asked for a password.
    public var mayInteract: Bool

    public init(
        action: AuthorityAction, process: ProcessIdentity, uid: UInt32, app: String? = nil, mayInteract: Bool
    ) {
        self.action = action
        self.process = process
        self.uid = uid
        self.app = app
        self.mayInteract = mayInteract
    }
}

/// The authority's answer. Every answer except ``granted`` means no.
public enum AuthorityAnswer: Hashable, Sendable {
    case granted
    case refused
    /// A password is required, but the person may not be asked, or nothing can ask.
    case wantsInteraction
    /// This machine has no such authority. The administrator decides whether the broker may do without.
    case absent
    /// The authority could not be asked. The reason is for the journal.
    case failed(reason: String)
    /// The authority runs but does not respond; the administrator has to restart it.
    case hung
}

/// Verifies that the person is present, if a program's answer is not enough. Lives on the event loop.
public protocol Authority: AnyObject {
    /// Asks. `answered` runs once, on the event loop, in a later iteration. It never runs after
    /// ``AskedAuthority/cancel()``.
    ///
    /// The answer is about the process that existed when it was asked. If that has ended, the answer is not
    /// ``AuthorityAnswer/granted``.
    func ask(_ question: AuthorityQuestion, _ answered: @escaping (AuthorityAnswer) -> Void) -> any AskedAuthority
}

/// A question that has no answer yet.
public protocol AskedAuthority: AnyObject {
    /// Cancels the question: nobody is asked for a password any more, and no answer comes.
    func cancel()
}
