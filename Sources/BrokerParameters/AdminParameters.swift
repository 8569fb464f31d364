import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// The parameters of a call on the administrator's socket, typed for each method of `io.contactbroker.Admin`.
package struct AdminParameters: Sendable {
    package enum OfMethod: Sendable {
        case listGrants(UserParameters)
        case setGrant(SetGrantParameters)
        case resetGrant(AppParameters)
        case endSessionGrants(AppParameters)
        case queryAudit(QueryAuditParameters)
        case findContactAccess(FindContactAccessParameters)
        case changeGrantedContacts(ChangeGrantedContactsParameters)
        /// Positions of the audit that the caller remembers.
        case verifyAudit(heads: [AuditPosition])
        case listPending(UserParameters)
        case explainDecision(AppParameters, app: String)
        case getStatus(UserParameters)
        case reloadPolicy
        case explainPolicy
        /// The texts of the policy that is tried.
        case tryPolicy([PolicyText])
        case purgeUser(UInt32)
        case getMetrics
        case listUsers
        case backUp(UserParameters)
        case beginRestore(BeginRestoreParameters)
        case restoreLines(RestoreLinesParameters)
        /// - Parameter replaces: whether the backup replaces what the address book contains.
        case finishRestore(UserParameters, replaces: Bool)
        case listChanges(ListChangesParameters)
        case putBack(PutBackParameters)
        case getBin(UserParameters)
        case setBinDays(SetBinDaysParameters)
        case emptyBin(EmptyBinParameters)
        case connect(ConnectParameters)
        case disconnect(DisconnectParameters)
        case listConnections(UserParameters)
    }

    package let ofMethod: OfMethod
    /// Whether the broker may ask the caller's user for a password. The parameter's name,
    /// `allowInteractiveAuthentication`, is systemd's convention.
    package let mayInteract: Bool

    package init(_ method: AdminMethod, _ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        mayInteract = try reader.flag("allowInteractiveAuthentication")
        ofMethod =
            switch method {
            case .listGrants: .listGrants(try UserParameters(&reader))
            case .setGrant: .setGrant(try SetGrantParameters(&reader))
            case .resetGrant: .resetGrant(try AppParameters(&reader))
            case .endSessionGrants: .endSessionGrants(try AppParameters(&reader))
            case .queryAudit: .queryAudit(try QueryAuditParameters(&reader))
            case .findContactAccess: .findContactAccess(try FindContactAccessParameters(&reader))
            case .changeGrantedContacts: .changeGrantedContacts(try ChangeGrantedContactsParameters(&reader))
            case .verifyAudit: .verifyAudit(heads: try reader["heads"]?.positions() ?? [])
            case .listPending: .listPending(try UserParameters(&reader))
            case .explainDecision:
                .explainDecision(
                    try AppParameters(&reader, of: UserParameters(one: &reader)), app: try reader.required("app").app())
            case .getStatus: .getStatus(UserParameters(uid: nil, allUsers: try reader.flag("allUsers")))
            case .reloadPolicy: .reloadPolicy
            case .explainPolicy: .explainPolicy
            case .tryPolicy: .tryPolicy(try reader["files"]?.policyFiles() ?? [])
            case .purgeUser: .purgeUser(try reader.required("uid").uid())
            case .getMetrics: .getMetrics
            case .listUsers: .listUsers
            case .backUp: .backUp(try UserParameters(one: &reader))
            case .beginRestore: .beginRestore(try BeginRestoreParameters(&reader))
            case .restoreLines: .restoreLines(try RestoreLinesParameters(&reader))
            case .finishRestore:
                .finishRestore(try UserParameters(one: &reader), replaces: try reader.flag("replaces"))
            case .listChanges: .listChanges(try ListChangesParameters(&reader))
            case .putBack: .putBack(try PutBackParameters(&reader))
            case .getBin: .getBin(try UserParameters(one: &reader))
            case .setBinDays: .setBinDays(try SetBinDaysParameters(&reader))
            case .emptyBin: .emptyBin(try EmptyBinParameters(&reader))
            case .connect: .connect(try ConnectParameters(&reader))
            case .disconnect: .disconnect(try DisconnectParameters(&reader))
            case .listConnections: .listConnections(try UserParameters(one: &reader))
            }
        try reader.finish()
    }

    /// The users whom the request concerns.
    package var users: UserParameters {
        switch ofMethod {
        case .listGrants(let users), .listPending(let users), .getStatus(let users), .backUp(let users),
            .finishRestore(let users, _), .getBin(let users), .listConnections(let users):
            users
        case .resetGrant(let apps), .endSessionGrants(let apps), .explainDecision(let apps, _): apps.users
        case .setGrant(let parameters): parameters.apps.users
        case .changeGrantedContacts(let parameters): parameters.apps.users
        case .queryAudit(let parameters): parameters.users
        case .findContactAccess(let parameters): parameters.users
        case .beginRestore(let parameters): parameters.users
        case .restoreLines(let parameters): parameters.users
        case .listChanges(let parameters): parameters.users
        case .putBack(let parameters): parameters.users
        case .setBinDays(let parameters): parameters.users
        case .emptyBin(let parameters): parameters.users
        case .disconnect(let parameters): parameters.users
        case .purgeUser(let uid): UserParameters(uid: uid)
        case .verifyAudit, .reloadPolicy, .explainPolicy, .tryPolicy, .getMetrics, .listUsers, .connect:
            UserParameters()
        }
    }

    /// The app that the request names, for the password dialog.
    package var app: String? {
        switch ofMethod {
        case .resetGrant(let apps), .endSessionGrants(let apps), .explainDecision(let apps, _): apps.app
        case .setGrant(let parameters): parameters.app
        case .changeGrantedContacts(let parameters): parameters.app
        case .queryAudit(let parameters): parameters.app
        case .listChanges(let parameters): parameters.app
        case .putBack(let parameters): parameters.app
        case .connect(let parameters): parameters.name
        case .disconnect(let parameters): parameters.name
        case .listGrants, .findContactAccess, .verifyAudit, .listPending, .getStatus, .reloadPolicy, .explainPolicy,
            .tryPolicy, .purgeUser, .getMetrics, .listUsers, .backUp, .beginRestore, .restoreLines, .finishRestore,
            .getBin, .setBinDays, .emptyBin, .listConnections:
            nil
        }
    }

    /// The access that the request gives an app, in words for the password dialog.
    package var accessWords: String? {
        switch ofMethod {
        case .setGrant(let parameters): parameters.status.accessWords + (parameters.changes?.accessWords ?? "")
        case .changeGrantedContacts(let parameters): parameters.accessWords
        case .connect: "a new password for what it has"
        default: nil
        }
    }
}

/// The users whom a request concerns: one user, or all.
package struct UserParameters: Sendable {
    /// `nil` for the caller's own user, or for all.
    package var uid: UInt32?
    package var allUsers = false

    package init(uid: UInt32? = nil, allUsers: Bool = false) { (self.uid, self.allUsers) = (uid, allUsers) }

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        try self.init(one: &reader)
        allUsers = try reader.flag("allUsers")
    }

    /// Reads the parameters of a method that concerns one user only.
    package init(one reader: inout ParameterReader) throws(VarlinkError) { uid = try reader["uid"]?.uid() }

    /// The user whom the request concerns; `nil` for all users.
    package func user(_ caller: Caller) -> UInt32? { allUsers ? nil : one(caller) }

    /// The user of a request that concerns one user only.
    package func one(_ caller: Caller) -> UInt32 { uid ?? caller.uid }

    /// Whether the request concerns only the caller's own user.
    package func isOwn(_ caller: Caller) -> Bool { user(caller) == caller.uid }
}

/// The apps that a request concerns. An absent parameter matches everything.
package struct AppParameters: Sendable {
    package let users: UserParameters
    package let app: String?
    package let strength: IdentityStrength?

    package init(_ reader: inout ParameterReader, of users: UserParameters? = nil) throws(VarlinkError) {
        if let users { self.users = users } else { self.users = try UserParameters(&reader) }
        app = try reader["app"]?.app()
        strength = try reader["strength"]?.one(of: IdentityStrength.self)
    }

    /// Whether the app and the strength match the parameters.
    package func isAbout(_ strength: IdentityStrength, _ app: String) -> Bool {
        (self.app == nil || app == self.app) && (self.strength == nil || strength == self.strength)
    }
}

/// Parameters of `SetGrant`.
package struct SetGrantParameters: Sendable {
    package let apps: AppParameters
    package let app: String
    package let status: AuthorizationStatus
    /// The audit's pseudonyms of the contacts to keep in the granted set.
    package let identifiers: [String]?
    package let keys: ContactKeySet?
    package let changes: ChangeRight?
    package let expires: String?

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        apps = try AppParameters(&reader)
        app = try reader.required("app").app()
        status = try reader.required("status").one(of: AuthorizationStatus.self)
        identifiers = try reader["identifiers"]?.identifiers()
        keys = try reader["keys"]?.grantKeys()
        changes = try reader["changes"]?.one(of: ChangeRight.self)
        expires = try reader["expires"]?.text(maximum: ParameterLimits.query)
    }
}

/// Parameters of `QueryAudit`.
package struct QueryAuditParameters: Sendable {
    package let users: UserParameters
    package let app: String?
    package let since: String?
    package let until: String?
    /// As in ``AuditFilter``.
    package let withEarlier: Bool
    package let event: String?
    package let contact: String?
    /// A contact as in ``FindContactAccessParameters/contact``.
    package let named: String?
    package let limit: Int?
    package let follow: Bool

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        users = try UserParameters(&reader)
        app = try reader["app"]?.app()
        since = try reader["since"]?.text(maximum: ParameterLimits.query)
        until = try reader["until"]?.text(maximum: ParameterLimits.query)
        withEarlier = try reader.flag("withEarlier")
        event = try reader["event"]?.text(maximum: ParameterLimits.query)
        contact = try reader["contact"]?.text(maximum: ParameterLimits.query)
        named = try reader["named"]?.text(maximum: ParameterLimits.query)
        limit = try reader["limit"]?.auditLimit()
        follow = try reader.flag("follow")
    }
}

/// Parameters of `FindContactAccess`.
package struct FindContactAccessParameters: Sendable {
    package let users: UserParameters
    package let contact: String
    package let since: String?

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        users = try UserParameters(one: &reader)
        contact = try reader.required("contact").text(maximum: ParameterLimits.query)
        since = try reader["since"]?.text(maximum: ParameterLimits.query)
    }
}

/// A change of which contacts a limited app sees.
package enum GrantedContactChange: String {
    /// The app gets the contacts, besides those that it has.
    case share
    /// The app no longer sees the contacts.
    case revoke
    /// Of the contacts that it sees, the app keeps only these.
    case narrow
}

/// Parameters of `ChangeGrantedContacts`.
package struct ChangeGrantedContactsParameters: Sendable {
    package let apps: AppParameters
    package let app: String
    package let change: GrantedContactChange
    /// Contacts as in ``FindContactAccessParameters/contact``.
    package let contacts: [String]
    /// The names of contact groups.
    package let groups: [String]

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        apps = try AppParameters(&reader, of: UserParameters(one: &reader))
        app = try reader.required("app").app()
        change = try reader.required("change").one(of: GrantedContactChange.self)
        contacts =
            try reader["contacts"]?.texts(maximum: ParameterLimits.lookUps, length: ParameterLimits.query) ?? []
        groups =
            try reader["groups"]?.texts(maximum: ParameterLimits.lookUps, length: ParameterLimits.groupName) ?? []
    }

    /// The access that the request gives the app, in words for the password dialog.
    package var accessWords: String? {
        guard change == .share else { return nil }
        let single: String? =
            switch contacts.count {
            case 0: nil
            case 1: "1 more contact"
            default: "\(contacts.count) more contacts"
            }
        let shared: String? =
            switch groups.count {
            case 0: nil
            case 1: "a contact group, also contacts added to it later"
            default: "\(groups.count) contact groups, also contacts added to them later"
            }
        return [single, shared].compactMap(\.self).joined(separator: " and ")
    }
}

/// Parameters of `BeginRestore`.
package struct BeginRestoreParameters: Sendable {
    package let users: UserParameters
    package let contactsOnly: Bool
    /// Whether the caller knows that the backup is authentic.
    package let isAuthentic: Bool

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        users = try UserParameters(one: &reader)
        contactsOnly = try reader.flag("contactsOnly")
        isAuthentic = try reader.flag("isAuthentic")
    }
}

/// Parameters of `RestoreLines`.
package struct RestoreLinesParameters: Sendable {
    package let users: UserParameters
    /// Lines of a backup, each a JSON object.
    package let lines: [JSONValue]
    /// The code that authenticates ``lines``.
    package let code: String?

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        users = try UserParameters(one: &reader)
        lines =
            try reader["lines"]?.list(maximum: ParameterLimits.backupLines) { (line) throws(VarlinkError) in
                line.value
            } ?? []
        code = try reader["code"]?.text(maximum: ParameterLimits.token)
    }
}

extension Parameter {
    func app() throws(VarlinkError) -> String { try text(maximum: ParameterLimits.app) }

    fileprivate func auditLimit() throws(VarlinkError) -> Int {
        let most = ParameterLimits.auditRecords
        guard let number = value.integer.flatMap(Int.init(exactly:)), (1...most).contains(number) else {
            throw AdminError.invalidValue(name, reason: "must be a number from 1 to \(most)")
        }
        return number
    }

    fileprivate func positions() throws(VarlinkError) -> [AuditPosition] {
        try list(maximum: ParameterLimits.auditHeads) { (element) throws(VarlinkError) in
            var reader = try ParameterReader(element.value, in: name)
            let sequence = try reader.required("sequence").integer(in: 1...Int64.max)
            let hash = Hexadecimal.bytes(try reader.required("hash").identifier())
            try reader.finish()
            guard let hash, hash.count == AuditPosition.hashSize else { throw invalid }
            return AuditPosition(sequence: Int64(sequence), hash: hash)
        }
    }

    fileprivate func policyFiles() throws(VarlinkError) -> [PolicyText] {
        var bytes = 0
        let files = try list(maximum: FileLimits.policyFiles) { (element) throws(VarlinkError) in
            var reader = try ParameterReader(element.value, in: name)
            let file = try reader.required("name").text(maximum: ParameterLimits.path, limit: name)
            let text = try reader.required("text").text(maximum: ParameterLimits.policyBytes, limit: name)
            try reader.finish()
            bytes += text.utf8.count
            return PolicyText(file: file, text: text)
        }
        guard bytes <= ParameterLimits.policyBytes else {
            throw ContactsError.limitExceeded(name, maximum: ParameterLimits.policyBytes)
        }
        return files
    }
}

extension AuthorizationStatus {
    /// The access that this status gives an app, in words for the password dialog.
    var accessWords: String {
        switch self {
        case .full: "all contacts"
        case .limited: "the contacts that are selected for it"
        case .notDetermined, .denied, .restricted: "nothing"
        }
    }
}
