/// One measured value with its unit.
enum Amount {
    /// A duration in microseconds.
    case time(Double)
    case perSecond(Double)
    /// A size in bytes.
    case size(Int)
    /// In megabytes per second. A megabyte is a million bytes.
    case throughput(Double)
    case instructions(Int)

    /// Returns the median.
    static func p50(_ samples: Samples) -> Amount { .time(samples.p50) }

    /// Returns how many times better this amount is than the other one: faster, more per second, or smaller.
    /// Returns `nil` if the units differ.
    func timesBetter(than other: Amount) -> Double? {
        switch (self, other) {
        case (.time(let mine), .time(let others)): others / max(mine, .leastNormalMagnitude)
        case (.perSecond(let mine), .perSecond(let others)), (.throughput(let mine), .throughput(let others)):
            mine / max(others, .leastNormalMagnitude)
        case (.size(let mine), .size(let others)), (.instructions(let mine), .instructions(let others)):
            Double(others) / Double(max(1, mine))
        case (.time, _), (.perSecond, _), (.size, _), (.throughput, _), (.instructions, _): nil
        }
    }

    /// The amount in the largest unit that gives a number of at least 1. A megabyte is a million bytes.
    var text: String {
        switch self {
        case .time(let microseconds):
            if microseconds >= 1_000_000 { return rounded(microseconds / 1_000_000) + " s" }
            if microseconds >= 1_000 { return rounded(microseconds / 1_000) + " ms" }
            return rounded(microseconds) + " µs"
        case .perSecond(let rate): return rounded(rate) + " /s"
        case .size(let bytes): return rounded(Double(bytes) / 1_000_000) + " MB"
        case .throughput(let rate): return rounded(rate) + " MB/s"
        case .instructions(let count): return "\(count)"
        }
    }

    /// The unit of ``value``.
    var unit: String {
        switch self {
        case .time: "microseconds"
        case .perSecond: "perSecond"
        case .size: "bytes"
        case .throughput: "megabytesPerSecond"
        case .instructions: "instructions"
        }
    }

    var value: Double {
        switch self {
        case .time(let value), .perSecond(let value), .throughput(let value): value
        case .size(let count), .instructions(let count): Double(count)
        }
    }
}

/// Returns three digits, or all digits before the decimal point if there are more.
func rounded(_ value: Double) -> String {
    switch value {
    case ..<9.995: decimals(value, 2)
    case ..<99.95: decimals(value, 1)
    default: String(Int(value.rounded()))
    }
}

private func decimals(_ value: Double, _ count: Int) -> String {
    let digits = String(Int((value * (count == 1 ? 10 : 100)).rounded()))
    let padded = String(repeating: "0", count: max(0, count + 1 - digits.count)) + digits
    return padded.dropLast(count) + "." + padded.suffix(count)
}
