import BrokerAccessControl
import BrokerInterface
import BrokerVarlink

/// What the broker keeps with a connection, as its context: who is calling, and what is going on for them. It lives
/// on the loop.
public final class CallerSession {
    public let caller: Caller
    public let door: ContactsInterface
    /// Looks whether the caller's process still runs what it ran when it was judged. A program can `exec` another one and
    /// keep the connection.
    let look: Look
    /// What is kept for this user number is another person's, so that nothing is answered.
    let isAnotherPerson: Bool
    /// Set with the first call.
    weak var connection: (any Connection)?

    /// The standing as of one state of all grants; asking each principal again is only needed when that changed.
    var known: (epoch: Int, standing: PrincipalStanding)?
    /// The token that was answered last, and as of when it holds.
    var historyToken: (version: HistoryVersion, text: String)?
    /// A grant was used on this connection, and the executable looked at again for it.
    var hasUsedGrant = false
    /// The look at the executable that is under way.
    var check: RunningCheck?
    /// The call that is being decided again in this moment, the executable having been looked at for it.
    var checkedCall: Call?
    /// Principals under whose grants something was told on this connection and may still wait to be sent.
    private(set) var disclosedUnder: [Principal] = []
    /// Lists that are on their way.
    var fetches: [ObjectIdentifier: Fetch] = [:]

    /// Tells what it found, on the loop: at once where it needs to wait for nothing, otherwise later. What it returns gives the look up.
    public typealias Look = (_ done: @escaping (ExecutableCheck) -> Void) -> (() -> Void)?

    public init(caller: Caller, door: ContactsInterface, isAnotherPerson: Bool = false, look: @escaping Look) {
        self.caller = caller
        self.isAnotherPerson = isAnotherPerson
        self.door = door
        self.look = look
    }

    /// Something is told under that principal's grant.
    func disclosed(under principal: Principal) {
        // Two or three at most: the principals of one caller.
        if !disclosedUnder.contains(principal) { disclosedUnder.append(principal) }
    }
}
