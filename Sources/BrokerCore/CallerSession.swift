import BrokerAccessControl
import BrokerInterface
import BrokerVarlink

/// What the broker keeps per connection, as its context: the caller and the state of its calls. It lives on the event
/// loop.
public final class CallerSession {
    public let caller: Caller
    public let interface: ContactsInterface
    /// Checks whether the caller's process still runs the executable that it was judged by. A program can `exec`
    /// another one and keep the connection.
    let inspect: Inspect
    /// The stored data for this UID belongs to another person, so no call is answered.
    let isAnotherPerson: Bool
    /// Set with the first call.
    weak var connection: (any Connection)?

    /// The cached effective access. `epoch` is the ``History/version`` for which it is valid.
    var known: (epoch: Int, effective: CallerAccess)?
    /// The last history token, and the version for which it is valid.
    var historyToken: (version: HistoryVersion, text: String)?
    /// A grant was used on this connection after the executable was checked for it.
    var hasUsedGrant = false
    /// The running check of the executable.
    var check: RunningCheck?
    /// The call that is being decided again right now, after the check of its caller's executable.
    var checkedCall: Call?
    /// Principals under whose grants something was disclosed on this connection; some replies may still be queued.
    private(set) var disclosedUnder: [Principal] = []
    /// Unfinished lists.
    var fetches: [ObjectIdentifier: Fetch] = [:]

    /// Passes the result to `done` on the event loop: at once if nothing needs to wait, otherwise later. The returned
    /// closure cancels the inspection.
    public typealias Inspect = (_ done: @escaping (ExecutableCheck) -> Void) -> (() -> Void)?

    public init(caller: Caller, interface: ContactsInterface, isAnotherPerson: Bool = false, inspect: @escaping Inspect)
    {
        self.caller = caller
        self.isAnotherPerson = isAnotherPerson
        self.interface = interface
        self.inspect = inspect
    }

    /// Notes a disclosure under that principal's grant.
    func disclosed(under principal: Principal) {
        // Two or three at most: the principals of one caller.
        if !disclosedUnder.contains(principal) { disclosedUnder.append(principal) }
    }
}
