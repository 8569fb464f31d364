/// A decision about a new connection, which may come later. Used only on the event loop.
public final class PendingAdmission {
    /// Runs once if the peer closes before the decision, so that its inspection can stop.
    public var onAbandoned: (() -> Void)?
    private let decide: (Admission) -> Void

    init(_ decide: @escaping (Admission) -> Void) { self.decide = decide }

    /// Decides. Does nothing after the peer closed.
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
