import Foundation

/// The domain of the errors of this library.
public let CNErrorDomain = "CNErrorDomain"
/// The key in an error’s `userInfo` for the affected contacts or groups.
public let CNErrorUserInfoAffectedRecordsKey = "CNErrorUserInfoAffectedRecordsKey"
/// The key in an error’s `userInfo` for the identifiers of the affected records.
public let CNErrorUserInfoAffectedRecordIdentifiersKey = "CNErrorUserInfoAffectedRecordIdentifiersKey"
/// The key in an error’s `userInfo` for ``CNError/validationErrors``.
public let CNErrorUserInfoValidationErrorsKey = "CNErrorUserInfoValidationErrorsKey"
/// The key in an error’s `userInfo` for the affected keys.
public let CNErrorUserInfoKeyPathsKey = "CNErrorUserInfoKeyPathsKey"
/// The key in an error’s `userInfo` for ``CNError/brokerError``. An extension of this library.
public let CNErrorUserInfoBrokerErrorKey = "CNErrorUserInfoBrokerErrorKey"

/// An error of this library.
///
/// Catch errors by their code, as on Apple's systems:
///
///     do { … } catch CNError.authorizationDenied { … }
public struct CNError: Error, Hashable, Sendable {
    /// The kinds of error that an app can distinguish.
    public enum Code: Int, Hashable, Sendable, CaseIterable {
        /// The contact broker could not be reached, or its reply did not arrive or was not valid.
        case communicationError = 1
        /// The address book cannot be read or written at the moment.
        case dataAccessError = 2
        /// This app may not access contacts, or the person could not be prompted or did not answer.
        case authorizationDenied = 100
        /// No container accepts new contacts.
        case noAccessableWritableContainers = 101
        /// This app may not access some of the properties that it asked for.
        case unauthorizedKeys = 102
        /// The feature was turned off.
        case featureDisabledByUser = 103
        /// The feature is not available.
        case featureNotAvailable = 104
        /// The record does not exist.
        case recordDoesNotExist = 200
        /// The record already exists.
        case insertedRecordAlreadyExists = 201
        /// A group would contain itself.
        case containmentCycle = 202
        /// A group and its members must be in one container.
        case containmentScope = 203
        /// The group or container does not exist.
        case parentRecordDoesNotExist = 204
        /// The identifier is not valid.
        case recordIdentifierInvalid = 205
        /// This app may not change the record.
        case recordNotWritable = 206
        /// This app may not change the container.
        case parentContainerNotWritable = 207
        /// Some values cannot be saved.
        case validationMultipleErrors = 300
        /// A value cannot be saved.
        case validationTypeMismatch = 301
        /// A property that was not fetched cannot be saved.
        case validationConfigurationError = 302
        /// The predicate is not supported.
        case predicateInvalid = 400
        /// A limit was exceeded.
        case policyViolation = 500
        /// The client identifier is not valid.
        case clientIdentifierInvalid = 600
        /// The client identifier does not exist.
        case clientIdentifierDoesNotExist = 601
        /// The client identifier already exists.
        case clientIdentifierCollision = 602
        /// The history does not reach back to the token.
        case changeHistoryExpired = 603
        /// The history token is not valid.
        case changeHistoryInvalidAnchor = 604
        /// The history fetch request is not valid.
        case changeHistoryInvalidFetchRequest = 605
        /// The vCard cannot be read.
        case vCardMalformed = 700
        /// The vCard cannot be written.
        case vCardSummarizationError = 701
    }

    /// The kind of error.
    public let code: Code
    private let reason: String
    private let records: [Record]
    private let identifiers: [String]
    private let keys: [String]
    let details: Details

    /// An immutable copy of a record that an error concerns.
    enum Record: Hashable, Sendable {
        case contact(CNContact)
        case group(CNGroup)

        init?(_ object: AnyObject) {
            if let contact = object as? CNContact {
                self = .contact(CNContact(contact.values, keys: contact.keysThatCanBeRead))
            } else if let group = object as? CNGroup {
                self = .group(CNGroup(group.values))
            } else {
                return nil
            }
        }

        var object: AnyObject {
            switch self {
            case .contact(let contact): contact
            case .group(let group): group
            }
        }
    }

    /// Creates an error like those that this library throws, for an app’s own tests.
    ///
    /// - Parameters:
    ///   - code: the kind of error.
    ///   - userInfo: the source of the reason, suggestion, records, identifiers, key paths and ``brokerError``. Other
    ///     entries are dropped, since an error may be sent between threads.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        let records = userInfo[CNErrorUserInfoAffectedRecordsKey] as? [AnyObject] ?? []
        self.init(
            code, reason: userInfo[NSLocalizedFailureReasonErrorKey] as? String ?? "",
            records: records.compactMap(Record.init),
            identifiers: userInfo[CNErrorUserInfoAffectedRecordIdentifiersKey] as? [String] ?? [],
            keyPaths: userInfo[CNErrorUserInfoKeyPathsKey] as? [String] ?? [],
            details: Details(
                name: userInfo[CNErrorUserInfoBrokerErrorKey] as? String,
                suggestion: userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String))
    }

    init(
        _ code: Code, reason: String, records: [Record] = [], identifiers: [String] = [], keyPaths: [String] = [],
        details: Details = Details()
    ) {
        self.code = code
        self.reason = reason
        self.records = records
        self.identifiers = identifiers
        keys = keyPaths
        self.details = details
    }

    /// Returns a copy of the error with this code.
    func with(_ code: Code) -> CNError {
        CNError(
            code, reason: reason, records: records, identifiers: identifiers, keyPaths: keys, details: details)
    }

    /// The domain of the errors of this library.
    public static var errorDomain: String { CNErrorDomain }

    /// The affected contacts or groups; `nil` if there are none.
    public var affectedRecords: [AnyObject]? { records.isEmpty ? nil : records.map(\.object) }

    /// The identifiers of the affected records; `nil` if there are none.
    public var affectedRecordIdentifiers: [String]? { identifiers.isEmpty ? nil : identifiers }

    /// The affected keys; `nil` if there are none.
    public var keyPaths: [String]? { keys.isEmpty ? nil : keys }

    /// One error for each key with an invalid value; `nil` if the error is not about values.
    public var validationErrors: [CNError]? {
        guard code == .validationMultipleErrors else { return nil }
        return keys.map { CNError(.validationTypeMismatch, reason: details.valueReason ?? reason, keyPaths: [$0]) }
    }

    /// The description of the error, and any further details. The texts never contain values of a contact,
    /// but the affected records do.
    public var userInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: sentence]
        if !reason.isEmpty { info[NSLocalizedFailureReasonErrorKey] = reason }
        if let affectedRecords { info[CNErrorUserInfoAffectedRecordsKey] = affectedRecords }
        if !identifiers.isEmpty { info[CNErrorUserInfoAffectedRecordIdentifiersKey] = identifiers }
        if !keys.isEmpty { info[CNErrorUserInfoKeyPathsKey] = keys }
        if let validationErrors { info[CNErrorUserInfoValidationErrorsKey] = validationErrors }
        if let recoverySuggestion { info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion }
        if let brokerError { info[CNErrorUserInfoBrokerErrorKey] = brokerError }
        return info
    }
}

extension CNError: CustomNSError {
    /// The raw value of ``code``, for `NSError`.
    public var errorCode: Int { code.rawValue }
    /// The same as ``userInfo``, for `NSError`.
    public var errorUserInfo: [String: Any] { userInfo }
}

extension CNError: LocalizedError {
    /// What failed, why, and what to do, in English: the description of ``code``, then ``failureReason`` and
    /// ``recoverySuggestion`` if there are any. The text never contains values of a contact, so an app may show or log
    /// it.
    public var errorDescription: String? { sentence }
    /// The reason, in English; `nil` if there is none.
    public var failureReason: String? { reason.isEmpty ? nil : reason }
    /// A suggestion for what to try, in English; `nil` if there is none.
    public var recoverySuggestion: String? { details.suggestion }
}

extension CNError: CustomStringConvertible {
    /// The error's domain and code, and the same text as `localizedDescription`.
    public var description: String { "\(CNErrorDomain) \(code.rawValue): \(sentence)" }

    private var sentence: String {
        let why = [failureReason, recoverySuggestion].compactMap { $0 }.joined(separator: "; ")
        return why.isEmpty ? code.summary : "\(code.summary.dropLast()): \(why)"
    }
}

extension CNError.Code {
    /// Lets `catch CNError.authorizationDenied` match errors with that code.
    public static func ~= (code: CNError.Code, error: any Error) -> Bool {
        if let error = error as? CNError { return error.code == code }
        let error = error as NSError
        return error.domain == CNErrorDomain && error.code == code.rawValue
    }

    /// A description of the code in one sentence.
    var summary: String {
        switch self {
        case .communicationError: "The contact broker could not be reached."
        case .dataAccessError: "The address book cannot be read or written just now."
        case .authorizationDenied: "This app may not access contacts."
        case .noAccessableWritableContainers: "There is no container that this app may write to."
        case .unauthorizedKeys: "This app may not access some of the requested properties."
        case .featureDisabledByUser: "The feature was turned off."
        case .featureNotAvailable: "The feature is not available."
        case .recordDoesNotExist: "The record does not exist."
        case .insertedRecordAlreadyExists: "The record already exists."
        case .containmentCycle: "A group would contain itself."
        case .containmentScope: "A group and its members must be in the same container."
        case .parentRecordDoesNotExist: "The group or container does not exist."
        case .recordIdentifierInvalid: "The identifier is not valid."
        case .recordNotWritable: "This app cannot change the record."
        case .parentContainerNotWritable: "This app cannot change the container."
        case .validationMultipleErrors: "Some values cannot be saved."
        case .validationTypeMismatch: "A value cannot be saved."
        case .validationConfigurationError: "A property that was not fetched cannot be saved."
        case .predicateInvalid: "The predicate is not supported."
        case .policyViolation: "A limit of the address book was exceeded."
        case .clientIdentifierInvalid: "The client identifier is not valid."
        case .clientIdentifierDoesNotExist: "The client identifier does not exist."
        case .clientIdentifierCollision: "The client identifier already exists."
        case .changeHistoryExpired: "The history does not go back that far."
        case .changeHistoryInvalidAnchor: "The history token is not valid."
        case .changeHistoryInvalidFetchRequest: "The history cannot be fetched with this request."
        case .vCardMalformed: "The vCard cannot be read."
        case .vCardSummarizationError: "The vCard cannot be written."
        }
    }
}
