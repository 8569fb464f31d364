import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

/// What to tell of what happened in the address book since a place in its history.
public final class CNChangeHistoryFetchRequest: CNFetchRequest, NSSecureCoding {
    /// The place: a token from an earlier fetch. Without one, or with one that is too old or another app’s, everything is told
    /// anew: first ``CNChangeHistoryDropEverythingEvent``, then an add for each record. A token is good for 20 days at least.
    public var startingToken: Data?
    /// What the contacts of the events have besides their identifiers.
    public var additionalContactKeyDescriptors: [any CNKeyDescriptor]?
    /// Whether linked contacts are told of as one.
    public var shouldUnifyResults = true
    /// Whether the contacts of the events are ``CNMutableContact``.
    public var mutableObjects = false
    /// Whether what happened to groups is told too.
    public var includeGroupChanges = false
    /// Whose changes are left out: names that this app itself gave as ``CNSaveRequest/transactionAuthor``.
    public var excludedTransactionAuthors: [String]?

    /// Asks for everything, with identifiers alone.
    public override init() {}

    /// Always `true`: it is archived with secure coding alone.
    public static var supportsSecureCoding: Bool { true }

    /// Writes what is asked for, the token included: it names a place in this app’s history, and nothing to any other app.
    public func encode(with coder: NSCoder) {
        coder.encode(startingToken as NSData?, forKey: "startingToken")
        if let keys = additionalContactKeyDescriptors.flatMap({ try? ContactKeySet($0) })?.keys {
            coder.encode(keys.map { $0.rawValue as NSString } as NSArray, forKey: "additionalContactKeyDescriptors")
        }
        coder.encode(shouldUnifyResults, forKey: "shouldUnifyResults")
        coder.encode(mutableObjects, forKey: "mutableObjects")
        coder.encode(includeGroupChanges, forKey: "includeGroupChanges")
        if let authors = excludedTransactionAuthors {
            coder.encode(authors.map { $0 as NSString } as NSArray, forKey: "excludedTransactionAuthors")
        }
    }

    /// Reads what `encode(with:)` wrote; what is not there is as in a request that was just made, or not asked for.
    public required convenience init?(coder: NSCoder) {
        self.init()
        startingToken = coder.decodeObject(of: NSData.self, forKey: "startingToken") as Data?
        additionalContactKeyDescriptors = coder.decodeTexts(forKey: "additionalContactKeyDescriptors")
        shouldUnifyResults = coder.decodeBool(forKey: "shouldUnifyResults")
        mutableObjects = coder.decodeBool(forKey: "mutableObjects")
        includeGroupChanges = coder.decodeBool(forKey: "includeGroupChanges")
        excludedTransactionAuthors = coder.decodeTexts(forKey: "excludedTransactionAuthors")
    }
}

extension CNContactStore {
    /// The place in the history at which the address book is now; `nil` where the app sees no contacts, or where there is no
    /// broker. It asks nobody.
    public var currentHistoryToken: Data? {
        switch Self.authorizationStatus(for: .contacts) {
        case .authorized, .limited: break
        case .notDetermined, .denied, .restricted: return nil
        }
        let request = CNContactFetchRequest(keysToFetch: [])
        request.predicate = CNContact.predicateForContacts(withIdentifiers: [])
        // Nobody is asked for: the reply has the token and nothing else.
        return (try? fetch(request, more: false) { _ in true }) ?? nil
    }

    /// What happened since the request’s token, and the token from which to go on.
    ///
    /// Each record has one event at most: what it was at the token’s place, compared with what it is now. The value is a
    /// sequence of ``CNChangeHistoryEvent``. On Apple’s systems only Objective-C sees this method.
    public func enumerator(for request: CNChangeHistoryFetchRequest) throws -> CNFetchResult<NSEnumerator> {
        let result = try changeHistory(for: request)
        return CNFetchResult(
            value: NSArray(array: result.value).objectEnumerator(), currentHistoryToken: result.currentHistoryToken)
    }

    /// As ``enumerator(for:)-(CNChangeHistoryFetchRequest)``, with events that need no cast. An extension of this library.
    public func changeHistory(for request: CNChangeHistoryFetchRequest) throws -> CNFetchResult<[CNChangeHistoryEvent]>
    {
        let keys = try ContactKeySet(request.additionalContactKeyDescriptors ?? [])
        var events: [CNChangeHistoryEvent] = []
        var token: String?
        try Self.ask { () throws(CallFailure) in
            try BrokerCalls.shared.stream(.fetchHistory) { writer in
                // One that is no text was never a token: the broker is told so, and starts over.
                writer.member("token", request.startingToken.map { String(decoding: $0, as: UTF8.self) })
                writer.member("keys", keys.keys.map(\.rawValue))
                writer.member("unify", request.shouldUnifyResults)
                writer.member("includeGroups", request.includeGroupChanges)
                writer.member("excludedAuthors", request.excludedTransactionAuthors)
            } each: { reply, _ in
                token = reply["historyToken"]?.string ?? token
                for json in reply["events"]?.elements.map(Array.init) ?? [] {
                    let event = CNChangeHistoryEvent.event(json) { .received($0, keys, request.mutableObjects) }
                    if let event { events.append(event) }
                }
                return true
            }
        }
        return CNFetchResult(value: events, currentHistoryToken: token.map { Data($0.utf8) })
    }
}

extension CNChangeHistoryEvent {
    /// A `HistoryEvent` of the interface; `nil` for a kind that this version does not know.
    fileprivate static func event(
        _ json: JSONValue, _ contact: (JSONValue) -> CNContact
    ) -> CNChangeHistoryEvent? {
        let identifier = json["identifier"]?.string ?? ""
        func withContact(_ make: (CNContact) -> CNChangeHistoryEvent) -> CNChangeHistoryEvent? {
            json["contact"].map { make(contact($0)) }
        }
        func withGroup(_ make: (CNGroup) -> CNChangeHistoryEvent) -> CNChangeHistoryEvent? {
            json["group"].map { make(CNGroup(wire: $0)) }
        }
        // Of who joined or left, and of which group, the identifiers are told.
        func group() -> CNGroup { CNGroup(CNGroup.Values(identifier: identifier)) }
        func member() -> CNContact {
            CNContact(ContactValues(identifier: json["member"]?.string ?? ""), keys: [])
        }
        func subgroup() -> CNGroup { CNGroup(CNGroup.Values(identifier: json["member"]?.string ?? "")) }
        let container = json["container"]?.string
        let kind = json["kind"]?.string
        switch kind {
        case "dropEverything": return CNChangeHistoryDropEverythingEvent()
        case "addContact", "granted":
            return withContact {
                CNChangeHistoryAddContactEvent(
                    contact: $0, containerIdentifier: container, isGranted: kind == "granted")
            }
        case "updateContact": return withContact { CNChangeHistoryUpdateContactEvent(contact: $0) }
        case "deleteContact", "revoked":
            return CNChangeHistoryDeleteContactEvent(contactIdentifier: identifier, isRevoked: kind == "revoked")
        case "addGroup":
            return withGroup { CNChangeHistoryAddGroupEvent(group: $0, containerIdentifier: container ?? "") }
        case "updateGroup": return withGroup { CNChangeHistoryUpdateGroupEvent(group: $0) }
        case "deleteGroup": return CNChangeHistoryDeleteGroupEvent(groupIdentifier: identifier)
        case "addMember": return CNChangeHistoryAddMemberToGroupEvent(member: member(), group: group())
        case "removeMember": return CNChangeHistoryRemoveMemberFromGroupEvent(member: member(), group: group())
        case "addSubgroup": return CNChangeHistoryAddSubgroupToGroupEvent(subgroup: subgroup(), group: group())
        case "removeSubgroup": return CNChangeHistoryRemoveSubgroupFromGroupEvent(subgroup: subgroup(), group: group())
        default: return nil
        }
    }
}
