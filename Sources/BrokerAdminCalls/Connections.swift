import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// `Connect`, `Disconnect` and `ListConnections` of the administrator's socket. The caller's authorization must be checked
/// first.
struct Connections: UsesServices {
    let services: BrokerServices

    func connect(
        _ parameters: ConnectParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        guard surroundings.mode == .session else {
            throw AdminError.invalidValue(
                "mode", reason: "the system's contact broker does not serve programs that speak CardDAV yet")
        }
        let (name, uid) = (parameters.name, session.caller.uid)
        let known = access.connections.connection(named: name, of: uid)
        let app = CallerSession(Caller(connection: name, of: uid, calledBy: session.caller), over: session)
        if parameters.newPassword {
            guard known != nil else { throw AdminError.unknownConnection(name) }
            return Connecting(call: call, session: app, by: session, former: known, changes: parameters.changes)
                .finish(services, status(of: app))
        }
        // One whose access was reset is connected again.
        guard known == nil || status(of: app) == .notDetermined else { throw AdminError.connectionExists(name) }
        // What is left of a connection with this name that was never made whole, gives this one nothing. A denial stays.
        endLeftGrant(of: app.caller.persistent, services)
        WaitingCall.run(
            Connecting(call: call, session: app, by: session, former: known, changes: parameters.changes), services)
    }

    func disconnect(
        _ parameters: DisconnectParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        let uid = parameters.users.one(session.caller)
        guard let connection = access.connections.connection(named: parameters.name, of: uid) else {
            throw AdminError.unknownConnection(parameters.name)
        }
        cardDAV.end(connection, by: AdministratorSource(session).words(for: uid))
        groupCommit.replyOnDisk(call) { _ in }
    }

    func list(_ users: UserParameters, _ call: Call, _ session: CallerSession) {
        let uid = users.one(session.caller)
        let connections = access.connections.connections(of: uid).map { connection in
            let app = CallerSession(
                Caller(connection: connection.name, of: uid, calledBy: session.caller), over: session)
            return (connection, status(of: app))
        }
        call.reply {
            $0.name("connections")
            $0.array(connections) { writer, element in
                writer.object {
                    $0.member("name", element.0.name)
                    $0.member("status", element.1.rawValue)
                    $0.member("made", Timestamp.text(seconds: element.0.madeAt))
                }
            }
            $0.member("port", cardDAV.port)
        }
    }

    private func status(of app: CallerSession) -> AuthorizationStatus {
        grants.effectiveAccess(of: app).effective.status
    }
}

/// A call of `Connect`, which waits for the person's answer.
private struct Connecting: SteppedCall {
    typealias Services = BrokerServices

    let call: Call
    /// The connection as an app.
    let session: CallerSession
    /// The caller of `Connect`.
    let by: CallerSession
    /// The connection when the call began; `nil` if there was none.
    let former: CardDAVConnection?
    let changes: ChangeRight
    var outcome: PromptOutcome?

    mutating func step(_ services: BrokerServices) -> Step<Self> {
        let known = services.grants.accessForCall(by: session)
        if outcome == .noAgent {
            call.fail(ContactsError.noAgent)
            return .done
        }
        // Another call may have made it while the person was asked.
        let (principal, connections) = (session.caller.persistent, services.access.connections)
        let now = connections.connection(named: principal.app, of: principal.uid)
        guard now?.passwordHash == former?.passwordHash else {
            call.fail(AdminError.connectionExists(principal.app))
            return .done
        }
        let most = services.limits.cardDAVConnections
        guard now != nil || connections.connections(of: principal.uid).count < most else {
            call.fail(ContactsError.limitExceeded("connections", maximum: most))
            return .done
        }
        if outcome == nil, case .ask = decideRequest(known.effective, mayAsk: known.mayPrompt) {
            return .wait(for: .answer(to: Question(kind: .access, changes: changes)))
        }
        finish(services, known.effective.status)
        return .done
    }

    /// A program that gave up waiting never gets the password, so what the person gave it ends.
    func ended(_ services: BrokerServices) {
        let principal = session.caller.persistent
        guard call.isOver, services.access.connections.connection(named: principal.app, of: principal.uid) == nil else {
            return
        }
        endLeftGrant(of: principal, services)
    }

    /// Replies with the status, and if the connection has access, with its new password.
    func finish(_ services: BrokerServices, _ status: AuthorizationStatus) {
        let (name, uid) = (session.caller.app, session.caller.uid)
        var password: String?
        if status == .full || status == .limited {
            password = services.cardDAV.make(name, of: uid, by: AdministratorSource(by).words(for: uid))
            guard password != nil else { return call.fail(ContactsError.storeUnavailable) }
        }
        services.groupCommit.replyOnDisk(call) {
            $0.member("status", status.rawValue)
            $0.member("user", name)
            $0.member("password", password)
            $0.member("port", services.cardDAV.port)
        }
    }
}

extension Wait<Connecting> {
    /// The person's answer.
    fileprivate static func answer(to question: Question) -> Wait {
        Wait { waiting in
            let value = waiting.value
            waiting.services.questions.ask(question, value.call, value.session) { outcome in
                waiting.value.outcome = outcome
                waiting.resume()
            }
        }
    }
}

/// Ends the grant of a connection that does not exist, unless it is a denial.
private func endLeftGrant(of principal: Principal, _ services: BrokerServices) {
    guard let grant = services.access.grant(of: principal), grant.access != .denied else { return }
    services.grants.endGrant(principal, detail: "never connected")
}
