import BrokerAccessControl
import BrokerAccessStore
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// The parameters of all methods of `io.contactbroker.Admin`.
struct AdminParameters: Sendable {
    var app: String?
    var strength: IdentityStrength?
    var uid: UInt32?
    var allUsers = false
    var status: AuthorizationStatus?
    /// The audit's pseudonyms of the contacts to keep in the granted set.
    var identifiers: [String]?
    var keys: ContactKeySet?
    var expires: String?
    var since: String?
    var until: String?
    /// As in ``AuditFilter``.
    var withEarlier = false
    var event: String?
    var contact: String?
    /// A contact as in ``contact`` of `FindContactAccess`, for `QueryAudit`.
    var named: String?
    var change: GrantedContactChange?
    /// Contacts as in ``contact`` of `FindContactAccess`.
    var contacts: [String]?
    /// The names of contact groups.
    var groups: [String]?
    /// Positions of the audit that the caller remembers.
    var heads: [AuditPosition]?
    var limit: Int?
    var follow = false
    /// The texts of the policy that is tried.
    var files: [PolicyText] = []
    /// Lines of a backup, each a JSON object.
    var lines: [JSONValue] = []
    /// The code that authenticates ``lines``.
    var code: String?
    var contactsOnly = false
    /// Whether the caller knows that the backup is authentic.
    var isAuthentic = false
    /// Whether the backup replaces what the address book contains.
    var replaces = false
    /// Whether the broker may ask the caller's user for a password. The parameter's name,
    /// `allowInteractiveAuthentication`, is systemd's convention.
    var mayInteract = false

    /// - Parameter allowed: the names of the method's own parameters. Any other parameter except
    ///   `allowInteractiveAuthentication` causes the error `InvalidParameter`.
    init(_ parameters: JSONValue, allowing allowed: Set<String>) throws(VarlinkError) {
        let reader = ParameterReader()
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            guard allowed.contains(name) || name == "allowInteractiveAuthentication" else {
                throw reader.invalid(name)
            }
            switch name {
            case "app": app = try reader.text(value, name, maximum: ParameterLimits.app)
            case "strength": strength = try reader.one(of: IdentityStrength.self, value, name)
            case "uid": uid = UInt32(try reader.integer(value, name, in: 0...Int64(UInt32.max)))
            case "allUsers": allUsers = try reader.bool(value, name)
            case "status": status = try reader.one(of: AuthorizationStatus.self, value, name)
            case "identifiers":
                identifiers = try reader.identifiers(value, name)
            case "keys": keys = try reader.grantKeys(value, name)
            case "expires": expires = try reader.text(value, name, maximum: ParameterLimits.query)
            case "since": since = try reader.text(value, name, maximum: ParameterLimits.query)
            case "until": until = try reader.text(value, name, maximum: ParameterLimits.query)
            case "withEarlier": withEarlier = try reader.bool(value, name)
            case "event": event = try reader.text(value, name, maximum: ParameterLimits.query)
            case "contact": contact = try reader.text(value, name, maximum: ParameterLimits.query)
            case "heads":
                heads = try reader.list(value, name, maximum: ParameterLimits.auditHeads) {
                    (head) throws(VarlinkError) in
                    try Self.position(head, name)
                }
            case "named": named = try reader.text(value, name, maximum: ParameterLimits.query)
            case "change": change = try reader.one(of: GrantedContactChange.self, value, name)
            case "contacts":
                contacts = try reader.texts(
                    value, name, maximum: ForeignLookUps.perHour, length: ParameterLimits.query)
            case "groups":
                groups = try reader.texts(
                    value, name, maximum: ForeignLookUps.perHour, length: SaveSteps.longestGroupName)
            case "limit":
                let most = ParameterLimits.auditRecords
                guard let number = value.integer.flatMap(Int.init(exactly:)), (1...most).contains(number) else {
                    throw AdminError.invalidValue(name, reason: "must be a number from 1 to \(most)")
                }
                limit = number
            case "follow": follow = try reader.bool(value, name)
            case "files": files = try Self.policyFiles(value, name)
            case "lines":
                lines = try reader.list(value, name, maximum: ParameterLimits.backupLines) {
                    (line) throws(VarlinkError) in
                    line
                }
            case "code": code = try reader.text(value, name, maximum: ParameterLimits.token)
            case "contactsOnly": contactsOnly = try reader.bool(value, name)
            case "isAuthentic": isAuthentic = try reader.bool(value, name)
            case "replaces": replaces = try reader.bool(value, name)
            case "allowInteractiveAuthentication": mayInteract = try reader.bool(value, name)
            default: throw reader.invalid(name)
            }
        }
    }

    private static func position(_ value: JSONValue, _ name: String) throws(VarlinkError) -> AuditPosition {
        let reader = ParameterReader(outermost: name)
        var (sequence, hash): (Int?, [UInt8]?)
        try reader.members(of: value) { (field, value) throws(VarlinkError) in
            switch field {
            case "sequence": sequence = try reader.integer(value, field, in: 1...Int64.max)
            case "hash": hash = Hexadecimal.bytes(try reader.identifier(value, field))
            default: throw reader.invalid(field)
            }
        }
        guard let sequence, let hash, hash.count == AuditPosition.hashSize else { throw reader.invalid(name) }
        return AuditPosition(sequence: Int64(sequence), hash: hash)
    }

    /// The access that the request gives an app, in words for the password dialog.
    var accessWords: String? {
        guard change == .share else { return status?.accessWords }
        let (single, groups) = (contacts?.count ?? 0, groups?.count ?? 0)
        return [
            single == 0 ? nil : single == 1 ? "1 more contact" : "\(single) more contacts",
            groups == 0
                ? nil
                : groups == 1
                    ? "a contact group, also contacts added to it later"
                    : "\(groups) contact groups, also contacts added to them later",
        ].compactMap(\.self).joined(separator: " and ")
    }

    private static func policyFiles(_ value: JSONValue, _ name: String) throws(VarlinkError) -> [PolicyText] {
        let reader = ParameterReader(outermost: name)
        var bytes = 0
        let files = try reader.list(value, name, maximum: ParameterLimits.policyFiles) {
            (element) throws(VarlinkError) in
            var (file, text) = ("", "")
            try reader.members(of: element, requiring: ["name", "text"]) { (member, value) throws(VarlinkError) in
                switch member {
                case "name": file = try reader.text(value, name, maximum: ParameterLimits.path)
                case "text": text = try reader.text(value, name, maximum: ParameterLimits.policyBytes)
                default: throw reader.invalid(member)
                }
            }
            bytes += text.utf8.count
            return PolicyText(file: file, text: text)
        }
        guard bytes <= ParameterLimits.policyBytes else {
            throw ContactsError.limitExceeded(name, maximum: ParameterLimits.policyBytes)
        }
        return files
    }
}
