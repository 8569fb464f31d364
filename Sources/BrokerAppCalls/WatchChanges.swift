import BrokerAccessControl
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerVarlink

/// One call of `WatchChanges`, which lasts until the caller disconnects or loses access.
///
/// The call never prompts the person. While the app's access is not decided, the broker sends no reply. ``History`` keeps
/// the call, and runs a step when something may have changed.
struct WatchChanges: AppCall {
    let call: Call
    let session: CallerSession
    var asked = Asked.tooLate
    /// The place in the change history that the last reply named.
    private var reported: HistoryPlace?
    /// Whether the next reply must wait, because the app has not taken the last one or
    /// ``Limits/watchInterval`` has not passed.
    private var isPausing = false
    /// Whether a change may have happened during the pause.
    private var hasMissed = false

    init(_ call: Call, _ session: CallerSession) { (self.call, self.session) = (call, session) }

    static func begin(_ call: Call, _ session: CallerSession, _ services: BrokerServices) {
        let watch = WaitingCall(WatchChanges(call, session), services)
        services.history.watch(call, of: session.caller.uid) { watch.resume() }
        call.onAbandoned = { [weak watch] in watch?.value.ended(services) }
        watch.resume()
    }

    func ended(_ services: BrokerServices) { services.history.endWatch(call, of: session.caller.uid) }

    /// Sends the first reply, or a further one if something visible has changed.
    mutating func step(_ services: BrokerServices) -> Step<Self> {
        let known = services.grants.accessForCall(by: session)
        switch decideWatch(known.effective) {
        case .permit(let disclosure):
            guard !isPausing else {
                hasMissed = true
                return .wait(for: .change)
            }
            return services.permitted(&self, disclosure, known) { (watch, context) throws(ReadContext.Failure) in
                try context.orFail { (context) throws(StoreError) in try watch.report(context, services) }
            }
        case .refuse(let denial):
            services.questions.refuse(call, session, denial, known.effective.status)
            return .done
        case .wait:
            // The app had access when the last reply was sent, so its grant has ended.
            return reported == nil ? .wait(for: .change) : fail(ContactsError.accessDenied, services)
        }
    }

    private mutating func report(_ context: ReadContext, _ services: BrokerServices) throws(StoreError) -> Step<Self> {
        let place = try services.places.place(context)
        guard place != reported else { return .wait(for: .change) }
        guard let token = try services.places.token(context) else {
            return fail(ContactsError.storeUnavailable, services)
        }
        reported = place
        isPausing = true
        var writer = DisclosedWriter()
        writer.member("historyToken", token)
        return .wait(
            for: .pause(
                after: writer.reply(under: context.basis, recording: [.count(0)], detail: String(call.name))))
    }

    private func fail(_ error: VarlinkError, _ services: BrokerServices) -> Step<Self> {
        services.groupCommit.fail(error, call)
        return .done
    }

    /// Ends a pause. Returns whether a change may have happened meanwhile.
    fileprivate mutating func goOn() -> Bool {
        isPausing = false
        defer { hasMissed = false }
        return hasMissed
    }
}

extension Wait<WatchChanges> {
    /// A change, of which ``History`` tells.
    fileprivate static var change: Wait { Wait { _ in } }

    /// A pause after a reply, until the interval has passed and the app has taken the reply. A burst of changes then
    /// causes only one further reply.
    fileprivate static func pause(after reply: DisclosedReply) -> Wait {
        Wait { watch in
            let (services, call) = (watch.services, watch.value.call)
            services.groupCommit.disclose(reply, to: call, watch.value.session, continues: true) { [weak watch] in
                services.surroundings.loop.later(after: services.limits.watchInterval) { [weak watch] in
                    call.whenWritable { [weak watch] in
                        if let watch, watch.value.goOn() { watch.resume() }
                    }
                }
            }
        }
    }
}
