import BrokerAccessControl
import BrokerModel

/// What joined a limited set or left it. What the app itself adds is no event: the book says when it came, and a save that is
/// not done leaves no trace.
public struct SetEvent: Hashable, Sendable {
    public enum Kind: Int64, CaseIterable, Sendable {
        /// Given by the person.
        case granted = 1
        /// Taken back while it is still in the book.
        case revoked = 3
        /// Gone from the book.
        case deleted = 4
    }

    /// The grant's revision with this event.
    public let revision: Int64
    public let record: RecordNumber
    public let kind: Kind
    /// The book's last change at that time: what happened to the record before was none of the app's business.
    public let change: Int64
    /// Seconds since 1970.
    public let time: Int64
}

/// What a user's book and the clock say while a set changes.
public struct SetMoment: Hashable, Sendable {
    /// The book's last change.
    public var change: Int64
    /// Seconds since 1970.
    public var time: Int64

    public init(change: Int64, time: Int64) {
        self.change = change
        self.time = time
    }
}

/// How a grant's set became what it is.
public struct SetHistory: Hashable, Sendable {
    /// The revision since which nothing else changed: neither level nor keys.
    public internal(set) var epoch: Int64 = 0
    /// In the order of their revisions.
    public internal(set) var events: [SetEvent] = []

    /// How long events are kept, in seconds.
    public static let retention: Int64 = 30 * 86_400
    /// Most events kept of one grant; with more of them it begins anew.
    static let mostEvents = 50_000

    public init() {}

    init(epoch: Int64, events: [SetEvent] = []) {
        self.epoch = epoch
        self.events = events
    }

    /// The events since a revision, in their order.
    public func events(since revision: Int64) -> ArraySlice<SetEvent> {
        events[(events.lastIndex { $0.revision <= revision }.map { $0 + 1 } ?? 0)...]
    }
}

extension SetHistory {
    /// What becomes of the history when a grant takes the place of another: it goes on where both are of one kind, so that
    /// all that changed are members of the set.
    init(of grant: Grant, after before: HeldGrant?, _ moment: SetMoment) {
        self.init(epoch: grant.revision)
        guard let before, before.grant.keys == grant.keys else { return }
        switch (before.grant.access, grant.access) {
        case (.full, .full):
            self = before.history
            append([(.revoked, before.grant.own.subtracting(grant.own))], grant.revision, moment)
        case (.limited(let former), .limited(let now)):
            self = before.history
            append(
                [(.revoked, former.subtracting(now)), (.granted, now.subtracting(former))], grant.revision, moment)
        case (.denied, _), (.full, _), (.limited, _): break
        }
    }

    mutating func append(
        _ changes: [(kind: SetEvent.Kind, records: Set<RecordNumber>)], _ revision: Int64, _ moment: SetMoment
    ) {
        if let first = events.first, let last = events.last, first.time < moment.time - Self.retention {
            events.removeAll { $0.time < moment.time - Self.retention }
            // The last one stays: where the app's history ends must not move back, or its tokens would be unknown.
            if events.isEmpty { events = [last] }
        }
        // Never back, though a book that is not open says nothing.
        let change = max(moment.change, events.last?.change ?? 0)
        for (kind, records) in changes {
            for record in records.sorted() {
                events.append(
                    SetEvent(revision: revision, record: record, kind: kind, change: change, time: moment.time))
            }
        }
        if events.count > Self.mostEvents { self = SetHistory(epoch: revision) }
    }
}
