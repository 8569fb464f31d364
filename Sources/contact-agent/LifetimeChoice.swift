/// How long a first grant shall last: what is offered, and what is chosen.
struct LifetimeChoice: Hashable {
    let offered: [Lifetime]
    private var index = 0

    init(_ offered: [Lifetime]) { self.offered = offered }

    /// `nil` where nothing is offered.
    var chosen: Lifetime? { offered.isEmpty ? nil : offered[index] }
    var canChange: Bool { offered.count > 1 }

    mutating func change() {
        if canChange { index = (index + 1) % offered.count }
    }
}
