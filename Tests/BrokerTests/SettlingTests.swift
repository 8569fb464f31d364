import BrokerAccessControl
import BrokerAccessStore
import BrokerModel
import Testing

@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Grants that wait for a sync")
struct SettlingTests {
    @Test("Of two grants for one app within one sync, calls use the second only once it is synced too")
    func two() throws {
        let disk = SlowDisk(waits: false)
        let fixture = try BrokerFixture(disk: disk)
        try fixture.keeper(adding: "Ada", "Bob")
        let app = try fixture.app("mail")
        let ada = try fixture.records("Ada")
        var isSynced = false
        fixture.groupCommit.sync.onDisk { _ in isSynced = true }
        try #require(fixture.loop.run { isSynced })
        disk.wait()
        let before = disk.syncs
        var settled: [String] = []
        func settle(_ access: Access, _ name: String) {
            let grant = Grant(
                access: access, revision: fixture.access.nextRevision(), decidedBy: .person,
                decidedAt: fixture.surroundings.seconds)
            fixture.grants.settle(
                grant, for: app.principal, displayName: "mail", sharesPersistentKey: true
            ) { isOnDisk in
                #expect(isOnDisk)
                settled.append(name)
            }
            fixture.loop.iterate()
        }
        settle(.limited(to: ada), "first")
        try #require(fixture.loop.run { disk.syncs == before + 1 })
        settle(.full, "second")
        let call = try app.begin("FetchContacts", #"{"keys":["givenName"],"sortOrder":"givenName"}"#)
        disk.end()
        try #require(fixture.loop.run { disk.syncs == before + 2 && settled == ["first"] })
        fixture.loop.iterate()
        #expect(try app.replies(to: call).isEmpty)
        #expect(fixture.grants.isSettling)
        disk.end()
        #expect(try app.replies(1, to: call).first?.names == ["Ada", "Bob"])
        #expect(settled == ["first", "second"])
        // Later syncs do not wait for the test.
        for _ in 0..<10 { disk.end() }
    }
}
