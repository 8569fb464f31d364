/// The decision about a new connection, which may follow later. It is used only on the event loop.
public final class PendingAdmission {
    /// Runs once if the peer closes the connection before the decision, so that its inspection can stop.
    public var onAbandoned: (() -> Void)?
    private let decide: (Admission) -> Void

    init(_ decide: @escaping (Admission) -> Void) { self.decide = decide }

    /// Admits or refuses the connection. Does nothing if the peer has closed it.
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
