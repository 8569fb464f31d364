/// The times of a repeated task.
struct Samples {
    /// Nanoseconds, shortest first.
    private let sorted: [Int64]

    init(_ nanoseconds: [Int64]) { sorted = nanoseconds.sorted() }

    var count: Int { sorted.count }
    /// In microseconds.
    var least: Double { sorted.first.map { Double($0) / 1_000 } ?? 0 }
    var p50: Double { percentile(50) }
    var p99: Double { percentile(99) }

    /// Returns a percentile by nearest rank, in microseconds.
    private func percentile(_ part: Int) -> Double {
        guard !sorted.isEmpty else { return 0 }
        let rank = (sorted.count * part + 99) / 100
        return Double(sorted[max(0, rank - 1)]) / 1_000
    }
}
