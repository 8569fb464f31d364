import AccessControl
import AccessStore

/// *Never ask again*: questions of some apps are answered empty, and the person is not asked. Access itself is another
/// matter: to that they say yes or no.
extension Broker {
    /// The person does not want to be asked about this app again. What has a lasting name stays so over restarts.
    func silence(_ caller: Caller) {
        guard let principal = caller.principals.last, access.silenceCount(caller.uid) < limits.silences else { return }
        access.silence(principal, now: seconds)
    }

    func isSilenced(_ caller: Caller) -> Bool { caller.principals.contains(where: access.isSilenced) }
}
