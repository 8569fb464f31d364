/// Identifiers of the messages that `systemd/contactbroker.catalog` explains. An identifier is never reused
/// for a different message.
public enum MessageIdentifier: String, CaseIterable, Sendable {
    /// The sockets are open.
    case serving = "b0151bd1ab164e4d8b4c808049595001"
    /// The broker was asked to stop.
    case stopping = "b0151bd1ab164e4d8b4c808049595002"
    /// The broker cannot start.
    case notStarted = "b0151bd1ab164e4d8b4c808049595003"
    /// A caller was refused, or the broker closed a caller's connection.
    case turnedAway = "b0151bd1ab164e4d8b4c808049595004"
    /// The policy was read and is in force.
    case policyInForce = "b0151bd1ab164e4d8b4c808049595005"
    /// The policy cannot be read, so the broker refuses every app.
    case policyUnreadable = "b0151bd1ab164e4d8b4c808049595006"
    /// A reload found a mistake in the policy files, so the former rules stay in force.
    case policyNotReloaded = "b0151bd1ab164e4d8b4c808049595013"
    /// The settings cannot be read, so the broker refuses every app until it restarts.
    case settingsUnreadable = "b0151bd1ab164e4d8b4c80804959500e"
    /// The audit cannot be written to disk, so nothing is disclosed.
    case recordsNotKept = "b0151bd1ab164e4d8b4c808049595007"
    /// The data stored for a user ID belongs to a different person.
    case anotherPerson = "b0151bd1ab164e4d8b4c808049595008"
    /// A user's stored data was deleted.
    case userPurged = "b0151bd1ab164e4d8b4c808049595009"
    /// Synced audit records are missing, so every grant was denied.
    case recordsLost = "b0151bd1ab164e4d8b4c80804959500c"
    /// A book names an audit record that is missing from the audit or has changed.
    case auditContradicted = "b0151bd1ab164e4d8b4c80804959500d"
    /// The last record of the audit.
    case auditHead = "b0151bd1ab164e4d8b4c808049595010"
    /// Retention removed audit records.
    case auditRemoved = "b0151bd1ab164e4d8b4c808049595012"
    /// An alarm.
    case alarm = "b0151bd1ab164e4d8b4c808049595011"
    /// The stored form of a card differs from what was saved, so the card is left out.
    case cardDamaged = "b0151bd1ab164e4d8b4c80804959500f"
    /// An audit record.
    case audited = "b0151bd1ab164e4d8b4c80804959500b"
    /// A socket failed.
    case socketFailed = "b0151bd1ab164e4d8b4c80804959500a"
}
