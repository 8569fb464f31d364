import Foundation

// Without this conformance, a `do` whose only `catch` is `catch let error as NSError` ends the program on Linux: the
// compiler takes that clause for one that catches every error, and the runtime casts only bridged types to a class.
extension CNError: _ObjectiveCBridgeable {
    /// Returns the error as an `NSError` with the same domain, code and `userInfo`.
    public func _bridgeToObjectiveC() -> NSError {
        NSError(domain: Self.errorDomain, code: errorCode, userInfo: errorUserInfo)
    }

    /// Sets the result to the error that an `NSError` represents; to `nil` if it is none of this library.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CNError?) {
        result = Code(rawValue: source.code).map { CNError($0, userInfo: source.userInfo) }
        if source.domain != errorDomain { result = nil }
    }

    /// Sets the result as ``_forceBridgeFromObjectiveC(_:result:)`` does.
    ///
    /// - Returns: whether the `NSError` is an error of this library.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout CNError?) -> Bool {
        _forceBridgeFromObjectiveC(source, result: &result)
        return result != nil
    }

    /// Returns the error that an `NSError` represents; ``Code/communicationError`` if it is none of this library.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CNError {
        var result: CNError?
        if let source { _forceBridgeFromObjectiveC(source, result: &result) }
        return result ?? CNError(.communicationError)
    }
}

// The codes as static members of the error, so that an app can write `catch CNError.recordDoesNotExist`.

extension CNError {
    /// Code 1: see ``Code/communicationError``.
    public static var communicationError: Code { .communicationError }
    /// Code 2: see ``Code/dataAccessError``.
    public static var dataAccessError: Code { .dataAccessError }
    /// Code 100: see ``Code/authorizationDenied``.
    public static var authorizationDenied: Code { .authorizationDenied }
    /// Code 101: see ``Code/noAccessableWritableContainers``.
    public static var noAccessableWritableContainers: Code { .noAccessableWritableContainers }
    /// Code 102: see ``Code/unauthorizedKeys``.
    public static var unauthorizedKeys: Code { .unauthorizedKeys }
    /// Code 103: see ``Code/featureDisabledByUser``.
    public static var featureDisabledByUser: Code { .featureDisabledByUser }
    /// Code 104: see ``Code/featureNotAvailable``.
    public static var featureNotAvailable: Code { .featureNotAvailable }
    /// Code 200: see ``Code/recordDoesNotExist``.
    public static var recordDoesNotExist: Code { .recordDoesNotExist }
    /// Code 201: see ``Code/insertedRecordAlreadyExists``.
    public static var insertedRecordAlreadyExists: Code { .insertedRecordAlreadyExists }
    /// Code 202: see ``Code/containmentCycle``.
    public static var containmentCycle: Code { .containmentCycle }
    /// Code 203: see ``Code/containmentScope``.
    public static var containmentScope: Code { .containmentScope }
    /// Code 204: see ``Code/parentRecordDoesNotExist``.
    public static var parentRecordDoesNotExist: Code { .parentRecordDoesNotExist }
    /// Code 205: see ``Code/recordIdentifierInvalid``.
    public static var recordIdentifierInvalid: Code { .recordIdentifierInvalid }
    /// Code 206: see ``Code/recordNotWritable``.
    public static var recordNotWritable: Code { .recordNotWritable }
    /// Code 207: see ``Code/parentContainerNotWritable``.
    public static var parentContainerNotWritable: Code { .parentContainerNotWritable }
    /// Code 300: see ``Code/validationMultipleErrors``.
    public static var validationMultipleErrors: Code { .validationMultipleErrors }
    /// Code 301: see ``Code/validationTypeMismatch``.
    public static var validationTypeMismatch: Code { .validationTypeMismatch }
    /// Code 302: see ``Code/validationConfigurationError``.
    public static var validationConfigurationError: Code { .validationConfigurationError }
    /// Code 400: see ``Code/predicateInvalid``.
    public static var predicateInvalid: Code { .predicateInvalid }
    /// Code 500: see ``Code/policyViolation``.
    public static var policyViolation: Code { .policyViolation }
    /// Code 600: see ``Code/clientIdentifierInvalid``.
    public static var clientIdentifierInvalid: Code { .clientIdentifierInvalid }
    /// Code 601: see ``Code/clientIdentifierDoesNotExist``.
    public static var clientIdentifierDoesNotExist: Code { .clientIdentifierDoesNotExist }
    /// Code 602: see ``Code/clientIdentifierCollision``.
    public static var clientIdentifierCollision: Code { .clientIdentifierCollision }
    /// Code 603: see ``Code/changeHistoryExpired``.
    public static var changeHistoryExpired: Code { .changeHistoryExpired }
    /// Code 604: see ``Code/changeHistoryInvalidAnchor``.
    public static var changeHistoryInvalidAnchor: Code { .changeHistoryInvalidAnchor }
    /// Code 605: see ``Code/changeHistoryInvalidFetchRequest``.
    public static var changeHistoryInvalidFetchRequest: Code { .changeHistoryInvalidFetchRequest }
    /// Code 700: see ``Code/vCardMalformed``.
    public static var vCardMalformed: Code { .vCardMalformed }
    /// Code 701: see ``Code/vCardSummarizationError``.
    public static var vCardSummarizationError: Code { .vCardSummarizationError }
}
