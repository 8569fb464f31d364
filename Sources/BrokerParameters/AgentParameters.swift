import BrokerAccessControl
import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `Serve`.
package struct ServeParameters: Sendable {
    package let terminal: String?
    package let notifyOnly: Bool
    package let watch: Bool

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        terminal = try reader["terminal"]?.text(maximum: ParameterLimits.query)
        notifyOnly = try reader.flag("notifyOnly")
        watch = try reader.flag("watch")
        try reader.finish()
    }
}

/// Parameters of `Search`.
package struct SearchParameters: Sendable {
    package let agent: String
    package let cookie: String
    package let query: String
    package let offset: Int
    package let limit: Int
    /// Whether to search only the contacts that the app can already see.
    package let granted: Bool

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        agent = try reader.required("agent").identifier()
        cookie = try reader.required("cookie").identifier()
        query = try reader.required("query").text(maximum: ParameterLimits.query)
        offset = try reader["offset"]?.integer(in: 0...Int64(ParameterLimits.contacts)) ?? 0
        limit = try reader["limit"]?.integer(in: 1...Int64(ParameterLimits.rows)) ?? 50
        granted = try reader.flag("granted")
        try reader.finish()
    }
}

/// Parameters of `Show`.
package struct ShowParameters: Sendable {
    package let agent: String
    package let cookie: String
    package let identifier: String

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        agent = try reader.required("agent").identifier()
        cookie = try reader.required("cookie").identifier()
        identifier = try reader.required("identifier").identifier()
        try reader.finish()
    }
}

/// Parameters of `KeepOpen` and `ListChanges`, which name only an agent and its prompt.
package struct PromptParameters: Sendable {
    package let agent: String
    package let cookie: String

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        agent = try reader.required("agent").identifier()
        cookie = try reader.required("cookie").identifier()
        try reader.finish()
    }
}

/// Parameters of `Manage`.
package struct ManageParameters: Sendable {
    package let agent: String
    package let app: String
    package let strength: IdentityStrength
    /// Selects one of the app's grants by the `session` that `ListGrants` reports.
    package let session: String?

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        agent = try reader.required("agent").identifier()
        app = try reader.required("app").text(maximum: ParameterLimits.app)
        strength = try reader.required("strength").one(of: IdentityStrength.self)
        session = try reader["session"]?.text(maximum: ParameterLimits.query)
        try reader.finish()
    }
}

/// Parameters of `Answer`.
package struct AnswerParameters: Sendable {
    package enum Level: String, Sendable { case denied, limited, full }

    package let agent: String
    package let cookie: String
    package let level: Level?
    package let identifiers: [String]
    package let removed: [String]
    package let keys: ContactKeySet?
    package let changes: ChangeRight?
    package let expires: String?
    package let lifetime: LifetimeKind?
    package let neverAskAgain: Bool
    package let mayAskAgain: Bool
    /// The picked values; `nil` if the field is absent.
    package let picked: [PickedValue]?
    package let mergeInto: String?
    package let addProposed: Bool
    /// The offered card with the person's changes, without images; `nil` if there are none.
    package let card: WireContact?
    /// What the person allows at a prompt of kind ``PromptKind/change``.
    package let allow: Allowance?

    package enum Allowance: String, Sendable {
        /// The save that the prompt shows.
        case once
        /// Also further saves like this one.
        case always
    }

    /// The interface's `PickedValue`.
    package struct PickedValue: Hashable, Sendable {
        package let contact: String
        /// The key of the picked value; `nil` if the whole contact was picked.
        package let key: ContactKey?
        package let value: String?

        package init(_ element: Parameter) throws(VarlinkError) {
            var reader = try ParameterReader(element.value, in: element.name)
            contact = try reader.required("contact").identifier()
            let field = try reader.required("key")
            key = field.value.says("identifier") ? nil : try field.one(of: ContactKey.self)
            value = try reader["value"]?.identifier()
            try reader.finish()
            guard key != nil || value == nil else { throw element.invalid }
        }
    }

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        agent = try reader.required("agent").identifier()
        cookie = try reader.required("cookie").identifier()
        level = try reader["level"]?.one(of: Level.self)
        identifiers = try reader["identifiers"]?.identifiers() ?? []
        removed = try reader["removed"]?.identifiers() ?? []
        keys = try reader["keys"]?.grantKeys()
        changes = try reader["changes"]?.one(of: ChangeRight.self)
        expires = try reader["expires"]?.text(maximum: ParameterLimits.query)
        lifetime = try reader["lifetime"]?.one(of: LifetimeKind.self)
        neverAskAgain = try reader.flag("neverAskAgain")
        mayAskAgain = try reader.flag("mayAskAgain")
        picked = try reader["picked"]?.list(maximum: ParameterLimits.picked, PickedValue.init)
        mergeInto = try reader["mergeInto"]?.identifier()
        addProposed = try reader.flag("addProposed")
        card = try Self.card(reader["card"])
        allow = try reader["allow"]?.one(of: Allowance.self)
        try reader.finish()
    }

    private static func card(_ field: Parameter?) throws(VarlinkError) -> WireContact? {
        guard let field else { return nil }
        do throws(ContactError) {
            return try WireContact(field.value, limits: ContactLimits())
        } catch {
            throw field.invalid
        }
    }

    /// Whether the answer contains a field that belongs to a different kind of prompt.
    package func hasForeignFields(for kind: PromptKind) -> Bool {
        let hasTermsBesidesKeys =
            level != nil || !identifiers.isEmpty || expires != nil || lifetime != nil || changes != nil
        let hasLevelFields = hasTermsBesidesKeys || keys != nil
        let hasProposalFields = mergeInto != nil || addProposed || card != nil
        // It belongs to a prompt of kind manage, alone.
        guard !mayAskAgain || kind == .manage && !hasLevelFields && removed.isEmpty && !neverAskAgain else {
            return true
        }
        guard allow == nil || kind == .change else { return true }
        return switch kind {
        case .change: hasLevelFields || picked != nil || hasProposalFields || !removed.isEmpty
        case .access, .button: picked != nil || hasProposalFields || !removed.isEmpty
        case .manage: picked != nil || hasProposalFields
        case .pick: hasLevelFields || hasProposalFields || !removed.isEmpty
        case .propose: hasLevelFields || picked != nil || !removed.isEmpty
        case .keys:
            hasTermsBesidesKeys || picked != nil || hasProposalFields || !removed.isEmpty
        }
    }
}

/// Parameters of `DeclareFolder`.
package struct DeclareFolderParameters: Sendable {
    package let agent: String
    package let path: String
    package let checkOnly: Bool

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        agent = try reader.required("agent").identifier()
        path = try reader.required("path").text(maximum: ParameterLimits.path)
        checkOnly = try reader.flag("checkOnly")
        try reader.finish()
    }
}

/// Parameters of `EndFolder`.
package struct EndFolderParameters: Sendable {
    package let agent: String
    package let path: String

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        agent = try reader.required("agent").identifier()
        path = try reader.required("path").text(maximum: ParameterLimits.path)
        try reader.finish()
    }
}
