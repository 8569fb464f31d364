import Foundation

extension CNError {
    /// What an error says beyond its code, in the broker's terms.
    struct Details: Hashable, Sendable {
        var name: String?
        var step: Int?
        var retryAfter: Int?
        var limit: String?
        var maximum: Int?
        /// Why a value is not taken, without its key.
        var valueReason: String?
        var suggestion: String?
    }

    /// The broker's own name for what went wrong, such as `NoAgent`: an error of the interface `io.contactbroker.Contacts`, without its
    /// prefix. `nil` where the broker was not reached, or not asked. An extension of this library.
    public var brokerError: String? { details.name }

    /// Which step of a save was refused: its place among the steps of the ``CNSaveRequest``, from 0. `nil` where it is about none of
    /// them. Without that step the others can be saved. An extension of this library.
    public var failedStep: Int? { details.step }

    /// After how many seconds the person may be asked again, where they were asked too often. An extension of this library.
    public var retryAfter: TimeInterval? { details.retryAfter.map(TimeInterval.init) }

    /// The bound that was passed, by its name in the interface: `changes`, `value`. Of ``Code/policyViolation`` alone. An extension
    /// of this library.
    public var exceededLimit: String? { details.limit }

    /// How much the bound that was passed allows, where the broker says it. An extension of this library.
    public var exceededLimitMaximum: Int? { details.maximum }
}
