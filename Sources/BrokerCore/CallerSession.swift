import BrokerAccessControl
import BrokerInterface
import BrokerVarlink

/// The broker's state for one connection, kept as the connection's context: the caller and the state of its
/// calls. It lives on the event loop.
public final class CallerSession {
    public let caller: Caller
    public let interface: ContactsInterface
    /// Checks whether the caller's process still runs the executable that it was judged by. A program can `exec`
    /// another one and keep the connection.
    let inspect: Inspect
    /// The data stored for this UID belongs to another person, so every call fails.
    let isAnotherPerson: Bool
    /// `nil` until the first call, and once the connection is gone.
    weak var connection: (any Connection)?

    /// The cached effective access. `epoch` is the ``History/version`` for which it is valid.
    var known: (epoch: Int, effective: CallerAccess)?
    /// The last history token, and the version for which it is valid.
    var historyToken: (version: HistoryVersion, text: String)?
    /// The executable was checked before the first use of a grant on this connection.
    var hasUsedGrant = false
    /// The running check of the executable.
    var check: RunningCheck?
    /// The call that is being decided again after the check of its caller's executable; otherwise `nil`.
    var checkedCall: Call?
    /// The principals whose grants permitted a disclosure on this connection. Some of those replies may still
    /// be queued.
    private(set) var disclosedUnder: [Principal] = []
    /// The `FetchContacts` calls with further batches to send.
    var fetches: [ObjectIdentifier: Fetch] = [:]

    /// Checks the executable, and passes the result to `done` on the event loop: at once if possible,
    /// otherwise later. The returned closure cancels the check; it is `nil` if there is nothing to cancel.
    public typealias Inspect = (_ done: @escaping (ExecutableCheck) -> Void) -> (() -> Void)?

    public init(caller: Caller, interface: ContactsInterface, isAnotherPerson: Bool = false, inspect: @escaping Inspect)
    {
        self.caller = caller
        self.isAnotherPerson = isAnotherPerson
        self.interface = interface
        self.inspect = inspect
    }

    /// Notes that this principal's grant permitted a disclosure.
    func disclosed(under principal: Principal) {
        // The list stays short: one caller has only a few principals.
        if !disclosedUnder.contains(principal) { disclosedUnder.append(principal) }
    }
}
