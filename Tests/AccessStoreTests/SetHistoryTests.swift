import BrokerAccessControl
import BrokerBounds
import BrokerModel
import Testing

@testable import BrokerAccessStore

@Suite("History of a granted set")
struct SetHistoryTests {
    private static func grant(
        _ access: Access, keys: ContactKeySet = Grant.ordinaryKeys, in store: AccessStore
    ) -> Grant {
        Grant(access: access, keys: keys, revision: store.nextRevision(), decidedBy: .person, decidedAt: 0)
    }

    private static func events(_ store: AccessStore) -> [String] {
        store.setHistory(of: mail)?.events.map { "\($0.kind) \($0.record.rawValue) \($0.change)" } ?? []
    }

    @Test("Granted, revoked and deleted contacts survive a restart in order, without the app's own additions")
    func kept() throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        var change: Int64 = 7
        store.setGrant(
            Self.grant(.limited(to: contacts(1, 2)), in: store), for: mail, displayName: "Mail",
            at: SetMoment(change: change, time: 0))
        let epoch = try #require(store.setHistory(of: mail)?.epoch)
        #expect(Self.events(store) == [])
        store.widen(mail, with: contacts(3), at: SetMoment(change: change, time: 0))
        try store.commit()
        store.setGrant(
            Self.grant(.limited(to: contacts(2, 3, 4)), in: store), for: mail, displayName: "Mail",
            at: SetMoment(change: change, time: 0))
        change = 9
        store.drop(contacts(2, 8), uid: 1_000, at: SetMoment(change: change, time: 0))
        let expected = ["revoked 1 7", "granted 4 7", "deleted 2 9"]
        #expect(Set(Self.events(store)) == Set(expected) && Self.events(store).last == expected.last)
        try store.commit()
        store.close(now: fixture.now)
        store = try fixture.open()
        #expect(Set(Self.events(store)) == Set(expected) && Self.events(store).last == expected.last)
        #expect(store.setHistory(of: mail)?.epoch == epoch)
        // A book that is not open reports change 0, which does not precede the earlier changes.
        change = 0
        store.setGrant(
            Self.grant(.limited(to: contacts(3, 4, 5)), in: store), for: mail, displayName: "Mail",
            at: SetMoment(change: change, time: 0))
        #expect(Self.events(store).last == "granted 5 9")
        store.close(now: fixture.now)
    }

    @Test("A contact that was put back returns to the sets that it left, unless the access was lowered since")
    func rejoining() throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        let moment = SetMoment(change: 5, time: 0)
        func set(_ access: Access, keys: ContactKeySet = Grant.ordinaryKeys) {
            store.setGrant(Self.grant(access, keys: keys, in: store), for: mail, displayName: "Mail", at: moment)
        }
        func rejoin(_ records: Int64...) -> [Set<RecordNumber>] {
            store.rejoin(Set(records.map { RecordNumber($0) }), uid: 1_000, at: moment, members: { _ in [] }).map(
                \.joined)
        }
        set(.limited(to: contacts(1, 2, 3)))
        store.drop(contacts(1, 2), uid: 1_000, at: moment)
        try store.commit()
        store.close(now: fixture.now)
        store = try fixture.open()
        defer { store.close(now: fixture.now) }
        #expect(rejoin(4, 3) == [] && store.rejoin(contacts(1), uid: 1_001, at: moment, members: { _ in [] }).isEmpty)
        #expect(rejoin(1, 4) == [contacts(1)] && store.access(of: mail) == .limited(to: contacts(1, 3)))
        #expect(rejoin(1) == [], "it is in the set")
        set(.limited(to: contacts(3)))
        #expect(rejoin(1, 2) == [], "contact 1 was revoked")
        set(.limited(to: contacts(1, 2, 3)))
        store.drop(contacts(1, 2), uid: 1_000, at: moment)
        set(.limited(to: contacts(3)), keys: .names)
        #expect(rejoin(1, 2) == [], "the grant has other keys")
        set(.limited(to: contacts(1, 3)), keys: .names)
        store.drop(contacts(1), uid: 1_000, at: moment)
        set(.denied)
        #expect(rejoin(1) == [])
        set(.limited(to: contacts(3)), keys: .names)
        #expect(rejoin(1) == [] && store.access(of: mail) == .limited(to: contacts(3)))
    }

    @Test("Another level or other keys start a new history")
    func epochs() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        defer { store.close(now: fixture.now) }
        var epochs: [Int64] = []
        for (access, keys) in [
            (Access.limited(to: contacts(1)), Grant.ordinaryKeys),
            (.limited(to: contacts(1)), ContactKeySet([.givenName])),
            (.full, ContactKeySet([.givenName])), (.denied, Grant.ordinaryKeys), (.limited(to: contacts(1)), .all),
        ] {
            store.widen(mail, with: contacts(9), at: beginning)
            store.setGrant(Self.grant(access, keys: keys, in: store), for: mail, displayName: "Mail", at: beginning)
            #expect(Self.events(store) == [])
            epochs.append(try #require(store.setHistory(of: mail)?.epoch))
        }
        #expect(Set(epochs).count == epochs.count)
        store.removeGrant(of: mail)
        #expect(store.setHistory(of: mail) == nil)
    }

    @Test("Events are kept for thirty days")
    func pruning() throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        var time: Int64 = 0
        store.setGrant(
            Self.grant(.limited(to: []), in: store), for: mail, displayName: "Mail",
            at: SetMoment(change: 0, time: time))
        let give = { (records: Set<RecordNumber>) in
            let grant = Self.grant(.limited(to: records), in: store)
            store.setGrant(grant, for: mail, displayName: "Mail", at: SetMoment(change: 0, time: time))
        }
        give(contacts(1))
        try store.commit()
        time = StoreLimits.history
        give(contacts(1, 2))
        #expect(Self.events(store).count == 2)
        time += 1
        give(contacts(1, 2, 3))
        #expect(Self.events(store) == ["granted 2 0", "granted 3 0"])
        try store.commit()
        store.close(now: fixture.now)
        store = try fixture.open()
        #expect(Self.events(store) == ["granted 2 0", "granted 3 0"])
        // The last event is kept however old it is, so that the end of the history does not move back.
        let end = store.setHistory(of: mail)?.events.last
        time += StoreLimits.history + 1
        store.widen(mail, with: contacts(4), at: SetMoment(change: 0, time: time))
        #expect(store.setHistory(of: mail)?.events == [end].compactMap { $0 })
        try store.commit()
        store.close(now: fixture.now)
        store = try fixture.open()
        #expect(store.setHistory(of: mail)?.events == [end].compactMap { $0 })
        store.close(now: fixture.now)
    }

    @Test("A save that has begun and not ended leaves the granted set and its history unchanged")
    func notDone() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        defer { store.close(now: fixture.now) }
        for access in [Access.limited(to: contacts(1, 2)), .full] {
            store.setGrant(Self.grant(access, in: store), for: mail, displayName: "Mail", at: beginning)
            let before = store.setHistory(of: mail)
            var contents = SaveContents()
            contents.adds = [RecordNumber(3)]
            contents.isKeptToSingle = true
            _ = try store.beginSave(contents, by: mail, now: fixture.now)
            #expect(store.grant(of: mail)?.access == access && store.grant(of: mail)?.own == [])
            #expect(store.setHistory(of: mail) == before)
        }
    }

    @Test("After a failed commit, the history is the one in the file, or a new one")
    func failing() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        defer { store.close(now: fixture.now) }
        store.setGrant(
            Self.grant(.limited(to: contacts(1, 2)), in: store), for: mail, displayName: "Mail", at: beginning)
        try store.commit()
        let before = store.setHistory(of: mail)
        store.widen(mail, with: contacts(3), at: beginning)
        store.audit.pseudonyms.failure = .unavailable(reason: "the test's")
        #expect(throws: AccessStoreError.self) { try store.commit() }
        #expect(store.setHistory(of: mail) == before)
        // The contact stays removed, so the stored events do not lead to the current set.
        store.drop(contacts(1), uid: 1_000, at: beginning)
        store.audit.pseudonyms.failure = .unavailable(reason: "the test's")
        #expect(throws: AccessStoreError.self) { try store.commit() }
        #expect(store.setHistory(of: mail)?.epoch != before?.epoch)
        #expect(Self.events(store) == [])
    }

    @Test("The history returns the events since a revision")
    func since() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        defer { store.close(now: fixture.now) }
        store.setGrant(Self.grant(.limited(to: []), in: store), for: mail, displayName: "Mail", at: beginning)
        for set in [contacts(1, 2), contacts(1, 2, 3)] {
            store.setGrant(Self.grant(.limited(to: set), in: store), for: mail, displayName: "Mail", at: beginning)
        }
        let history = try #require(store.setHistory(of: mail))
        #expect(history.events(since: 0).count == 3)
        #expect(history.events(since: history.events[0].revision).map(\.record.rawValue) == [3])
        #expect(history.events(since: history.events[2].revision).isEmpty)
    }
}
