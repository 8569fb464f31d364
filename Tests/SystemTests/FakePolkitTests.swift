import BrokerAccessControl
import CFakePolkit
import Glibc
import PseudoTerminal
import Testing

@testable import BrokerSystem

@Suite("Answers of a fake polkit", .enabled(if: Machine.hasBus, "needs dbus-daemon"), .timeLimit(.minutes(10)))
struct FakePolkitTests {
    let bus: PrivateBus

    init() throws {
        bus = try PrivateBus()
        try bus.start()
    }

    private func withFake<Result>(
        _ habit: fakepolkit_habit, _ body: (OpaquePointer) throws -> Result
    ) throws -> Result {
        let fake = try #require(fakepolkit_start(bus.address, habit))
        defer { fakepolkit_stop(fake) }
        return try body(fake)
    }

    @Test(
        "Only a complete and plain yes grants",
        arguments: [
            (FAKEPOLKIT_YES, AuthorityAnswer.granted), (FAKEPOLKIT_NO, .refused),
            (FAKEPOLKIT_CHALLENGE, .wantsInteraction), (FAKEPOLKIT_BOTH, .refused),
        ])
    func plain(habit: fakepolkit_habit, answer: AuthorityAnswer) throws {
        try withFake(habit) { _ throws in #expect(try bus.ask() == answer) }
    }

    @Test(
        "A malformed or missing reply is a failure with a reason",
        arguments: [
            (FAKEPOLKIT_SHORT, "unexpected signature"), (FAKEPOLKIT_LONG, "unexpected signature"),
            (FAKEPOLKIT_FLAT, "unexpected signature"),
            (FAKEPOLKIT_WORD, "unexpected signature"), (FAKEPOLKIT_EMPTY, "unexpected signature"),
            (FAKEPOLKIT_ERROR, "out of order"),
            (FAKEPOLKIT_LEAVE, ""),
        ])
    func misshapen(habit: fakepolkit_habit, words: String) throws {
        try withFake(habit) { _ throws in
            guard case .failed(let reason) = try bus.ask() else {
                Issue.record("a malformed reply counted as an answer")
                return
            }
            #expect(!reason.isEmpty && reason.contains(words) || words.isEmpty, "\(reason)")
        }
        // The next request gets its own answer.
        try withFake(FAKEPOLKIT_YES) { _ throws in #expect(try bus.ask() == .granted) }
    }

    @Test(
        "polkit gets process, start time, user, action, app and whether to interact, and nothing else",
        arguments: [true, false])
    func question(mayInteract: Bool) throws {
        try withFake(FAKEPOLKIT_YES) { fake throws in
            #expect(try bus.ask(.shareAll, app: "org.example.Ünk", mayInteract: mayInteract) == .granted)
            var heard = fakepolkit_question()
            #expect(fakepolkit_wait_asked(fake, &heard))
            #expect(text(heard.kind) == "unix-process" && heard.pid == UInt32(getpid()))
            #expect(heard.start_time == Subject.ownProcess.identity.startTime && heard.uid == Int32(getuid()))
            #expect(text(heard.action) == "io.contactbroker.share-all" && text(heard.app) == "org.example.Ünk")
            #expect(heard.flags == (mayInteract ? 1 : 0) && text(heard.cancellation).isEmpty)
        }
    }

    @Test("A password request without an answer times out and is withdrawn")
    func silent() throws {
        try withFake(FAKEPOLKIT_SILENT) { fake throws in
            // The fake polkit always shows signs of life, as the real one does while it waits for a person.
            let authority = bus.authority(wait: .seconds(5), patience: .seconds(2))
            guard case .failed = try bus.ask(by: authority) else {
                Issue.record("silence counted as an answer")
                return
            }
            try wasTakenBack(fake)
        }
    }

    @Test("A polkit that shows no sign of life is reported as hung long before the request times out")
    func hung() throws {
        try withFake(FAKEPOLKIT_HUNG) { fake throws in
            // This time includes connecting to the bus, and the request must have reached polkit.
            #expect(try bus.ask(by: bus.authority(patience: .seconds(2))) == .hung)
            try wasTakenBack(fake)
        }
        // A bus that does nothing is reported as hung too.
        try withFake(FAKEPOLKIT_YES) { _ throws in
            bus.daemon?.signal(SIGSTOP)
            defer { bus.daemon?.signal(SIGCONT) }
            #expect(try bus.ask(by: bus.authority(patience: .milliseconds(200))) == .hung)
        }
        // A polkit that answers in that time is not reported as hung.
        try withFake(FAKEPOLKIT_YES) { _ throws in
            #expect(try bus.ask(by: bus.authority(patience: .seconds(2))) == .granted)
        }
    }

    @Test("A cancelled password request is withdrawn and gets no answer")
    func cancelled() throws {
        try withFake(FAKEPOLKIT_SILENT) { fake throws in
            let authority = bus.authority()
            let asked = Question(by: authority)
            var heard = fakepolkit_question()
            #expect(fakepolkit_wait_asked(fake, &heard))
            asked.handle?.cancel()
            try wasTakenBack(fake)
            // Another request is made and times out; the first one still has no answer.
            _ = try bus.ask(by: bus.authority(wait: .milliseconds(50)))
            #expect(asked.said == nil)
        }
    }

    @Test("A password request is withdrawn even if another process, such as a child just forked, holds its connection")
    func cancelledWhileHeld() throws {
        try withFake(FAKEPOLKIT_SILENT) { fake throws in
            let asked = Question(by: bus.authority())
            var heard = fakepolkit_question()
            #expect(fakepolkit_wait_asked(fake, &heard))
            let held = socketsToTheBus().map { fcntl($0, F_DUPFD_CLOEXEC, 0) }
            defer { for each in held { close(each) } }
            try #require(!held.isEmpty && held.allSatisfy { $0 >= 0 })
            asked.handle?.cancel()
            #expect(fakepolkit_wait_left(fake))
        }
    }

    /// This process's ends of connections to the test's bus.
    private func socketsToTheBus() -> [CInt] {
        (0..<CInt(min(sysconf(CInt(_SC_OPEN_MAX)), 65_536))).filter { descriptor in
            var address = sockaddr_un()
            var size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let result = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
            }
            guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return false }
            return text(address.sun_path) == bus.folder + "/socket"
        }
    }

    private func wasTakenBack(_ fake: OpaquePointer) throws {
        var heard = fakepolkit_question()
        #expect(fakepolkit_wait_asked(fake, &heard))
        #expect(fakepolkit_wait_left(fake))
        // The request was withdrawn without a call, because polkitd can hang for ever on CancelCheckAuthorization.
        #expect(fakepolkit_other_calls(fake) == 0)
    }

    @Test("A process that has ended is granted nothing, even if polkit says yes")
    func ended() throws {
        var child: pid_t = 0
        var words: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("60"), nil]
        defer { for word in words { free(word) } }
        try #require(posix_spawn(&child, "/bin/sleep", nil, nil, &words, environ) == 0)
        let subject = Subject(pid: child, uid: getuid())
        try withFake(FAKEPOLKIT_YES) { _ throws in
            #expect(try bus.ask(of: subject) == .granted)
            // A process with the same process ID and another start time is another process.
            let other = Subject(pid: child, startTime: subject.identity.startTime + 1, uid: getuid())
            guard case .failed = try bus.ask(of: other) else {
                Issue.record("the process number alone was enough")
                return
            }
            kill(child, SIGKILL)
            var status: CInt = 0
            waitpid(child, &status, 0)
            guard case .failed = try bus.ask(of: subject) else {
                Issue.record("a process that has ended was granted")
                return
            }
        }
    }

    @Test("A process that ends while polkit decides is granted nothing")
    func endsMeanwhile() throws {
        // The test stops the bus until the process has ended.
        var child: pid_t = 0
        var words: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("60"), nil]
        defer { for word in words { free(word) } }
        try #require(posix_spawn(&child, "/bin/sleep", nil, nil, &words, environ) == 0)
        let subject = Subject(pid: child, uid: getuid())
        try withFake(FAKEPOLKIT_YES) { _ throws in
            bus.daemon?.signal(SIGSTOP)
            let asked = Question(of: subject, by: bus.authority())
            kill(child, SIGKILL)
            var status: CInt = 0
            waitpid(child, &status, 0)
            bus.daemon?.signal(SIGCONT)
            #expect(try asked.answer(bus.loop) == .failed(reason: "the process has ended"))
        }
    }

    @Test("A missing polkit or bus is reported as absent, and a bus that is down as a failure")
    func absence() throws {
        #expect(try bus.ask() == .absent)
        try withFake(FAKEPOLKIT_SILENT) { fake throws in
            let asked = Question(by: bus.authority())
            var heard = fakepolkit_question()
            #expect(fakepolkit_wait_asked(fake, &heard))
            try bus.kill()
            guard case .failed = try asked.answer(bus.loop) else {
                Issue.record("a bus that was killed gave an answer")
                return
            }
        }
        // The socket is still there, but nobody listens on it.
        guard case .failed(let reason) = try bus.ask() else {
            Issue.record("a bus that is down was not reported as a failure")
            return
        }
        #expect(reason.contains("refused"))
        unlink(bus.folder + "/socket")
        #expect(try bus.ask() == .absent)
        try bus.start()
        try withFake(FAKEPOLKIT_YES) { _ throws in #expect(try bus.ask() == .granted) }
    }

    @Test("Sixty-four password requests at once are all answered")
    func many() throws {
        try withFake(FAKEPOLKIT_YES) { _ throws in
            let authority = bus.authority()
            let asked = (0..<64).map { _ in Question(by: authority) }
            for question in asked { #expect(try question.answer(bus.loop) == .granted) }
        }
    }

    @Test("A UID that polkit's protocol cannot express is a failure")
    func largeUser() throws {
        try withFake(FAKEPOLKIT_YES) { _ throws in
            let subject = Subject(
                pid: getpid(), startTime: Subject.ownProcess.identity.startTime, uid: UInt32(Int32.max) + 1)
            guard case .failed = try bus.ask(of: subject) else {
                Issue.record("polkit was asked about another user")
                return
            }
        }
    }

    /// A C array of characters as text.
    private func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension Subject {
    init(pid: pid_t, startTime: UInt64, uid: UInt32) {
        self.uid = uid
        identity = ProcessIdentity(pid: pid, startTime: startTime)
    }
}
