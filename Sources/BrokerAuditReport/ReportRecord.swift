import BrokerAccessControl
import BrokerJSON
import BrokerModel

/// An audit record as `QueryAudit` of `io.contactbroker.Admin` returns it.
struct ReportRecord {
    /// Seconds since 1970.
    let time: Int64
    let uid: UInt32
    /// Empty if the record concerns no app.
    let app: String
    let strength: String
    let event: AuditEvent
    let status: AuthorizationStatus?
    let keys: ContactKeySet
    let count: Int
    /// Pseudonyms of contacts; `nil` if the record names none.
    let contacts: [String]?
    let repeats: Int?
    let detail: String
    /// Whether the reader is an administrator. Only administrators get the sequence number and the pseudonyms.
    let isWhole: Bool

    /// Fails if the record is of a kind that this program does not know, as a later broker may send.
    init?(_ json: JSONValue) {
        guard let time = json["time"]?.string.flatMap(Timestamp.seconds),
            let uid = json["uid"]?.integer.flatMap(UInt32.init(exactly:)),
            let event = json["event"]?.string.flatMap(AuditEvent.init(rawValue:))
        else { return nil }
        self.time = time
        self.uid = uid
        self.event = event
        app = json["app"]?.string ?? ""
        strength = json["strength"]?.string ?? ""
        status = json["status"]?.string.flatMap(AuthorizationStatus.init(rawValue:))
        let keyNames = json["keys"]?.elements?.compactMap(\.string) ?? []
        keys = ContactKeySet(keyNames.compactMap(GrantKey.init(rawValue:)))
        count = Self.number(json["contacts"]) ?? 0
        contacts = json["contactIdentifiers"]?.elements?.compactMap(\.string)
        repeats = Self.number(json["repeats"])
        detail = json["detail"]?.string ?? ""
        isWhole = json["sequence"] != nil
    }

    /// Far more than a record counts. A sum over all records of an audit does not overflow.
    private static let largest: Int64 = 1 << 40

    private static func number(_ json: JSONValue?) -> Int? {
        (json?.integer).map { Int(min(max($0, 0), largest)) }
    }

    /// The number of events that the record stands for.
    var times: Int { repeats ?? 1 }

    /// Whether the record is a further part of the record before, because one record cannot name all contacts.
    var isContinued: Bool { detail == "continued" }
    /// Whether what the app saw by a policy rule changed, and its grant stayed as it was.
    var isByPolicyGroup: Bool { detail == AuditRecord.byPolicyGroup }
    /// Whether the person changed the app's access themself, and the app had not asked.
    var isInReview: Bool { detail.hasPrefix(AuditRecord.inReview) }
    /// Whether nobody decided: a granted set changed because of a contact group.
    var isByContactGroup: Bool { detail.hasSuffix(AuditRecord.byContactGroup) }

    /// Whether a disclosure contained contacts, or only a number or nothing. The record of a number names the method.
    var hasContacts: Bool { count > 0 && (contacts != nil || !keys.isEmpty || detail.isEmpty) }
}
