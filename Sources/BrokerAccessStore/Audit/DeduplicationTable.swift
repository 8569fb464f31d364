import BrokerAccessControl
import BrokerBounds
import BrokerModel

/// The deduplication windows of one app, in the order of opening. All have the same length, so the first one
/// opened is the first to end.
struct DeduplicationTable {
    /// The fields that must match for two records of one app to count as duplicates.
    ///
    /// ``hash`` distinguishes most keys; `==` compares all fields. Swift seeds the hash randomly, so nobody
    /// can choose contacts whose hashes collide.
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
            // Refusals and password requests share a table.
            hasher.combine(event == .authentication)
            hasher.combine(keys?.rawValue ?? 0)
            hasher.combine(revision ?? 0)
            hasher.combine(part ?? 0)
            if let contacts { for contact in contacts { hasher.combine(contact.rawValue) } }
            if let detail { hasher.combine(detail) }
            hash = hasher.finalize()
        }

        /// How much this key's window counts toward the bounds in ``AuditBounds``.
        var weight: Int { 1 + (contacts?.count ?? 0) / 16 }
    }

    struct Window {
        let key: Key
        /// Microseconds since 1970, like all times in this file.
        let opened: Int64
        var lastRepeat: Int64
        var repeats = 0
    }

    /// Keyed by window number, counted from the first window ever opened.
    private var windows: [Int: Window] = [:]
    /// The numbers of the open windows.
    private var numbers = 0..<0
    /// Window numbers by hash. A dictionary by key would copy and compare whole keys.
    private var places: [Int: Int] = [:]
    private(set) var weight = 0

    var isEmpty: Bool { numbers.isEmpty }

    var first: Window? { windows[numbers.lowerBound] }

    /// The repeats counted in open windows, and the time of the last one.
    var repeats: (count: Int, last: Int64?) {
        let repeated = windows.values.filter { $0.repeats > 0 }
        return (repeated.reduce(0) { $0 + $1.repeats }, repeated.map(\.lastRepeat).max())
    }

    /// Counts a repeat; returns `false` if no window is open for the key.
    mutating func countRepeat(of key: Key, at now: Int64) -> Bool {
        guard let place = places[key.hash], windows[place]?.key == key else { return false }
        windows[place]?.repeats += 1
        windows[place]?.lastRepeat = now
        return true
    }

    /// Opens a window for a key that has none. If two keys have the same hash, only the window opened later
    /// is found.
    mutating func open(_ key: Key, at now: Int64) {
        places[key.hash] = numbers.upperBound
        windows[numbers.upperBound] = Window(key: key, opened: now, lastRepeat: now)
        numbers = numbers.lowerBound..<numbers.upperBound + 1
        weight += key.weight
    }

    /// Whether the first window has ended. A window that opened after `now` counts as ended, because the
    /// clock was set back.
    func firstHasEnded(at now: Int64, length: Int64) -> Bool {
        guard let opened = first?.opened else { return false }
        return now - opened >= length || now < opened
    }

    mutating func closeFirst() -> Window? {
        guard let number = numbers.first else { return nil }
        numbers = numbers.dropFirst()
        return remove(number)
    }

    /// Removes the window that was opened last.
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
