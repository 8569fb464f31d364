import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

/// A request that selects changes from the change history.
open class CNChangeHistoryFetchRequest: CNFetchRequest, NSSecureCoding {
    /// The history token of an earlier fetch. If it is `nil` or too old, or belongs to another app, the fetch
    /// starts over: it returns a ``CNChangeHistoryDropEverythingEvent``, then an add event for each record. A
    /// token is valid for at least 20 days.
    open var startingToken: Data?
    /// The keys to fetch for the contacts of events, in addition to the identifier.
    open var additionalContactKeyDescriptors: [any CNKeyDescriptor]?
    /// Whether linked contacts are reported as one unified contact.
    open var shouldUnifyResults = true
    /// Whether the contacts of the events are ``CNMutableContact`` objects.
    open var mutableObjects = false
    /// Whether the result includes changes to groups.
    open var includeGroupChanges = false
    /// The authors whose changes are left out. An author is a name that this app set as
    /// ``CNSaveRequest/transactionAuthor``.
    open var excludedTransactionAuthors: [String]?

    /// Creates a request for all changes to contacts, with identifiers only.
    public override init() {}

    /// Always `true`: the class supports only secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the request with its token. The token is meaningless to other apps.
    open func encode(with coder: NSCoder) {
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

    /// Decodes a request that `encode(with:)` encoded. A missing flag becomes `false`; any other missing
    /// value becomes `nil`.
    public required init?(coder: NSCoder) {
        super.init()
        startingToken = coder.decodeObject(of: NSData.self, forKey: "startingToken") as Data?
        additionalContactKeyDescriptors = coder.decodeTexts(forKey: "additionalContactKeyDescriptors")
        shouldUnifyResults = coder.decodeBool(forKey: "shouldUnifyResults")
        mutableObjects = coder.decodeBool(forKey: "mutableObjects")
        includeGroupChanges = coder.decodeBool(forKey: "includeGroupChanges")
        excludedTransactionAuthors = coder.decodeTexts(forKey: "excludedTransactionAuthors")
    }
}

extension CNContactStore {
    /// Returns the changes since the request’s token, and the token for the next fetch.
    ///
    /// Each contact or group has at most one event, which describes the difference between its state at the
    /// token and its current state. Group memberships have separate events. The result's value enumerates
    /// ``CNChangeHistoryEvent`` objects. On Apple's systems only Objective-C has this method.
    public func enumerator(for request: CNChangeHistoryFetchRequest) throws -> CNFetchResult<NSEnumerator> {
        let result = try changeHistory(for: request)
        return CNFetchResult(
            value: NSArray(array: result.value).objectEnumerator(), currentHistoryToken: result.currentHistoryToken)
    }

    /// Returns the same as ``enumerator(for:)-(CNChangeHistoryFetchRequest)``, with typed events. An
    /// extension of this library.
    public func changeHistory(for request: CNChangeHistoryFetchRequest) throws -> CNFetchResult<[CNChangeHistoryEvent]>
    {
        let keys = try ContactKeySet(request.additionalContactKeyDescriptors ?? [])
        var events: [CNChangeHistoryEvent] = []
        var token: String?
        try Self.ask { () throws(CallFailure) in
            try BrokerCalls.shared.stream(.fetchHistory) { writer in
                // A token that is not UTF-8 is not valid, so the broker starts over.
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
    /// Decodes the Varlink type `HistoryEvent`; returns `nil` if this version does not know the event's kind,
    /// or if the event lacks its record.
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
        // Membership events have only the identifiers of the records.
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
