/// Two classes of calls that differ only in something that the app may not learn.
struct Case {
    static let classes = 3

    let app: Probe
    /// The call, as the table names it.
    let call: String
    /// What is hidden, as the table names it.
    let hidden: String
    /// The calls that touch the hidden thing.
    let touching: [ProbeCall]
    /// The calls that touch nothing, in every other respect alike.
    let other: [ProbeCall]
    /// More calls like those of `other`. They show what the measurement itself adds.
    let control: [ProbeCall]
    /// The name of the error with which all calls fail; `none` if they succeed.
    var error: String
    /// Whether every call adds a record to the audit. The broker delays an app that adds many.
    var isRecorded = false
    /// Runs before the case is measured.
    var prepare: () throws -> Void = {}
    /// The sentence of Documentation/Threats.md that concedes that the app can tell.
    var concession: String?

    init(
        _ app: Probe, _ call: String, _ hidden: String, _ touching: [ProbeCall], _ other: [ProbeCall],
        control: [ProbeCall], error: String = "none", isRecorded: Bool = false, concession: String? = nil
    ) {
        self.app = app
        self.call = call
        self.hidden = hidden
        self.touching = touching
        self.other = other
        self.control = control
        self.error = error
        self.isRecorded = isRecorded
        self.concession = concession
    }

    /// The words by which `ONLY` selects the case.
    var name: String { "\(app.name) \(call) \(hidden)" }
}
