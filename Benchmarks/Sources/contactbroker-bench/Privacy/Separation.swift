/// How well an app can tell two classes of calls apart by their times.
///
/// The mean of two classes that do not differ is never exactly equal, and a case draws from the calls that
/// were measured. Noise alone therefore gives more than 50 %: with N calls of each class, a case agrees with
/// the overall means with a probability of Φ(|Z| √(1000 / N)), where Z is normally distributed. That is
/// 1/2 + arctan(√(1000 / N)) / π on average: 57 % for N = 20,000, 53.2 % for 100,000 and 52.2 % for 200,000.
/// It exceeds ``bar`` by chance in 26 %, 1.1 % and 0.03 % of all measurements. ``Measurement`` therefore
/// measures 100,000 calls, and as many again if the result is above the bar.
struct Separation {
    /// The probability that a call of the first class takes longer than one of the second. Equal times count
    /// half.
    let area: Double
    /// Half the width of the area's 95 % interval, after Hanley and McNeil (Radiology 143:29, 1982).
    let uncertainty: Double
    /// The difference of the two means, in nanoseconds.
    let difference: Double
    /// The part of ``cases`` in which the mean of ``callsPerCase`` calls tells the classes apart.
    let told: Double

    static let bar = 0.6
    static let cases = 1_000
    static let callsPerCase = 1_000

    init(_ first: [Int64], _ second: [Int64]) {
        area = Self.area(first, second)
        let counts = (Double(first.count), Double(second.count))
        let (q1, q2) = (area / (2 - area), 2 * area * area / (1 + area))
        let variance =
            (area * (1 - area) + (counts.0 - 1) * (q1 - area * area) + (counts.1 - 1) * (q2 - area * area))
            / (counts.0 * counts.1)
        uncertainty = 1.96 * max(0, variance).squareRoot()
        let (first, second) = Self.clamped(first, second)
        difference = Self.mean(first) - Self.mean(second)
        told = Self.told(first, second, isFirstLarger: difference > 0)
    }

    /// By the sum of ranks (Mann-Whitney).
    private static func area(_ first: [Int64], _ second: [Int64]) -> Double {
        let (first, second) = (first.sorted(), second.sorted())
        var (below, through) = (0, 0)
        var sum = 0.0
        for time in first {
            while below < second.count, second[below] < time { below += 1 }
            through = max(through, below)
            while through < second.count, second[through] == time { through += 1 }
            sum += Double(below + through) / 2
        }
        return sum / Double(first.count) / Double(second.count)
    }

    /// Reduces the slowest tenth of all times to the fastest time among them. Pauses of the machine would
    /// otherwise hide a difference. An attacker would do the same.
    static func clamped(_ first: [Int64], _ second: [Int64]) -> ([Double], [Double]) {
        let all = (first + second).sorted()
        let most = all[all.count * 9 / 10]
        return (first.map { Double(min($0, most)) }, second.map { Double(min($0, most)) })
    }

    static func mean(_ times: [Double]) -> Double { times.reduce(0, +) / Double(max(1, times.count)) }

    private static func told(_ first: [Double], _ second: [Double], isFirstLarger: Bool) -> Double {
        var random = Generator(state: UInt64.random(in: 1 ... .max))
        func sum(_ times: [Double]) -> Double {
            var sum = 0.0
            for _ in 0..<callsPerCase { sum += times[random.below(times.count)] }
            return sum
        }
        let told = (0..<cases).count { _ in (sum(first) > sum(second)) == isFirstLarger }
        return Double(told) / Double(cases)
    }

    /// Whether the classes differ so much that more calls cannot bring the result below the bar.
    static func isCertain(_ first: [Int64], _ second: [Int64]) -> Bool {
        let (first, second) = clamped(first, second)
        let means = (mean(first), mean(second))
        let squares =
            first.reduce(0) { $0 + ($1 - means.0) * ($1 - means.0) }
            + second.reduce(0) { $0 + ($1 - means.1) * ($1 - means.1) }
        let variance = squares / Double(first.count + second.count)
        let distance = abs(means.0 - means.1) / max(variance, 1).squareRoot()
        // The bar is at a distance of 0.253 standard deviations of a case's difference.
        let (perCase, measured) = (2 / Double(callsPerCase), 2 / Double(first.count))
        return distance > 0.253 * perCase.squareRoot() + 5 * measured.squareRoot()
    }
}

/// A generator that is fast enough to draw millions of calls (xorshift64*).
private struct Generator {
    var state: UInt64

    mutating func below(_ count: Int) -> Int {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return Int(truncatingIfNeeded: (state &* 0x2545_F491_4F6C_DD1D).multipliedFullWidth(by: UInt64(count)).high)
    }
}
