/// The requirement for a row of the comparison.
struct Bar {
    /// How many times better than the peer's our amount must be.
    var ratio: Double?
    /// Whether our amount must also be better than the peer's at its best.
    var isAheadOfBest = false
    /// The worst amount that is allowed, whatever the peer's amount is.
    var limit: Amount?

    static func times(_ ratio: Double, aheadOfBest: Bool = false) -> Bar {
        Bar(ratio: ratio, isAheadOfBest: aheadOfBest)
    }

    static func atMost(_ limit: Amount) -> Bar { Bar(limit: limit) }

    var text: String {
        var parts: [String] = []
        if let ratio { parts.append((ratio == ratio.rounded() ? "\(Int(ratio))" : "\(ratio)") + "×") }
        if isAheadOfBest { parts.append("ahead of best") }
        if let limit { parts.append("at most \(limit.text)") }
        return parts.joined(separator: ", ")
    }

    /// - Returns: `nil` if the bar needs the peer's amount and there is none.
    func isMet(by ours: Amount, peer: Amount?, best: Amount?) -> Bool? {
        if let limit, let times = ours.timesBetter(than: limit), times < 1 { return false }
        if let ratio {
            guard let times = peer.flatMap({ ours.timesBetter(than: $0) }) else { return nil }
            if times < ratio { return false }
        }
        if isAheadOfBest {
            guard let times = best.flatMap({ ours.timesBetter(than: $0) }) else { return nil }
            if times < 1 { return false }
        }
        return true
    }
}
