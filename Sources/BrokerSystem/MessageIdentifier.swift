/// What `systemd/contactbroker.catalog` explains to whoever reads the journal. A number is never given to another matter.
public enum MessageIdentifier: String, CaseIterable, Sendable {
    /// The doors are open.
    case serving = "b0151bd1ab164e4d8b4c808049595001"
    /// The broker was told to end.
    case stopping = "b0151bd1ab164e4d8b4c808049595002"
    /// Why the broker does not start.
    case notStarted = "b0151bd1ab164e4d8b4c808049595003"
    /// Somebody who connected is not served.
    case turnedAway = "b0151bd1ab164e4d8b4c808049595004"
    /// The policy was read, and holds.
    case policyInForce = "b0151bd1ab164e4d8b4c808049595005"
    /// The policy cannot be read: every app is refused.
    case policyUnreadable = "b0151bd1ab164e4d8b4c808049595006"
    /// The settings cannot be read: every app is refused until the broker restarts.
    case settingsUnreadable = "b0151bd1ab164e4d8b4c80804959500e"
    /// The disk does not take the audit: nothing is disclosed.
    case recordsNotKept = "b0151bd1ab164e4d8b4c808049595007"
    /// What is kept for a user number is another person's.
    case anotherPerson = "b0151bd1ab164e4d8b4c808049595008"
    /// What was kept for a user is gone.
    case userPurged = "b0151bd1ab164e4d8b4c808049595009"
    /// Records that were on the disk are lost: every grant was denied.
    case recordsLost = "b0151bd1ab164e4d8b4c80804959500c"
    /// A book names a record that the audit does not have.
    case auditContradicted = "b0151bd1ab164e4d8b4c80804959500d"
    /// A card is not as it was saved, and is left out.
    case cardDamaged = "b0151bd1ab164e4d8b4c80804959500f"
    /// A record of the audit.
    case audited = "b0151bd1ab164e4d8b4c80804959500b"
    /// A door closed by itself.
    case doorFailed = "b0151bd1ab164e4d8b4c80804959500a"
}
