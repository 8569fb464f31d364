import BrokerBounds
import Glibc
import Testing

@testable import contactbrokerd

@Suite("Users whom the broker knows without a look-up")
struct KnownUsersTests {
    private func create(_ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        try #require(descriptor >= 0)
        close(descriptor)
    }

    @Test("Root, the broker's user and users with an address book or a session are known; other user IDs are not")
    func known() throws {
        let folder = try Folder()
        let users = KnownUsers(state: folder.path, sessions: folder.path + "/sessions")
        for uid in [0, getuid()] { #expect(users.contains(uid)) }
        for uid: UInt32 in [1_000, 1_001, 100_001] { #expect(!users.contains(uid)) }
        try #require(mkdir(folder.path + "/users", 0o700) == 0 && mkdir(folder.path + "/sessions", 0o700) == 0)
        try #require(mkdir(folder.path + "/users/1000", 0o700) == 0)
        try create(folder.path + "/sessions/1001")
        for uid: UInt32 in [1_000, 1_001] { #expect(users.contains(uid)) }
        #expect(!users.contains(100_001))
    }

    @Test("A user whose name was found is cached, and the cache is emptied when it is full")
    func learned() throws {
        let folder = try Folder()
        let users = KnownUsers(state: folder.path, sessions: folder.path)
        users.learn(1_000)
        #expect(users.contains(1_000) && !users.contains(1_001))
        for uid in 0..<UInt32(InspectionLimits.knownUsers) { users.learn(100_000 + uid) }
        #expect(!users.contains(1_000) && users.contains(0) && users.contains(getuid()))
    }
}
