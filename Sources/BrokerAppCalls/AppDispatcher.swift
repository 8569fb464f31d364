import BrokerBounds
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Dispatches the calls on the apps' socket.
package struct AppDispatcher {
    private let services: BrokerServices
    private var reads: AppReads { AppReads(services: services) }
    private var prompts: AppPrompts { AppPrompts(services: services) }

    package init(services: BrokerServices) { self.services = services }

    private static let appMethods = Dictionary(
        uniqueKeysWithValues: ContactsMethod.allCases.map { (ContactsInterface.contacts.name + "." + $0.rawValue, $0) })

    package func answer(_ call: Call, _ session: CallerSession) {
        guard let method = Self.appMethods[call.method] else {
            call.fail(.methodNotFound(call.method))
            return
        }
        if services.pace.mayHold, services.pace.holds(call, session, { begin(method, call, session) }) { return }
        begin(method, call, session)
    }

    private func begin(_ method: ContactsMethod, _ call: Call, _ session: CallerSession) {
        if services.grants.isSettling, services.grants.waitsForGrant(session, { begin(method, call, session) }) {
            return
        }
        do throws(VarlinkError) {
            switch method {
            case .getAuthorization: try prompts.getAuthorization(call, session)
            case .requestAccess: try prompts.requestAccess(call, session)
            case .fetchContacts: WaitingCall.run(try Fetch(call, session), services)
            case .saveContacts: WaitingCall.run(try Save(call, session), services)
            case .listSaves: WaitingCall.run(try ListSaves(call, session), services)
            case .takeBack:
                WaitingCall.run(Save(takingBack: try TakeBackParameters(call.parameters), call, session), services)
            case .requestContacts: try prompts.requestContacts(call, session)
            case .updateRequest: try prompts.updateRequest(call, session)
            case .countContacts: WaitingCall.run(try CountContacts(call, session), services)
            case .listLinkedContacts: try reads.listLinkedContacts(call, session)
            case .getUserDefaults: try reads.getUserDefaults(call, session)
            case .setUserDefaults: try reads.setUserDefaults(call, session)
            case .listContainers: try reads.listContainers(call, session)
            case .listGroups: try reads.listGroups(call, session)
            case .watchChanges: try watchChanges(call, session)
            case .fetchHistory: WaitingCall.run(try FetchHistory(call, session), services)
            case .manageAccess: try prompts.manageAccess(call, session)
            case .pickContacts: try prompts.pickContacts(call, session)
            case .proposeContact: try prompts.proposeContact(call, session)
            }
        } catch {
            call.fail(error)
        }
    }

    private func watchChanges(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard call.parameters.count == 0 else { throw .invalidParameter(call.firstParameter) }
        guard call.more else { throw .expectedMore }
        WatchChanges.begin(call, session, services)
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
