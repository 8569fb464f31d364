/// What the person's password, or an administrator's, is asked for: polkit's actions of the same names.
public enum AuthorityAction: String, CaseIterable, Sendable {
    /// To be asked about apps, and to answer.
    case answer = "io.contactbroker.answer"
    /// To let an app see all contacts, or many.
    case shareAll = "io.contactbroker.share-all"
    /// To take back a refusal, and to read one's own audit.
    case manageOwn = "io.contactbroker.manage-own"
    /// To see or change what is another user's, or everybody's.
    case admin = "io.contactbroker.admin"

    /// Its own name, for the audit.
    public var word: String { String(rawValue.dropFirst("io.contactbroker.".count)) }
}

/// One question to the authority: may this process do this?
public struct AuthorityQuestion: Hashable, Sendable {
    public var action: AuthorityAction
    public var process: ProcessIdentity
    public var uid: UInt32
    /// The app that it is about, for the person to see; never what a contact says. Text of strangers, stripped and cut.
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

/// What the authority said. Whatever is not ``granted`` is a no.
public enum AuthorityAnswer: Hashable, Sendable {
    case granted
    case refused
    /// Not without a password, and the person may not be asked for it, or nothing is there that could ask.
    case wantsInteraction
    /// This machine has no such authority. Whether one does without is the administrator's to say.
    case absent
    /// It could not be asked; why, for the journal.
    case failed(reason: String)
    /// It is there, and gives no sign of life: somebody has to start it anew.
    case hung
}

/// Who proves that the person is there, where an answer of a program is not enough. It lives on the loop.
public protocol Authority: AnyObject {
    /// Asks. `answered` runs once, on the loop, in a later turn; never where the question was taken back.
    ///
    /// The answer is about the process that was there when it was asked: where that has ended, it is a refusal.
    func ask(_ question: AuthorityQuestion, _ answered: @escaping (AuthorityAnswer) -> Void) -> any AskedAuthority
}

/// A question that waits for its answer.
public protocol AskedAuthority: AnyObject {
    /// Takes the question back: nobody is asked for a password any more, and no answer comes.
    func cancel()
}
