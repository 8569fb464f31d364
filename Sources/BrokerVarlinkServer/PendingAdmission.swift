/// Receives the decision about a new connection, at once or later. It is used only on the event loop.
public final class PendingAdmission {
    /// Runs once if the connection closes before the decision, so that the inspection of the peer can stop.
    public var onAbandoned: (() -> Void)?
    private let decide: (Admission) -> Void

    init(_ decide: @escaping (Admission) -> Void) { self.decide = decide }

    /// Admits or refuses the connection. Does nothing if the connection is already closed.
    public func callAsFunction(_ admission: Admission) {
        onAbandoned = nil
        decide(admission)
    }

    func abandon() {
        let abandoned = onAbandoned
        onAbandoned = nil
        abandoned?()
    }
}
