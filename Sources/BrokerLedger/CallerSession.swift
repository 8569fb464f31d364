import BrokerAccessControl
import BrokerInterface
import BrokerVarlink

/// The broker's state for one connection, kept as the connection's context: the caller and the state of its
/// calls. It lives on the event loop.
public final class CallerSession {
    public let caller: Caller
    public let interface: ContactsInterface
    /// Checks whether the caller's process still runs the executable by which the broker judged it. A process
    /// can `exec` a different program and keep the connection.
    let inspect: Inspect
    /// Whether the process that connected has ended. Another process that has its PID by then can send bytes with
    /// the same credentials.
    package let hasEnded: () -> Bool
    /// Whether the data stored for this UID belongs to another person. If so, every call fails.
    package let isAnotherPerson: Bool
    /// `nil` before the first call and after the connection has closed.
    package weak var connection: (any Connection)?

    /// What ``History`` keeps for the user; `nil` before the first decision.
    var history: History.OfUser?
    /// The cached effective access. `epoch` is the ``History/version(of:)`` for which it is valid.
    package var known: (epoch: Int, effective: CallerAccess)?
    /// The last history token, and the version for which it is valid.
    package var historyToken: (version: HistoryVersion, text: String)?
    /// Whether the executable check before this connection's first use of a grant has succeeded.
    package var hasUsedGrant = false
    /// The running check of the executable.
    package var check: RunningCheck?
    /// The call that is being decided again because its caller's executable was just checked; `nil` at any
    /// other time.
    var checkedCall: Call?
    /// The principals whose grants permitted a disclosure on this connection. Replies with such disclosures
    /// may still be queued.
    package private(set) var disclosedUnder: [Principal] = []
    /// The `FetchContacts` calls that have further batches to send.
    package private(set) var lists: [ObjectIdentifier: Call] = [:]

    /// The connection of a program that speaks CardDAV, as it was when its password opened it; `nil` for any other caller.
    package let openedBy: CardDAVConnection?
    /// Whether no call may ask the person, because the program cannot wait for an answer.
    package var asksNobody: Bool { openedBy != nil }

    /// Checks the executable, and passes the result to `done` on the event loop: at once if possible,
    /// otherwise later. The returned closure cancels the check; it is `nil` if there is nothing to cancel.
    public typealias Inspect = (_ done: @escaping (ExecutableCheck) -> Void) -> (() -> Void)?

    public init(
        caller: Caller, interface: ContactsInterface, isAnotherPerson: Bool = false,
        openedBy: CardDAVConnection? = nil,
        hasEnded: @escaping () -> Bool = { false }, inspect: @escaping Inspect
    ) {
        self.caller = caller
        self.isAnotherPerson = isAnotherPerson
        self.interface = interface
        self.openedBy = openedBy
        self.hasEnded = hasEnded
        self.inspect = inspect
    }

    /// The session of an app for which another program calls on this connection: a connection of a program that speaks CardDAV.
    package convenience init(_ caller: Caller, over session: CallerSession, openedBy: CardDAVConnection? = nil) {
        self.init(
            caller: caller, interface: .contacts, isAnotherPerson: session.isAnotherPerson, openedBy: openedBy,
            hasEnded: session.hasEnded,
            inspect: session.inspect)
        connection = session.connection
    }

    package func beginList(_ call: Call) { lists[ObjectIdentifier(call)] = call }
    package func endList(_ call: Call) { lists[ObjectIdentifier(call)] = nil }
    package func dropLists() { lists = [:] }

    /// Ends the unfinished lists because their grant was revoked or narrowed. Returns the number of withheld replies: one
    /// for each list.
    package func endLists(_ error: VarlinkError) -> Int {
        let unfinished = lists.values.filter { !$0.isOver }
        lists = [:]
        for call in unfinished { call.fail(error) }
        return unfinished.count
    }

    /// Adds a principal to ``disclosedUnder``.
    func disclosed(under principal: Principal) {
        // The list stays short: one caller has only a few principals.
        if !disclosedUnder.contains(principal) { disclosedUnder.append(principal) }
    }
}
