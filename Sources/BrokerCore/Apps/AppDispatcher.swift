import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Dispatches the calls on the apps' socket.
struct AppDispatcher {
    let app: AppServices
    let reads: AppReads
    let prompts: AppPrompts

    private static let appMethods = Dictionary(
        uniqueKeysWithValues: ContactsMethod.allCases.map { (ContactsInterface.contacts.name + "." + $0.rawValue, $0) })

    /// - Parameter isAgain: whether the call was dispatched before. If so, ``AuditPace`` does not delay it
    ///   again.
    func answer(_ call: Call, _ session: CallerSession, isAgain: Bool = false) {
        guard let method = Self.appMethods[call.method] else {
            call.fail(.methodNotFound(call.method))
            return
        }
        func again() { answer(call, session, isAgain: true) }
        if !isAgain, app.pace.mayHold, app.pace.holds(call, session, again) { return }
        if app.grants.isSettling, app.grants.waitsForGrant(session, again) { return }
        do throws(VarlinkError) {
            switch method {
            case .getAuthorization: try prompts.getAuthorization(call, session)
            case .requestAccess: try prompts.requestAccess(call, session, again: again)
            case .fetchContacts:
                Fetch(call: call, session: session, app: app, try FetchContactsParameters(call.parameters)).begin()
            case .saveContacts:
                Save(call: call, session: session, app: app, try SaveContactsParameters(call.parameters)).begin()
            case .requestContacts: try prompts.requestContacts(call, session, again: again)
            case .updateRequest: try prompts.updateRequest(call, session)
            case .countContacts: try reads.countContacts(call, session)
            case .listLinkedContacts: try reads.listLinkedContacts(call, session)
            case .getUserDefaults: try reads.getUserDefaults(call, session)
            case .setUserDefaults: try reads.setUserDefaults(call, session)
            case .listContainers: try reads.listContainers(call, session)
            case .listGroups: try reads.listGroups(call, session)
            case .watchChanges: try watchChanges(call, session)
            case .fetchHistory:
                FetchHistory(call: call, session: session, app: app, try FetchHistoryParameters(call.parameters))
                    .begin()
            case .manageAccess: try prompts.manageAccess(call, session, again: again)
            case .pickContacts: try prompts.pickContacts(call, session, again: again)
            case .proposeContact: try prompts.proposeContact(call, session, again: again)
            }
        } catch {
            call.fail(error)
        }
    }

    private func watchChanges(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.parameters.count == 0 else { throw .invalidParameter(call.firstParameter) }
        guard call.more else { throw .expectedMore }
        WatchChanges(call: call, session: session, app: app).begin()
    }
}

extension Call {
    /// The name of the first parameter, for the error of a method that takes none.
    var firstParameter: String {
        guard let members = parameters.members else { return "parameters" }
        for (name, _) in members { return name.string(ofAtMost: ParameterLimits.name) ?? "" }
        return "parameters"
    }
}
