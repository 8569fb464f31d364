import CommandOutput
import ContactsModel
import JSON
import VarlinkClient

/// Says what the broker's answers mean to whoever typed the command.
enum ContactsFailure {
    static let prefix = "io.contactbroker.Contacts."

    /// Why a contact is not taken, in words.
    static func reason(_ error: ContactError) -> String {
        switch error {
        case .invalidContact(let key, let reason): "\(key): \(reason)"
        case .limitExceeded(let limit, let maximum): "more than \(maximum) for \(limit)"
        case .invalidParameter(let name): "\(name) is not taken"
        }
    }

    static func describe(_ error: VarlinkClientError, could task: String) -> CommandFailure {
        guard case .error(let name, let parameters) = error, name.hasPrefix(prefix) else {
            return CommandFailure(could: task, error)
        }
        func failure(_ reason: String, try advice: String? = nil, _ code: CommandFailure.Code = .refused)
            -> CommandFailure
        {
            CommandFailure("could not \(task): \(reason)", try: advice, code)
        }
        let reset = "to be asked again: contactctl reset contactbook"
        switch name.dropFirst(prefix.count) {
        case "AccessDenied": return failure("you have not let contactbook do that", try: reset)
        case "AuthorizationNotDetermined":
            return failure("the question was not answered", try: "try again while contact-agent runs, and answer there")
        case "NoAgent":
            return failure(
                "nothing is there to ask you with", try: "in another terminal, try: contact-agent", .notTried)
        case "TooManyPrompts":
            let seconds = parameters["retryAfterSeconds"]?.integer ?? 60
            return failure("you were asked too often", try: "try again in \(seconds) seconds", .notTried)
        case "RecordDoesNotExist": return failure("no contact that this program may see is meant")
        case "RecordNotWritable": return failure("contactbook may not change that", try: reset)
        case "ParentRecordDoesNotExist": return failure("no group that this program may see is meant")
        case "ContainmentCycle": return failure("a group cannot be within itself")
        case "ContainmentScope": return failure("the two are not kept in the same place")
        case "UnauthorizedKeys":
            let keys = parameters["keys"]?.elements?.compactMap(\.string).map(Speech.clean) ?? []
            return failure("you have not let contactbook see: \(keys.joined(separator: ", "))", try: reset)
        case "InvalidContact", "LimitExceeded":
            return failure(SaveFailure(error)?.reason ?? "a value is not taken", .notTried)
        case "StoreUnavailable":
            return failure(
                "your contacts cannot be read or written just now",
                try: "is the disk full? what contactbrokerd says tells more", .notTried)
        default: return failure("the contact broker answered \(Speech.clean(name))", .notTried)
        }
    }
}

extension ContactsFailure {
    /// A save that has one step, or of which no step can be left out.
    static func refused(_ error: any Error, could task: String) -> any Error {
        guard let refused = error as? SaveFailure else { return error }
        return CommandFailure("could not \(task): \(refused.reason)", .notTried)
    }
}

/// One contact of a save that is not taken, and why.
struct SaveFailure: Error {
    /// Place of its step in the save, where the broker says it.
    let index: Int?
    let reason: String

    init?(_ error: VarlinkClientError) {
        guard case .error(let name, let parameters) = error else { return nil }
        switch name {
        case ContactsFailure.prefix + "InvalidContact":
            let key = Speech.clean(parameters["key"]?.string ?? "a value")
            reason = "\(key) is not taken: \(Speech.clean(parameters["reason"]?.string ?? ""))"
        case ContactsFailure.prefix + "LimitExceeded":
            let maximum = parameters["maximum"]?.integer.map { " than \($0)" } ?? ""
            reason = "more\(maximum) for \(Speech.clean(parameters["limit"]?.string ?? "a value"))"
        default: return nil
        }
        index = (parameters["index"]?.integer).flatMap { Int(exactly: $0) }
    }
}
