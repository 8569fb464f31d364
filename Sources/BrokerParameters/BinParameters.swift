import BrokerAccessControl
import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerVarlink

/// Parameters of `ListChanges`.
package struct ListChangesParameters: Sendable {
    package let users: UserParameters
    package let app: String?
    package let since: String?
    /// Only saves before the one with this number.
    package let before: Int64?
    package let limit: Int
    /// Whether the reply names contacts.
    package let names: Bool

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        users = try UserParameters(one: &reader)
        app = try reader["app"]?.app()
        since = try reader["since"]?.text(maximum: ParameterLimits.query)
        before = try reader["before"].map { (number) throws(VarlinkError) in Int64(try number.integer()) }
        limit = try reader["limit"]?.integer(in: 1...Int64(ParameterLimits.rows)) ?? ParameterLimits.rows
        names = try reader.flag("names")
    }
}

/// Parameters of `PutBack`. Either ``save`` or ``app`` and ``since`` are given.
package struct PutBackParameters: Sendable {
    package let users: UserParameters
    package let save: Int64?
    /// The whole name of a contact of the save.
    package let contact: String?
    package let app: String?
    package let strength: IdentityStrength?
    package let since: String?
    package let force: Bool
    package let dryRun: Bool
    /// Whether the reply names contacts.
    package let names: Bool
    /// Whether more contacts may be put back than without a password.
    package let many: Bool

    /// Whether the answer depends on names: also an error does that says whether a contact has one.
    package var looksAtNames: Bool { names || contact != nil }

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        users = try UserParameters(one: &reader)
        save = try reader["save"].map { (number) throws(VarlinkError) in Int64(try number.integer()) }
        contact = try reader["contact"]?.text(maximum: ParameterLimits.query)
        app = try reader["app"]?.app()
        strength = try reader["strength"]?.one(of: IdentityStrength.self)
        since = try reader["since"]?.text(maximum: ParameterLimits.query)
        force = try reader.flag("force")
        dryRun = try reader.flag("dryRun")
        names = try reader.flag("names")
        many = try reader.flag("many")
    }
}

/// Parameters of `SetBinDays`.
package struct SetBinDaysParameters: Sendable {
    package let users: UserParameters
    /// `nil` for the default.
    package let days: Int64?
    /// Whether they may be fewer than now.
    package let shorter: Bool

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        users = try UserParameters(one: &reader)
        days = try reader["days"].map { (days) throws(VarlinkError) in
            Int64(try days.integer(in: 0...SpaceBounds.mostBinDays))
        }
        shorter = try reader.flag("shorter")
    }
}

/// Parameters of `EmptyBin`. Without ``save`` and ``contact`` it removes everything.
package struct EmptyBinParameters: Sendable {
    package let users: UserParameters
    package let save: Int64?
    /// The whole name of a contact of the save.
    package let contact: String?

    package init(_ reader: inout ParameterReader) throws(VarlinkError) {
        users = try UserParameters(one: &reader)
        save = try reader["save"].map { (number) throws(VarlinkError) in Int64(try number.integer()) }
        contact = try reader["contact"]?.text(maximum: ParameterLimits.query)
    }
}

/// Parameters of the agent's `PutBack`.
package struct AgentPutBackParameters: Sendable {
    package let agent: String
    package let cookie: String
    package let save: Int64
    /// The row of the only contact to put back.
    package let contact: String?
    /// Whether also all later saves of the app are put back.
    package let later: Bool
    package let force: Bool
    package let dryRun: Bool

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        agent = try reader.required("agent").identifier()
        cookie = try reader.required("cookie").identifier()
        save = Int64(try reader.required("save").integer())
        contact = try reader["contact"]?.identifier()
        later = try reader.flag("later")
        force = try reader.flag("force")
        dryRun = try reader.flag("dryRun")
        try reader.finish()
    }
}
