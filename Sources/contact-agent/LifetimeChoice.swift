import BrokerModel
import Glibc

/// The lifetimes that are offered for a grant, and the chosen one. Those that the policy does not allow are left out.
struct LifetimeChoice: Hashable {
    /// The offered lifetimes; the first one is chosen.
    private(set) var offered: [Lifetime]

    /// `nil` if none is offered.
    var chosen: Lifetime? { offered.first }
    var canChange: Bool { offered.count > 1 }

    init(_ prompt: Prompt) {
        var longest = Int64.max
        if let end = prompt.endsAt { longest = end - Int64(time(nil)) }
        offered = prompt.lifetimes.filter { $0.seconds ?? 0 <= longest }
    }

    mutating func change() {
        if canChange { offered.append(offered.removeFirst()) }
    }
}
