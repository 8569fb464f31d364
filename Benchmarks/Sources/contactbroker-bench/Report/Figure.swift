import BrokerJSON

/// One line of the table: what was measured, and what it is held against.
struct Figure {
    enum Unit: String {
        case microseconds, milliseconds, seconds, perSecond, megabytes, megabytesPerSecond
    }

    enum Value {
        case times(Samples)
        case perSecond(Double)
        case megabytes(Double)
    }

    let name: String
    let value: Value
    let unit: Unit
    /// In the figure's unit: the most that p50 or the memory may be, the least that may be done per second.
    var bar: Double?
    var aim: Double?

    init(_ name: String, _ samples: Samples, _ unit: Unit = .microseconds, bar: Double? = nil, aim: Double? = nil) {
        self.name = name
        value = .times(samples)
        self.unit = unit
        self.bar = bar
        self.aim = aim
    }

    init(_ name: String, perSecond: Double, bar: Double? = nil, aim: Double? = nil) {
        self.name = name
        value = .perSecond(perSecond)
        unit = .perSecond
        self.bar = bar
        self.aim = aim
    }

    init(_ name: String, bytes: Int, bar: Double? = nil) {
        self.name = name
        value = .megabytes(Double(bytes) / 1_000_000)
        unit = .megabytes
        self.bar = bar
    }

    init(_ name: String, megabytesPerSecond: Double) {
        self.name = name
        value = .perSecond(megabytesPerSecond)
        unit = .megabytesPerSecond
        bar = nil
    }

    private func scaled(_ microseconds: Double) -> Double {
        switch unit {
        case .seconds: microseconds / 1_000_000
        case .milliseconds: microseconds / 1_000
        case .microseconds, .perSecond, .megabytes, .megabytesPerSecond: microseconds
        }
    }

    private func reaches(_ goal: Double?) -> Bool? {
        guard let goal else { return nil }
        switch value {
        case .times(let samples): return scaled(samples.p50) <= goal
        case .perSecond(let rate): return rate >= goal
        case .megabytes(let size): return size <= goal
        }
    }

    /// `nil` where there is no bar.
    var isMet: Bool? { reaches(bar) }

    private var verdict: String {
        guard let isMet else { return "" }
        guard isMet else { return "NOT met" }
        return reaches(aim) == true ? "met, aim too" : "met"
    }

    private var unitText: String {
        switch unit {
        case .microseconds: "µs"
        case .milliseconds: "ms"
        case .seconds: "s"
        case .perSecond: "/s"
        case .megabytes: "MB"
        case .megabytesPerSecond: "MB/s"
        }
    }

    /// Cells of the table.
    var cells: [String] {
        let goals = [bar, aim].map { $0.map(number) ?? "" }
        switch value {
        case .times(let samples):
            return [name, unitText] + [samples.least, samples.p50, samples.p99].map { number(scaled($0)) } + goals + [
                verdict
            ]
        case .perSecond(let amount), .megabytes(let amount):
            return [name, unitText, "", number(amount), ""] + goals + [verdict]
        }
    }

    private func number(_ value: Double) -> String {
        guard value < 1_000 else { return String(Int(value.rounded())) }
        let digits = value < 10 ? 100.0 : 10.0
        return "\((value * digits).rounded() / digits)"
    }

    func write(into writer: inout JSONWriter) {
        writer.object {
            $0.member("name", name)
            $0.member("unit", unit.rawValue)
            switch value {
            case .times(let samples):
                $0.member("samples", samples.count)
                for (name, time) in [("min", samples.least), ("p50", samples.p50), ("p99", samples.p99)] {
                    $0.name(name)
                    $0.value(scaled(time))
                }
            case .perSecond(let rate):
                $0.name("rate")
                $0.value(rate)
            case .megabytes(let size):
                $0.name("size")
                $0.value(size)
            }
            for (name, goal) in [("bar", bar), ("aim", aim)] {
                guard let goal else { continue }
                $0.name(name)
                $0.value(goal)
            }
            $0.member("met", isMet)
        }
    }
}
