import BrokerAccessControl
import BrokerBounds
import BrokerModel

/// One change to a granted set. A contact that the app itself adds causes no event, because the book already
/// records the addition. A save that is not carried out therefore leaves no event.
public struct SetEvent: Hashable, Sendable {
    public enum Kind: Int64, CaseIterable, Sendable {
        /// The person added the contact.
        case granted = 1
        /// The contact left a contact group that the grant shares, or that group is gone.
        case left = 2
        /// The contact was revoked, and is still in the book.
        case revoked = 3
        /// The contact was deleted from the book.
        case deleted = 4
        /// The same for a contact that was in the set only as a member of a group.
        case deletedMember = 5
        /// The contact was deleted before, and does not return to the set if it comes back. Apps learn nothing of it.
        case forgotten = 6
    }

    /// The revision that the grant got with this event.
    public let revision: Int64
    public let record: RecordNumber
    public let kind: Kind
    /// The number of the book's last change at the time of the event. When a contact is granted, the app must not
    /// see earlier changes to it.
    public let change: Int64
    /// Seconds since 1970.
    public let time: Int64
}

/// The time of a change to a granted set, and the state of the user's book at that time.
public struct SetMoment: Hashable, Sendable {
    /// The number of the book's last change.
    public var change: Int64
    /// Seconds since 1970.
    public var time: Int64

    public init(change: Int64, time: Int64) {
        self.change = change
        self.time = time
    }
}

/// The changes to a grant's set.
public struct SetHistory: Hashable, Sendable {
    /// Since this revision only the set has changed, not the level or the keys.
    public internal(set) var epoch: Int64 = 0
    /// In the order of their revisions.
    public internal(set) var events: [SetEvent] = []

    public init() {}

    public init(epoch: Int64, events: [SetEvent] = []) {
        self.epoch = epoch
        self.events = events
    }

    /// Returns the events after a revision, in order.
    public func events(since revision: Int64) -> ArraySlice<SetEvent> {
        events[(events.lastIndex { $0.revision <= revision }.map { $0 + 1 } ?? 0)...]
    }

    /// Returns those of the contacts that left the set because they were deleted, and since when nothing was revoked.
    ///
    /// - Parameter records: `nil` for all.
    /// - Returns: `members` were in the set only as members of a group.
    func deleted(among records: Set<RecordNumber>?) -> (single: Set<RecordNumber>, members: Set<RecordNumber>) {
        var (single, members) = (Set<RecordNumber>(), Set<RecordNumber>())
        for event in events {
            switch event.kind {
            case .deleted: if records?.contains(event.record) ?? true { single.insert(event.record) }
            case .deletedMember: if records?.contains(event.record) ?? true { members.insert(event.record) }
            case .granted, .left, .forgotten:
                single.remove(event.record)
                members.remove(event.record)
            // Whatever was revoked: the person wanted the app to see less.
            case .revoked: (single, members) = ([], [])
            }
        }
        return (single, members)
    }
}

extension SetHistory {
    /// Makes the history of a grant that replaces `before`. It continues the earlier history only if the
    /// level and the keys are the same.
    init(of grant: Grant, after before: StoredGrant?, _ moment: SetMoment) {
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

    /// Notes that the contacts which were deleted before do not return to the set.
    ///
    /// - Returns: whether there are any.
    @discardableResult
    mutating func forgetDeleted(_ revision: Int64, _ moment: SetMoment) -> Bool {
        let (single, members) = deleted(among: nil)
        let all = single.union(members)
        append([(.forgotten, all)], revision, moment)
        return !all.isEmpty
    }

    mutating func append(
        _ changes: [(kind: SetEvent.Kind, records: Set<RecordNumber>)], _ revision: Int64, _ moment: SetMoment
    ) {
        if let first = events.first, let last = events.last, first.time < moment.time - StoreLimits.history {
            events.removeAll { $0.time < moment.time - StoreLimits.history }
            // The last event stays, because history tokens contain its revision. A token that is ahead of the
            // history is invalid.
            if events.isEmpty { events = [last] }
        }
        // The change number never decreases, even if `moment.change` is too low because the book is not open.
        let change = max(moment.change, events.last?.change ?? 0)
        for (kind, records) in changes {
            for record in records.sorted() {
                events.append(
                    SetEvent(revision: revision, record: record, kind: kind, change: change, time: moment.time))
            }
        }
        if events.count > StoreLimits.setEvents { self = SetHistory(epoch: revision) }
    }
}
