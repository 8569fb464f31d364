import Dispatch
import Normalization
import Synchronization

/// The phone numbers of a large save, read by another thread while the rest of it is written: a fifth of the save's work, and
/// of the book it needs nothing.
final class NumbersAhead: Sendable {
    private let numbers: [String]
    private let region: String
    private let work: Mutex<Work>
    private let others = DispatchGroup()

    private struct Work {
        var next = 0
        var keys: [[UInt8]: PhoneMatchKey?] = [:]
    }

    /// For fewer the other thread is not woken.
    static let fewest = 64
    /// Numbers taken at a time.
    private static let share = 32

    init(_ numbers: [String], _ normalizer: Normalizer) {
        self.numbers = numbers
        region = normalizer.region
        work = Mutex(Work())
        DispatchQueue.global().async(group: others) { self.read() }
    }

    /// The key of every number, by the number's bytes; `nil` for what has none. Reads with the other thread what is not read yet.
    func keys() -> [[UInt8]: PhoneMatchKey?] {
        read()
        others.wait()
        return work.withLock { $0.keys }
    }

    private func read() {
        while true {
            let taken = work.withLock { work in
                let first = work.next
                work.next = min(numbers.count, first + Self.share)
                return first..<work.next
            }
            guard !taken.isEmpty else { return }
            let keys = numbers[taken].map { (Array($0.utf8), PhoneMatchKey($0, region: region)) }
            work.withLock { work in for (number, key) in keys { work.keys.updateValue(key, forKey: number) } }
        }
    }
}
