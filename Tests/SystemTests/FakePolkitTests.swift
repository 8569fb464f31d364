import BrokerAccessControl
import CFakePolkit
import Glibc
import PseudoTerminal
import Testing

@testable import BrokerSystem

@Suite("Whoever goes by polkit's name", .enabled(if: Machine.hasBus, "needs dbus-daemon"), .timeLimit(.minutes(10)))
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
        "Only a whole and plain yes is one",
        arguments: [
            (FAKEPOLKIT_YES, AuthorityAnswer.granted), (FAKEPOLKIT_NO, .refused),
            (FAKEPOLKIT_CHALLENGE, .wantsInteraction), (FAKEPOLKIT_BOTH, .refused),
        ])
    func plain(habit: fakepolkit_habit, answer: AuthorityAnswer) throws {
        try withFake(habit) { _ throws in #expect(try bus.ask() == answer) }
    }

    @Test(
        "What is no answer of polkit's is a failure, and says what was wrong",
        arguments: [
            (FAKEPOLKIT_SHORT, "another shape"), (FAKEPOLKIT_LONG, "another shape"), (FAKEPOLKIT_FLAT, "another shape"),
            (FAKEPOLKIT_WORD, "another shape"), (FAKEPOLKIT_EMPTY, "another shape"), (FAKEPOLKIT_ERROR, "out of order"),
            (FAKEPOLKIT_LEAVE, ""),
        ])
    func misshapen(habit: fakepolkit_habit, words: String) throws {
        try withFake(habit) { _ throws in
            guard case .failed(let reason) = try bus.ask() else {
                Issue.record("taken for an answer")
                return
            }
            #expect(!reason.isEmpty && reason.contains(words) || words.isEmpty, "\(reason)")
        }
        // The next question is another one.
        try withFake(FAKEPOLKIT_YES) { _ throws in #expect(try bus.ask() == .granted) }
    }

    @Test(
        "polkit is told process, start, user, action, app and whether to ask, and nothing else",
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

    @Test("A question that nobody answers is given up and taken back")
    func silent() throws {
        try withFake(FAKEPOLKIT_SILENT) { fake throws in
            // It is there all the while, whoever thinks about the answer.
            let authority = bus.authority(wait: .seconds(5), patience: .seconds(2))
            guard case .failed = try bus.ask(by: authority) else {
                Issue.record("nothing was taken for an answer")
                return
            }
            try wasTakenBack(fake)
        }
    }

    @Test("One that gives no sign of life is told from a person who thinks, long before the time is over")
    func hung() throws {
        try withFake(FAKEPOLKIT_HUNG) { fake throws in
            // The way to the bus is in it too, and polkit must have been asked.
            #expect(try bus.ask(by: bus.authority(patience: .seconds(2))) == .hung)
            try wasTakenBack(fake)
        }
        // So is a bus that does nothing.
        try withFake(FAKEPOLKIT_YES) { _ throws in
            bus.daemon?.signal(SIGSTOP)
            defer { bus.daemon?.signal(SIGCONT) }
            #expect(try bus.ask(by: bus.authority(patience: .milliseconds(200))) == .hung)
        }
        // And one that answers in that time is not taken for hung.
        try withFake(FAKEPOLKIT_YES) { _ throws in
            #expect(try bus.ask(by: bus.authority(patience: .seconds(2))) == .granted)
        }
    }

    @Test("A question that is not wanted any more is taken back, and nothing comes of it")
    func cancelled() throws {
        try withFake(FAKEPOLKIT_SILENT) { fake throws in
            let authority = bus.authority()
            let asked = Question(by: authority)
            var heard = fakepolkit_question()
            #expect(fakepolkit_wait_asked(fake, &heard))
            asked.handle?.cancel()
            try wasTakenBack(fake)
            // Another one is asked and given up meanwhile; of the first still nothing came.
            _ = try bus.ask(by: bus.authority(wait: .milliseconds(50)))
            #expect(asked.said == nil)
        }
    }

    @Test("A question is taken back though another process holds its connection, as a child does that was just forked")
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

    /// Our ends of connections to this test's bus.
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
        // Not by a call: polkitd can hang for ever on CancelCheckAuthorization.
        #expect(fakepolkit_other_calls(fake) == 0)
    }

    @Test("A process that ends before polkit's yes is granted nothing")
    func ended() throws {
        var child: pid_t = 0
        var words: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("60"), nil]
        defer { for word in words { free(word) } }
        try #require(posix_spawn(&child, "/bin/sleep", nil, nil, &words, environ) == 0)
        let subject = Subject(pid: child, uid: getuid())
        try withFake(FAKEPOLKIT_YES) { _ throws in
            #expect(try bus.ask(of: subject) == .granted)
            // A process of that number that began at another time is another one.
            let other = Subject(pid: child, startTime: subject.identity.startTime + 1, uid: getuid())
            guard case .failed = try bus.ask(of: other) else {
                Issue.record("the number was enough")
                return
            }
            kill(child, SIGKILL)
            var status: CInt = 0
            waitpid(child, &status, 0)
            guard case .failed = try bus.ask(of: subject) else {
                Issue.record("granted to nobody")
                return
            }
        }
    }

    @Test("A process that ends while polkit thinks is granted nothing")
    func endsMeanwhile() throws {
        // Behind the authority the bus stands still until the process is gone.
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

    @Test("A bus without polkit is one thing, a bus that is down another, and no bus is as no polkit")
    func absence() throws {
        #expect(try bus.ask() == .absent)
        try withFake(FAKEPOLKIT_SILENT) { fake throws in
            let asked = Question(by: bus.authority())
            var heard = fakepolkit_question()
            #expect(fakepolkit_wait_asked(fake, &heard))
            try bus.kill()
            guard case .failed = try asked.answer(bus.loop) else {
                Issue.record("a bus that died said something")
                return
            }
        }
        // Its socket is still there, and nobody behind it.
        guard case .failed(let reason) = try bus.ask() else {
            Issue.record("a bus that is down is not one that is not there")
            return
        }
        #expect(reason.contains("refused"))
        unlink(bus.folder + "/socket")
        #expect(try bus.ask() == .absent)
        try bus.start()
        try withFake(FAKEPOLKIT_YES) { _ throws in #expect(try bus.ask() == .granted) }
    }

    @Test("Questions do not wait for one another, and sixty-four at once are answered one by one")
    func many() throws {
        try withFake(FAKEPOLKIT_YES) { _ throws in
            let authority = bus.authority()
            let asked = (0..<64).map { _ in Question(by: authority) }
            for question in asked { #expect(try question.answer(bus.loop) == .granted) }
        }
    }

    @Test("A user whose number polkit's protocol cannot say is refused")
    func largeUser() throws {
        try withFake(FAKEPOLKIT_YES) { _ throws in
            let subject = Subject(
                pid: getpid(), startTime: Subject.ownProcess.identity.startTime, uid: UInt32(Int32.max) + 1)
            guard case .failed = try bus.ask(of: subject) else {
                Issue.record("asked about somebody else")
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
