import BrokerAccessControl
import BrokerBooks
import BrokerCalls
import BrokerDisclosure
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerParameters
import BrokerVarlink

/// Dispatches the calls on the socket of the service that speaks CardDAV.
struct CardDAVDispatcher: UsesServices {
    let services: BrokerServices

    func answer(_ call: Call, _ session: CallerSession) {
        guard call.interface == ContactsInterface.cardDAV.name, let method = CardDAVMethod(rawValue: String(call.name))
        else {
            return call.fail(.methodNotFound(call.method))
        }
        do throws(VarlinkError) {
            var reader = try ParameterReader(call.parameters)
            switch method {
            case .announce:
                let port = try reader.required("port").integer(in: 1...65_535)
                try reader.finish()
                services.cardDAV.announce(port, by: session)
                call.reply()
            case .open:
                let parameters = try OpenParameters(&reader)
                try reader.finish()
                open(parameters, call, session)
            }
        } catch {
            call.fail(error)
        }
    }

    /// Makes the connection to the broker that of an app, if the password is right.
    private func open(_ parameters: OpenParameters, _ call: Call, _ session: CallerSession) {
        let uid = parameters.user
        // A session's broker serves only its own user.
        let isServed = surroundings.mode == .system || uid == surroundings.ownUID
        let wrong = {
            let wait = cardDAV.wait(afterWrongOf: isServed ? uid : session.caller.uid)
            call.fail(CardDAVError.wrongPassword(wait: wait))
        }
        guard isServed, let connection = cardDAV.connection(parameters.name, of: uid, opensWith: parameters.password)
        else { return wrong() }
        let app = CallerSession(
            Caller(connection: connection.name, of: uid, calledBy: session.caller), over: session, openedBy: connection)
        let status = grants.effectiveAccess(of: app).effective.status
        guard !cardDAV.hasLapsed(connection, hasAccess: status == .full || status == .limited) else { return wrong() }
        app.connection = nil
        if let left = sessions.close(call.connection) { books.leave(left.caller.uid) }
        call.connection.context = app
        call.reply {
            $0.member("connection", connection.identifier)
            $0.member("key", Hexadecimal.text(connection.key))
        }
    }
}
