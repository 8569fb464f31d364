import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerLedger

extension Grants {
    /// Stores that the person does not want to be asked about this app again, by any kind of prompt. For
    /// a persistent principal, the choice survives restarts. Choices beyond ``Limits/silences`` per user
    /// are ignored.
    package func silence(_ caller: Caller) {
        guard canSilence(caller), let principal = caller.principals.last else { return }
        access.silences.silence(principal, now: surroundings.seconds)
    }

    /// Whether ``silence(_:)`` can store this choice.
    package func canSilence(_ caller: Caller) -> Bool {
        isSilenced(caller) || access.silences.count(of: caller.uid) < surroundings.limits.silences
    }

    package func isSilenced(_ caller: Caller) -> Bool { caller.principals.contains(where: access.silences.contains) }
}
