/// How long a first grant shall last.
struct LifetimeChoice: Hashable {
    /// What is offered, the one that is chosen first.
    private(set) var offered: [Lifetime]

    /// `nil` where nothing is offered.
    var chosen: Lifetime? { offered.first }
    var canChange: Bool { offered.count > 1 }

    mutating func change() {
        if canChange { offered.append(offered.removeFirst()) }
    }
}
