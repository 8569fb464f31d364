import BrokerCommandOutput
import BrokerModel
import Contacts
import Foundation

/// Translates the library's errors into messages for the person.
enum ContactsFailure {
    /// Describes why a contact is rejected.
    static func reason(_ error: ContactError) -> String {
        switch error {
        case .invalidContact(let key, let reason): "\(key): \(reason)"
        case .limitExceeded(let limit, let maximum): "more than \(maximum) for \(limit)"
        case .invalidParameter(let name): "\(name) is not taken"
        }
    }

    static func describe(_ error: CNError, could task: String) -> CommandFailure {
        func failure(_ reason: String, try advice: String? = nil, _ code: CommandFailure.Code = .refused)
            -> CommandFailure
        {
            CommandFailure("could not \(task): \(reason)", try: advice, code)
        }
        let reset = "to be asked again: contactctl reset contactbook"
        switch error.code {
        case .authorizationDenied: break
        case .recordDoesNotExist: return failure("no contact that this program may see is meant")
        case .recordNotWritable: return failure("contactbook may not change that", try: reset)
        case .parentRecordDoesNotExist: return failure("no group that this program may see is meant")
        case .containmentCycle: return failure("a group cannot be within itself")
        case .containmentScope: return failure("the two are not kept in the same place")
        case .unauthorizedKeys:
            let keys = (error.keyPaths ?? []).map(Speech.clean)
            return failure("you have not let contactbook see: \(keys.joined(separator: ", "))", try: reset)
        case .validationMultipleErrors, .policyViolation:
            return failure(SaveFailure(error)?.reason ?? "a value is not taken", .notTried)
        case .dataAccessError:
            return failure(
                "your contacts cannot be read or written just now",
                try: "is the disk full? what contactbrokerd says tells more", .notTried)
        default:
            let reason = error.brokerError.map { "the contact broker answered \(Speech.clean($0))" }
            return failure(
                reason ?? error.failureReason ?? error.localizedDescription, try: error.recoverySuggestion, .notTried)
        }
        switch error.brokerError {
        case "AuthorizationNotDetermined":
            return failure("the question was not answered", try: "try again while contact-agent runs, and answer there")
        case "NoAgent":
            return failure(
                "nothing is there to ask you with", try: "in another terminal, try: contact-agent", .notTried)
        case "TooManyPrompts":
            let seconds = Int(error.retryAfter ?? 60)
            return failure("you were asked too often", try: "try again in \(seconds) seconds", .notTried)
        default: break
        }
        // Nothing that the person does on their own helps here.
        if let suggestion = error.recoverySuggestion {
            return failure(error.failureReason ?? error.localizedDescription, try: suggestion)
        }
        switch CNContactStore.authorizationStatus(for: .contacts) {
        case .restricted:
            return failure(
                "the administrator's policy does not allow it", try: "to see the rule: contactctl why contactbook")
        default: return failure("you have not let contactbook do that", try: reset)
        }
    }
}

extension ContactsFailure {
    /// Converts a ``SaveFailure`` to a ``CommandFailure``, for a save that is not repeated without its
    /// rejected step. Any other error is returned unchanged.
    static func refused(_ error: any Error, could task: String) -> any Error {
        guard let refused = error as? SaveFailure else { return error }
        return CommandFailure("could not \(task): \(refused.reason)", .notTried)
    }
}

/// A save that was rejected because a value is invalid or a limit is exceeded.
struct SaveFailure: Error {
    /// The index of the rejected step in the save; `nil` if the broker does not report it.
    let index: Int?
    let reason: String
    /// Whether the save has too many changes. A smaller save can succeed.
    let isTooLarge: Bool

    init?(_ error: CNError) {
        switch error.code {
        case .validationMultipleErrors:
            let value = error.validationErrors?.first
            let key = value?.keyPaths?.first.map(Speech.clean) ?? ""
            reason = "\(key.isEmpty ? "a value" : key) is not taken: \(Speech.clean(value?.failureReason ?? ""))"
        case .policyViolation where error.exceededLimit?.hasPrefix("addressBook") == true:
            reason = Speech.clean(error.failureReason ?? "the address book is full")
        case .policyViolation:
            let maximum = error.exceededLimitMaximum.map { " than \($0)" } ?? ""
            reason = "more\(maximum) for \(Speech.clean(error.exceededLimit ?? "a value"))"
        default: return nil
        }
        index = error.failedStep
        isTooLarge = error.code == .policyViolation && error.exceededLimit == "changes"
    }
}
