/// The decision about someone who has connected, which may come later. It lives on the loop.
public final class PendingAdmission {
    /// Runs once if they hang up before it was decided: whoever finds out about them can stop.
    public var onAbandoned: (() -> Void)?
    private let decide: (Admission) -> Void

    init(_ decide: @escaping (Admission) -> Void) { self.decide = decide }

    /// Decides. After they hung up it does nothing.
    public func callAsFunction(_ admission: Admission) {
        onAbandoned = nil
        decide(admission)
    }

    func abandon() {
        let heard = onAbandoned
        onAbandoned = nil
        heard?()
    }
}
