import BrokerCommandOutput
import BrokerContactFiles
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

    /// Describes what is left out of an imported contact.
    static func reason(_ leftOut: Contact.LeftOut) -> String {
        let why =
            if case .invalidContact(_, let reason) = leftOut.error { reason } else { reason(leftOut.error) }
        let values = leftOut.count == 1 ? "" : "\(leftOut.count) values of "
        return "\(values)\(leftOut.key.rawValue) left out: \(why)"
    }

    static func describe(_ error: CNError, could task: String) -> CommandFailure {
        func failure(_ reason: String, try advice: String? = nil, _ code: CommandFailure.Code = .refused)
            -> CommandFailure
        {
            CommandFailure("could not \(task): \(reason)", try: advice, code)
        }
        switch error.code {
        case .authorizationDenied: break
        case .recordDoesNotExist: return failure("no contact that this program may see is meant")
        case .recordNotWritable, .parentContainerNotWritable:
            return failure(
                "contactbook may not change that", try: "allow it in contact-agent, at contactbook, under Changes")
        case .parentRecordDoesNotExist: return failure("no group that this program may see is meant")
        case .containmentCycle: return failure("a group cannot be within itself")
        case .containmentScope: return failure("the two are not kept in the same place")
        case .unauthorizedKeys:
            let keys = (error.keyPaths ?? []).map(Speech.clean)
            return failure("contactbook may not see: \(keys.joined(separator: ", "))", try: decided)
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
            return failure(
                "you did not answer the request", try: "open contact-agent in another terminal, then retry")
        case "NoAgent":
            return failure(
                "contact-agent is not running, so nothing can ask you",
                try: "open contact-agent in another terminal, then retry", .notTried)
        case "TooManyPrompts":
            let (reason, advice) = held(for: Int(error.retryAfter ?? 60), error.waitReason)
            return failure(reason, try: advice, .notTried)
        default: break
        }
        // Nothing that the person does on their own helps here.
        if let suggestion = error.recoverySuggestion {
            return failure(error.failureReason ?? error.localizedDescription, try: suggestion)
        }
        switch CNContactStore.authorizationStatus(for: .contacts) {
        case .restricted:
            return failure(
                "the administrator's policy does not allow it",
                try: "to see the rule: contactctl why contactbook; only an administrator can change it")
        case .denied:
            return failure(
                "you refused contactbook access to your contacts",
                try: "to let it ask again: contactctl reset contactbook")
        default: return failure("contactbook may not do that", try: decided)
        }
    }

    /// Advice after a refusal. The broker does not tell an app whether the person or the policy decided, and a reset
    /// changes nothing about the policy.
    static let decided =
        "to see whether you or the administrator's policy decided: contactctl why contactbook; "
        + "if you did, contactctl reset contactbook lets it ask again"

    /// Describes why contactbook may not ask the person now, and what the person can do.
    private static func held(for seconds: Int, _ reason: String?) -> (reason: String, advice: String) {
        let wait = "contactbook must wait \(Self.wait(seconds)) before it can ask you again, because "
        return switch reason {
        case "refusals":
            (wait + "its last requests were not granted", "retry after that time, and answer in contact-agent")
        case "crowd":
            (
                wait + "other programs have asked too often",
                "answer or refuse their requests in contact-agent, then retry"
            )
        default: ("another request of contactbook is still open", "answer it in contact-agent, then retry")
        }
    }

    /// A time in the largest unit of which there are at least two, rounded up.
    static func wait(_ seconds: Int) -> String {
        switch seconds {
        case ...1: "1 second"
        case ..<120: "\(seconds) seconds"
        case ..<7_200: "\((seconds + 59) / 60) minutes"
        default: "\((seconds + 3_599) / 3_600) hours"
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
