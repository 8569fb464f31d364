import BrokerLedger
import BrokerVarlink

/// A call as a value that is answered in steps. A step decides the call and answers it, or names what the call waits
/// for. After the wait, the driver runs the step again. It decides the call again, because anything may have changed
/// during the wait. What the wait found is in a field of the call.
package protocol SteppedCall {
    /// The services that the steps need.
    associatedtype Services
    var call: Call { get }
    var session: CallerSession { get }

    /// Decides the call as things are now.
    mutating func step(_ services: Services) -> Step<Self>
    /// Runs when the call is over, or answered except for the reply.
    func ended(_ services: Services)
    /// Whether the next step must wait for something that concerns all calls of the session. If so, `resume` runs after it.
    func mustWait(_ services: Services, _ resume: @escaping () -> Void) -> Bool
}

extension SteppedCall {
    package func ended(_ services: Services) {}
    package func mustWait(_ services: Services, _ resume: @escaping () -> Void) -> Bool { false }
}

/// The result of one step of a call.
package enum Step<Value: SteppedCall> {
    /// The call is answered, has failed, or is left to what it began.
    case done
    case wait(for: Wait<Value>)
}

/// Something that a call waits for, for example the person's answer, or a job on a worker.
package struct Wait<Value: SteppedCall> {
    /// Arranges the wait. Afterwards, ``WaitingCall/resume()`` runs, or the call is over.
    package let begin: (WaitingCall<Value>) -> Void

    package init(begin: @escaping (WaitingCall<Value>) -> Void) { self.begin = begin }
}

/// The driver of a call that waits: it arranges the wait, and then runs the next step unless the call is over. It lives on
/// the event loop. A call that never waits needs none.
package final class WaitingCall<Value: SteppedCall> {
    /// Between two steps, waits put their results here.
    package var value: Value
    package let services: Value.Services

    package init(_ value: Value, _ services: Value.Services) {
        self.value = value
        self.services = services
    }

    /// Answers a call.
    package static func run(_ value: Value, _ services: Value.Services) {
        var value = value
        switch value.step(services) {
        case .done: value.ended(services)
        case .wait(let wait): wait.begin(WaitingCall(value, services))
        }
    }

    /// Runs the next step.
    package func resume() {
        guard !value.call.isOver else { return value.ended(services) }
        if value.mustWait(services, { self.resume() }) { return }
        switch value.step(services) {
        case .done: value.ended(services)
        case .wait(let wait): wait.begin(self)
        }
    }
}
