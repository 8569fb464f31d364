import BrokerJSON

/// One row of the table: one kind of work, done by contactbroker, by the peer, and by a minimal program (the
/// floor).
struct Comparison {
    let work: String
    let ours: Amount
    var peer: Amount?
    /// The peer's amount if its library reads the book's file in the app's process, without D-Bus.
    var peerAtBest: Amount?
    /// The amount that the transport and the storage alone take for the same bytes.
    var floor: Amount?
    var bar: Bar?

    static let header = ["work", "ours", "peer", "peer at its best", "floor", "peer ÷ ours", "bar", "met"]

    /// The peer's amount divided by ours. For a rate, it is our amount divided by the peer's.
    var ratio: Double? { peer.flatMap { ours.timesBetter(than: $0) } }

    var isMet: Bool? { bar?.isMet(by: ours, peer: peer, best: peerAtBest) ?? nil }

    private var verdict: String {
        guard bar != nil else { return "" }
        guard let isMet else { return "no peer" }
        return isMet ? "met" : "NOT met"
    }

    var cells: [String] {
        [work] + [ours, peer, peerAtBest, floor].map { $0?.text ?? "–" }
            + [ratio.map(rounded) ?? "–", bar?.text ?? "–", verdict]
    }

    func write(into writer: inout JSONWriter) {
        writer.object {
            $0.member("work", work)
            let amounts = [("ours", ours), ("peer", peer), ("peerAtBest", peerAtBest), ("floor", floor)]
            for (name, amount) in amounts {
                guard let amount else { continue }
                $0.name(name)
                $0.value(amount.value)
            }
            $0.member("unit", ours.unit)
            if let ratio {
                $0.name("ratio")
                $0.value(ratio)
            }
            if let bar { $0.member("bar", bar.text) }
            $0.member("met", isMet)
        }
    }
}
