import BrokerAccessControl

/// Who made a change at the administrator's socket: the user themselves, with a program such as `contactctl`, or
/// somebody else. The grant and the audit name that person.
struct AdministratorSource {
    private let caller: Caller

    init(_ session: CallerSession) { caller = session.caller }

    func isOwn(_ principal: Principal) -> Bool { principal.uid == caller.uid }

    func decider(of principal: Principal) -> Grant.Decider { isOwn(principal) ? .person : .administrator }

    /// The words for the grant: `by root`, `by user 1001`, or for one's own grant `by` and the program.
    func words(for principal: Principal) -> String {
        if isOwn(principal) { return "by \(caller.executable ?? caller.app) (\(caller.strength.rawValue))" }
        return caller.uid == 0 ? "by root" : "by user \(caller.uid)"
    }

    /// The words for the audit record. A user's own act needs no name.
    func detail(_ what: String? = nil, for principal: Principal) -> String? {
        isOwn(principal) ? what : [what, words(for: principal)].compactMap(\.self).joined(separator: ", ")
    }
}
