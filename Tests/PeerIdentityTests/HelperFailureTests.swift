import BrokerAccessControl
import CBrokerIdentify
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import BrokerPeerIdentity

@Suite(
    "A helper that is missing, silent or late", .enabled(if: Machine.canRunHelper, Machine.helperNeeds), .serialized,
    .timeLimit(.minutes(10)))
struct HelperFailureTests {
    @Test("Without the helper no caller is identified, and no caller counts as changed")
    func noHelper() throws {
        let folder = try Folder()
        let client = try IdentifyClient(socket: folder.path + "/none")
        let test = try TestCaller()
        #expect(!client.isAnswered())
        #expect(throws: PeerError.unreadable(what: "contactbroker-identify", errno: ENOENT)) {
            try test.evidence(with: client)
        }
        let peer = try PeerHandle(socket: test.socket)
        let evidence = try test.evidence(with: EvidenceCollector(vantage: .system))
        #expect(client.check(peer, evidence) == .unknown)
        // This socket listens and never answers.
        let listener = identify_listen(folder.path + "/silent")
        try #require(listener >= 0)
        defer { close(listener) }
        let silent = try IdentifyClient(socket: folder.path + "/silent")
        #expect(silent.check(peer, evidence) == .unknown)
        #expect(throws: PeerError.unreadable(what: "contactbroker-identify", errno: ETIMEDOUT)) {
            try silent.collect(peer)
        }
    }

    @Test("A stopped helper gives `unknown`; a late answer is still used")
    func lateHelper() throws {
        let helper = try RunningHelper()
        let client = try helper.client()
        let test = try TestCaller()
        let peer = try PeerHandle(socket: test.socket)
        let evidence = try client.collectInTheEnd(peer)
        // The parent first, so that it starts no other worker.
        let processes = [helper.pid] + helper.workers
        for process in processes { try #require(signal(process, SIGSTOP)) }
        let waking = DispatchGroup()
        let found = Mutex<ExecutableCheck?>(nil)
        DispatchQueue(label: "check").async(group: waking) {
            let late = client.checkInTheEnd(peer, evidence)
            found.withLock { $0 = late }
        }
        #expect(client.check(peer, evidence) == .unknown)
        for process in processes { #expect(signal(process, SIGCONT)) }
        waking.wait()
        #expect(found.withLock { $0 } == .same)
    }

    /// A worker that is not needed any more may have ended.
    private func signal(_ process: pid_t, _ number: CInt) -> Bool { kill(process, number) == 0 || errno == ESRCH }
}
