/// The lifetimes that are offered for a first grant, and the chosen one.
struct LifetimeChoice: Hashable {
    /// The offered lifetimes; the first one is chosen.
    private(set) var offered: [Lifetime]

    /// `nil` if none is offered.
    var chosen: Lifetime? { offered.first }
    var canChange: Bool { offered.count > 1 }

    mutating func change() {
        if canChange { offered.append(offered.removeFirst()) }
    }
}
