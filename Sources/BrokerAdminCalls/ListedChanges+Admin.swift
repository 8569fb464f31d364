import BrokerAccessControl
import BrokerAccessStore
import BrokerCalls
import BrokerContactsStore
import BrokerInterface
import BrokerLedger
import BrokerParameters
import BrokerVarlink

/// `ListChanges` of the administrator's socket.
extension ListedChanges {
    func list(
        _ parameters: ListChangesParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        let uid = parameters.users.one(session.caller)
        try Self.checkNames(parameters.names, of: uid, session)
        var query = BinQuery()
        query.app = parameters.app
        query.since = (try AuditQueries.time(parameters.since, "since") ?? 0) / 1_000_000
        query.before = parameters.before
        query.limit = parameters.limit
        if parameters.names { recordNames(of: uid, session) }
        list(query, names: parameters.names, of: uid, call, session)
    }

    /// Only the owner may see names.
    static func checkNames(_ names: Bool, of uid: UInt32, _ session: CallerSession) throws(VarlinkError) {
        guard names, uid != session.caller.uid else { return }
        throw AdminError.invalidValue("names", reason: "only the user whose contacts these are may see their names")
    }

    func recordNames(of uid: UInt32, _ session: CallerSession) {
        recordNames(of: uid, AdministratorSource(session).detail("contacts in the bin", for: uid))
    }
}
