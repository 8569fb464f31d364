import BrokerAccessControl
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerAccessStore

@Suite("Storing the contact groups of a grant")
struct GrantedGroupTests {
    private let fixture: StoreFixture
    private let group = RecordNumber(100)
    private let other = RecordNumber(200)

    init() throws { fixture = try StoreFixture() }

    /// Stores a grant that shares contact 1 singly, and contacts 1 to 3 through a group.
    private func share(_ store: AccessStore) throws {
        var grant = Grant(
            access: .limited(to: contacts(1)), revision: store.nextRevision(), decidedBy: .person, decidedAt: 5)
        grant.share(group: group, members: contacts(1, 2, 3))
        store.setGrant(grant, for: mail, displayName: "An App", at: beginning)
        try store.commit()
    }

    private func again(_ store: AccessStore) throws -> AccessStore {
        store.close(now: fixture.now)
        return try fixture.open()
    }

    @Test("Each change of the groups survives a restart")
    func reopen() throws {
        var store = try fixture.open()
        try share(store)
        let changes: [(AccessStore) -> Void] = [
            { _ in },
            { _ = $0.follow([self.group: contacts(2, 3, 4, 5)], of: mail, mayGrow: true, at: beginning) },
            {
                var grant = $0.grant(of: mail)
                grant?.revoke(contacts(4))
                if let grant { $0.setGrant(grant, for: mail, displayName: "An App", at: beginning) }
            },
            { $0.widen(mail, with: contacts(9), at: beginning) },
            { $0.drop(contacts(3), uid: 1_000, at: beginning) },
            { _ = $0.follow([self.group: contacts(4, 5)], of: mail, mayGrow: true, at: beginning) },
            { _ = $0.follow([:], of: mail, mayGrow: true, at: beginning) },
        ]
        let sets = [
            contacts(1, 2, 3), contacts(1, 2, 3, 4, 5), contacts(1, 2, 3, 5), contacts(1, 2, 3, 5, 9),
            contacts(1, 2, 5, 9), contacts(1, 5, 9), contacts(1, 9),
        ]
        for (change, set) in zip(changes, sets) {
            change(store)
            try store.commit()
            var grant = store.grant(of: mail)
            #expect(grant?.access == .limited(to: set))
            store = try again(store)
            // The book says which groups are gone.
            let all = grant?.groups.all ?? []
            grant?.groups.records = all
            grant?.groups.gone = []
            #expect(store.grant(of: mail) == grant)
        }
        let revision = store.grant(of: mail)?.revision
        #expect(store.follow([:], of: mail, mayGrow: true, at: beginning) == nil)
        #expect(store.grant(of: mail)?.groups.gone == [group] && store.grant(of: mail)?.revision == revision)
        _ = store.follow([group: contacts(2)], of: mail, mayGrow: true, at: beginning)
        #expect(store.grant(of: mail)?.access == .limited(to: contacts(1, 2, 9)))
        // What is revoked meanwhile ends the share of a group that is gone.
        _ = store.follow([:], of: mail, mayGrow: true, at: beginning)
        var grant = try #require(store.grant(of: mail))
        grant.revoke(contacts(9))
        #expect(grant.groups.all.isEmpty)
    }

    @Test("A set that follows its groups gets a new revision and events, but only if it changes")
    func events() throws {
        let store = try fixture.open()
        try share(store)
        let revision = try #require(store.grant(of: mail)?.revision)
        let moment = SetMoment(change: 7, time: 8)
        #expect(store.follow([group: contacts(1, 2, 3)], of: mail, mayGrow: true, at: moment) == nil)
        let changed = try #require(store.follow([group: contacts(1, 3, 4)], of: mail, mayGrow: true, at: moment))
        #expect(changed.joined == contacts(4) && changed.left == contacts(2))
        #expect(changed.grant == store.grant(of: mail) && changed.grant.revision > revision)
        let events = try #require(store.setHistory(of: mail)?.events(since: revision))
        #expect(events.map(\.kind) == [.left, .granted] && events.map(\.change) == [7, 7])
        // An app that may not grow loses members, and gets none.
        let last = try #require(store.follow([group: contacts(1, 4, 5)], of: mail, mayGrow: false, at: moment))
        #expect(last.joined.isEmpty && last.left == contacts(3))
    }

    @Test("A commit that fails leaves no card in the set that the last commit or the new state lacks")
    func failure() throws {
        let store = try fixture.open()
        try share(store)
        try store.diskIsFull(true)
        _ = store.follow([group: contacts(1, 3, 4)], of: mail, mayGrow: true, at: beginning)
        store.discloseMuch()
        #expect(throws: AccessStoreError.self) { try store.commit() }
        #expect(store.access(of: mail) == .limited(to: contacts(1, 3)))
        #expect(store.grant(of: mail)?.groups.records == [group])
        try store.diskIsFull(false)
        _ = store.follow([group: contacts(1, 3, 4)], of: mail, mayGrow: true, at: beginning)
        try store.commit()
        #expect(store.access(of: mail) == .limited(to: contacts(1, 3, 4)))
    }

    @Test("A grant that is not limited shares no group, and neither does the next one")
    func levels() throws {
        let store = try fixture.open()
        try share(store)
        for access in [Access.denied, .full] {
            var grant = try #require(store.grant(of: mail))
            grant.access = access
            store.setGrant(grant, for: mail, displayName: "An App", at: beginning)
            #expect(store.grant(of: mail)?.groups == GrantedGroups())
        }
        #expect(store.follow([group: contacts(1)], of: mail, mayGrow: true, at: beginning) == nil)
    }

    @Test("A card stays with the last group that has it, and a revoked card stays away")
    func rules() {
        var grant = Grant(access: .limited(to: contacts(1)), revision: 1, decidedBy: .person, decidedAt: 5)
        grant.share(group: group, members: contacts(1, 2))
        grant.share(group: other, members: contacts(2, 3))
        grant.leaveGroups(except: [other: contacts(2, 3)])
        #expect(grant.access.records == contacts(1, 2, 3) && grant.groups.records == [other])
        grant.revoke(contacts(2))
        grant.follow([other: contacts(2, 3, 4)], mayGrow: true)
        #expect(grant.access.records == contacts(1, 3, 4))
        grant.share(group: other, members: contacts(2, 3, 4))
        #expect(grant.access.records == contacts(1, 2, 3, 4))
        grant.share(contacts(4))
        grant.narrow(to: contacts(3, 4))
        #expect(grant.access.records == contacts(3, 4) && grant.groups == GrantedGroups())
    }
}
