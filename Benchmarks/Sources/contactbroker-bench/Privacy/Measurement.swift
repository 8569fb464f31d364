/// One measured ``Case``: a row of the table.
struct Measurement {
    enum Verdict: String {
        case ok
        case leaks = "LEAKS"
        case conceded
    }

    let item: Case
    /// The calls of each class.
    let calls: Int
    /// The median of the calls that touch nothing, in nanoseconds.
    let median: Int64
    let separation: Separation
    /// The separation of two classes that do not differ.
    let noise: Separation

    var verdict: Verdict {
        if separation.told <= Separation.bar { return .ok }
        return item.concession == nil ? .leaks : .conceded
    }

    /// The result in a few words.
    var text: String {
        "apart in \(Int((separation.told * 100).rounded())) % of cases, after \(calls) calls of each class: \(verdict.rawValue)"
    }

    /// The number of calls of each class after which a difference can be certain.
    private static let leastCalls = 2_000
    /// How many rounds are measured at once.
    private static let portion = 1_000
    private static let warmUp = 300
    /// The most calls of each class that add a record to the audit. The broker delays an app after a million
    /// records in an hour.
    private static let mostRecorded = 50_000

    /// - Parameter calls: the number of calls of each class. A case is measured with as many again if it is
    ///   above the bar, and with fewer if it is certainly above.
    init(_ item: Case, calls: Int) throws {
        self.item = item
        let calls = item.isRecorded ? min(calls, Self.mostRecorded) : calls
        try item.prepare()
        try item.app.prepare([item.touching, item.other, item.control], error: item.error)
        _ = try item.app.measure(rounds: Self.warmUp, classes: Case.classes)
        var times = [[Int64]](repeating: [], count: Case.classes)
        var nextLook = Self.leastCalls
        func measure(until count: Int) throws {
            while times[0].count < count {
                let rounds = min(Self.portion, count - times[0].count)
                let found = try item.app.measure(rounds: rounds, classes: Case.classes)
                for number in found.indices { times[number] += found[number] }
                guard times[0].count >= nextLook else { continue }
                nextLook *= 2
                if Separation.isCertain(times[0], times[1]) { break }
            }
        }
        try measure(until: calls)
        var separation = Separation(times[0], times[1])
        if separation.told > Separation.bar, !Separation.isCertain(times[0], times[1]) {
            try measure(until: 2 * calls)
            separation = Separation(times[0], times[1])
        }
        self.separation = separation
        noise = Separation(times[2], times[1])
        self.calls = times[0].count
        median = times[1].sorted()[times[1].count / 2]
    }
}
