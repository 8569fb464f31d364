import BrokerJSON
import BrokerModel
import Foundation

/// Translates failed calls into ``CNError``.
extension CallFailure {
    /// - Parameter record: returns the record of the step with this index; `nil` if the step has none.
    func asError(about record: (Int) -> CNError.Record? = { _ in nil }) -> CNError {
        guard kind == .answered else {
            return CNError(.communicationError, reason: text, details: CNError.Details(suggestion: suggestion))
        }
        var details = CNError.Details(name: name)
        details.step = parameters["index"]?.integer.flatMap { Int(exactly: $0) }
        let records = details.step.flatMap(record).map { [$0] } ?? []
        func error(_ code: CNError.Code, _ reason: String = "", keys: [String] = []) -> CNError {
            CNError(
                code, reason: reason, records: records, identifiers: records.map(\.identifier), keyPaths: keys,
                details: details)
        }
        switch name {
        case "AccessDenied": return CNError(refusedBecause: parameters["reason"]?.string)
        case "AuthorizationNotDetermined": return .unanswered
        case "NoAgent":
            details.suggestion = CNError.whereToAnswer
            return error(.authorizationDenied, "nothing can ask the person, because contact-agent is not running")
        case "TooManyPrompts":
            let seconds = parameters["retryAfterSeconds"]?.integer ?? 60
            details.retryAfter = Int(clamping: seconds)
            details.waitReason = parameters["reason"]?.string
            details.suggestion = Self.advice(details.waitReason)
            let (wait, why) = (seconds == 1 ? "1 second" : "\(seconds) seconds", Self.words(details.waitReason))
            return error(
                .authorizationDenied, "this app must wait \(wait) before it can ask the person again, because \(why)")
        case "RecordDoesNotExist": return error(.recordDoesNotExist)
        case "RecordAlreadyExists": return error(.insertedRecordAlreadyExists)
        case "RecordNotWritable": return error(.recordNotWritable)
        case "RecordChanged":
            return error(.recordNotWritable, "it is not as it was when it was fetched; fetch it again, then retry")
        case "SaveDoesNotExist": return error(.featureNotAvailable, "nothing of it can be taken back")
        case "ContainmentCycle": return error(.containmentCycle)
        case "ContainmentScope": return error(.containmentScope)
        case "ParentRecordDoesNotExist": return error(.parentRecordDoesNotExist)
        case "ParentContainerNotWritable": return error(.parentContainerNotWritable)
        case "UnauthorizedKeys":
            let keys = parameters["keys"]?.elements?.compactMap(\.string) ?? []
            if !ContactKeySet(keys.compactMap(ContactKey.init)).isDisjoint(with: .named) {
                details.suggestion = "the person can give them in contact-agent, at this app, under Reads"
            }
            return error(.unauthorizedKeys, "not granted: " + keys.joined(separator: ", "), keys: keys)
        case "InvalidPredicate": return error(.predicateInvalid, parameters["reason"]?.string ?? "")
        case "InvalidContact":
            let key = parameters["key"]?.string ?? ""
            let reason = parameters["reason"]?.string ?? ""
            details.valueReason = reason
            return error(.validationMultipleErrors, "\(key): \(reason)", keys: [key])
        case "LimitExceeded":
            details.limit = parameters["limit"]?.string ?? "a limit"
            details.maximum = parameters["maximum"]?.integer.flatMap { Int(exactly: $0) }
            let maximum = details.maximum.map { ", at most \($0)" } ?? ""
            return error(.policyViolation, parameters["reason"]?.string ?? (details.limit ?? "") + maximum)
        case "StoreUnavailable": return error(.dataAccessError)
        default: return error(.communicationError, "the broker sent an unexpected error: \(name)")
        }
    }
}

extension CallFailure {
    /// Why an app must wait, in words.
    private static func words(_ reason: String?) -> String {
        switch reason {
        case "refusals": "its last requests were not granted"
        case "crowd": "other apps have asked too often"
        default: "another of its requests is still open"
        }
    }

    /// What the person can do while an app must wait.
    private static func advice(_ reason: String?) -> String {
        switch reason {
        case "refusals": "retry after that time, and answer in contact-agent"
        case "crowd": "answer or refuse the requests of other apps in contact-agent, then retry"
        default: "answer that request in contact-agent, then retry"
        }
    }
}

extension CNError {
    /// What the person can do after a prompt without an answer. The broker does not tell every call whether an agent
    /// was running.
    fileprivate static let whereToAnswer = "open contact-agent in another terminal, then retry and answer there"

    /// The error of a call whose prompt the person did not answer.
    static let unanswered = CNError(
        .authorizationDenied, reason: "the person did not answer the prompt",
        details: Details(name: "AuthorizationNotDetermined", suggestion: whereToAnswer))

    /// - Parameter unreadable: the Varlink type `Unreadable`: why the broker refuses every app; otherwise `nil`.
    init(refusedBecause unreadable: String?) {
        var details = Details(name: "AccessDenied")
        guard let unreadable else {
            self.init(.authorizationDenied, reason: "", details: details)
            return
        }
        let what = unreadable == "settingsUnreadable" ? "settings file" : "policy file"
        details.suggestion = "ask the administrator to correct it, then retry"
        self.init(
            .authorizationDenied, reason: "the administrator's \(what) cannot be read, so every app is refused",
            details: details)
    }
}

extension CallFailure {
    /// Translates the failure of a save. The error contains the record of the refused step.
    func asError(saving steps: [CNSaveRequest.Step]) -> CNError {
        let record = { steps.indices.contains($0) ? steps[$0].record : nil } as (Int) -> CNError.Record?
        let error = asError(about: record)
        guard let step = error.failedStep, steps.indices.contains(step) else { return error }
        switch (steps[step], error.code) {
        // If the refused step adds a record, only its container can be missing or refuse it. Apple's systems have
        // separate codes for that.
        case (.add, .recordDoesNotExist), (.addGroup, .recordDoesNotExist): return error.with(.parentRecordDoesNotExist)
        case (.add, .recordNotWritable), (.addGroup, .recordNotWritable):
            return error.with(.parentContainerNotWritable)
        default: return error
        }
    }
}

extension CNError.Record {
    var identifier: String {
        switch self {
        case .contact(let contact): contact.identifier
        case .group(let group): group.identifier
        }
    }
}
