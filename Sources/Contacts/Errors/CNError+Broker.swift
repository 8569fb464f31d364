import Foundation

extension CNError {
    /// The details of an error beyond its code, in the broker's terms.
    struct Details: Hashable, Sendable {
        var name: String?
        var step: Int?
        var retryAfter: Int?
        var limit: String?
        var maximum: Int?
        /// Why a value is invalid, without its key.
        var valueReason: String?
        var suggestion: String?
    }

    /// The error's name in the interface `io.contactbroker.Contacts`, without its prefix, such as `NoAgent`.
    /// `nil` if the error has none, for example because the broker was not reached. An extension of this
    /// library.
    public var brokerError: String? { details.name }

    /// The index of the refused step of a save, from 0, among the steps of the ``CNSaveRequest``. `nil` if
    /// the error does not concern a step. A save without this step may succeed. An extension of this library.
    public var failedStep: Int? { details.step }

    /// The seconds until the broker may prompt again, if there were too many prompts. An extension of this library.
    public var retryAfter: TimeInterval? { details.retryAfter.map(TimeInterval.init) }

    /// The name of the exceeded limit in the interface, such as `changes` or `value`. Only for
    /// ``Code/policyViolation``. An extension of this library.
    public var exceededLimit: String? { details.limit }

    /// The maximum of the exceeded limit, if it is known. An extension of this library.
    public var exceededLimitMaximum: Int? { details.maximum }
}
