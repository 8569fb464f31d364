import BrokerAccessControl
import BrokerLedger

/// Who acts at the administrator's socket: the user whose data it concerns, with a program such as `contactctl`, or
/// somebody else. The grant and the audit name that person.
struct AdministratorSource {
    private let caller: Caller

    init(_ session: CallerSession) { caller = session.caller }

    func decider(of uid: UInt32) -> Grant.Decider { uid == caller.uid ? .person : .administrator }

    /// The words for the grant: `by root`, `by user 1001`, or for one's own grant `by` and the program.
    func words(for uid: UInt32) -> String {
        if uid == caller.uid { return "by \(caller.executable ?? caller.app) (\(caller.strength.rawValue))" }
        return caller.uid == 0 ? "by root" : "by user \(caller.uid)"
    }

    /// Who acts, for the audit record; `nil` for a user's own act, which needs no name.
    func detail(for uid: UInt32) -> String? { uid == caller.uid ? nil : words(for: uid) }

    /// What was done and by whom, for the audit record.
    func detail(_ what: String, for uid: UInt32) -> String {
        [what, detail(for: uid)].compactMap(\.self).joined(separator: ", ")
    }
}
