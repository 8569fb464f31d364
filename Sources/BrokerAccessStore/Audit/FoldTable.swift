import BrokerAccessControl
import BrokerModel

/// The windows of one app within which equal records are counted in place of being written. They are in the order in
/// which they were opened, and all of one length, so that the first is the first to end.
struct FoldTable {
    /// What makes two records of one app equal.
    ///
    /// ``hash`` tells most of them apart; `==` looks at all of it. It is the library's seeded one, so that nobody can choose
    /// contacts that have the same.
    struct Key: Equatable {
        let hash: Int
        let event: AuditEvent
        let status: AuthorizationStatus?
        let keys: ContactKeySet?
        let count: Int?
        let contacts: [RecordNumber]?
        let revision: Int64?
        let detail: String?
        let part: Int?

        init(_ record: AuditRecord) {
            event = record.event
            status = record.status
            keys = record.keys
            count = record.count
            contacts = record.contacts
            revision = record.revision
            detail = record.detail
            part = record.part
            var hasher = Hasher()
            // Of the two events whose windows share a table.
            hasher.combine(event == .authentication)
            hasher.combine(keys?.rawValue ?? 0)
            hasher.combine(revision ?? 0)
            hasher.combine(part ?? 0)
            if let contacts { for contact in contacts { hasher.combine(contact.rawValue) } }
            if let detail { hasher.combine(detail) }
            hash = hasher.finalize()
        }

        /// What it takes of the bounds.
        var weight: Int { 1 + (contacts?.count ?? 0) / 16 }
    }

    struct Window {
        let key: Key
        /// Microseconds since 1970, as all times here.
        let opened: Int64
        var lastRepeat: Int64
        var repeats = 0
    }

    /// By the number of each, counted from the first window ever.
    private var windows: [Int: Window] = [:]
    /// The numbers of the open windows.
    private var numbers = 0..<0
    /// By hash: a key would be copied and compared whole at each step.
    private var places: [Int: Int] = [:]
    private(set) var weight = 0

    var isEmpty: Bool { numbers.isEmpty }

    var first: Window? { windows[numbers.lowerBound] }

    /// Repeats counted in open windows, and when the last one was.
    var repeats: (count: Int, last: Int64?) {
        let repeated = windows.values.filter { $0.repeats > 0 }
        return (repeated.reduce(0) { $0 + $1.repeats }, repeated.map(\.lastRepeat).max())
    }

    /// Counts a repeat; `false` where no window is open for it.
    mutating func countRepeat(of key: Key, at now: Int64) -> Bool {
        guard let place = places[key.hash], windows[place]?.key == key else { return false }
        windows[place]?.repeats += 1
        windows[place]?.lastRepeat = now
        return true
    }

    /// Opens a window for what has none. Of two with one hash, which chance does not make, the later is found.
    mutating func open(_ key: Key, at now: Int64) {
        places[key.hash] = numbers.upperBound
        windows[numbers.upperBound] = Window(key: key, opened: now, lastRepeat: now)
        numbers = numbers.lowerBound..<numbers.upperBound + 1
        weight += key.weight
    }

    /// Whether the first window is over. One from the future is: somebody set the clock.
    func firstHasEnded(at now: Int64, length: Int64) -> Bool {
        guard let opened = first?.opened else { return false }
        return now - opened >= length || now < opened
    }

    mutating func closeFirst() -> Window? {
        guard let number = numbers.first else { return nil }
        numbers = numbers.dropFirst()
        return remove(number)
    }

    /// Takes back the window that was opened last.
    mutating func removeLast() {
        guard let number = numbers.last else { return }
        numbers = numbers.dropLast()
        _ = remove(number)
    }

    private mutating func remove(_ number: Int) -> Window? {
        guard let window = windows.removeValue(forKey: number) else { return nil }
        if places[window.key.hash] == number { places[window.key.hash] = nil }
        weight -= window.key.weight
        return window
    }
}
