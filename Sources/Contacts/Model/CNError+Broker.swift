import Foundation

extension CNError {
    /// The details of an error in addition to its code, in the broker's terms.
    struct Details: Hashable, Sendable {
        var name: String?
        var step: Int?
        var retryAfter: Int?
        var waitReason: String?
        var limit: String?
        var maximum: Int?
        /// The reason why a value is invalid; the text does not contain the value's key.
        var valueReason: String?
        var suggestion: String?
    }

    /// The error's name in the interface `io.contactbroker.Contacts`, without the interface's name, such as
    /// `NoAgent`. `nil` if the error has no such name, for example because the broker could not be reached.
    /// An extension of this library.
    public var brokerError: String? { details.name }

    /// The index of the refused step among the steps of the ``CNSaveRequest``, counted from 0. `nil` if the
    /// error does not concern a step. A save without this step may succeed. An extension of this library.
    public var failedStep: Int? { details.step }

    /// The number of seconds until the broker may prompt again; `nil` unless there were too many prompts. An
    /// extension of this library.
    public var retryAfter: TimeInterval? { details.retryAfter.map(TimeInterval.init) }

    /// Why the broker may not prompt yet: `refusals` if the app's last prompts granted nothing, `crowd` if prompts of
    /// other apps use up a limit. `nil` if a prompt of this app is open, or if the error is a different one. An
    /// extension of this library.
    public var waitReason: String? { details.waitReason }

    /// The name of the exceeded limit in the interface, such as `changes` or `value`. `nil` unless the code
    /// is ``Code/policyViolation``. An extension of this library.
    public var exceededLimit: String? { details.limit }

    /// The maximum that the exceeded limit allows; `nil` if no limit was exceeded or the maximum is unknown.
    /// An extension of this library.
    public var exceededLimitMaximum: Int? { details.maximum }
}
