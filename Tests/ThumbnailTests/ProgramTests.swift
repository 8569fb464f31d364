import CLinux
import CTestImage
import Glibc
import Testing

@testable import Thumbnails

@Suite("The program that decodes photos", .timeLimit(.minutes(1)))
struct ProgramTests {
    /// Standing in for a program that a photo has taken over: it does as it is told here.
    private func standIn(_ script: String, _ patience: CInt = 10_000) throws -> (ThumbnailProgram, path: String) {
        var template = Array("/tmp/thumbnail-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        try #require(file >= 0)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let text = Array("#!/bin/sh\n\(script)\n".utf8)
        try #require(write(file, text, text.count) == text.count)
        fchmod(file, 0o700)
        close(file)
        return (ThumbnailProgram(path: path, patience: patience), path)
    }

    @Test("One that hangs is killed when its time is over", arguments: ["exec sleep 60", "exec >&-; exec sleep 60"])
    func hanging(script: String) throws {
        let (program, path) = try standIn(script, 200)
        defer { unlink(path) }
        let clock = ContinuousClock()
        let start = clock.now
        #expect(program.thumbnail(of: Array("/9j/".utf8)) == nil)
        #expect(clock.now - start >= .milliseconds(190))
        #expect(clock.now - start < .seconds(20))
    }

    @Test(
        "What it says counts only if it is a thumbnail, and it has ended well",
        arguments: [
            ("printf /9j/4AAQ", true), ("printf /9j/4AAQ; exit 1", false), ("printf /9j/4AAQ; kill -9 $$", false),
            ("printf '/9j/\"},{'", false), ("printf iVBORw0K", false), ("printf /9j/4AAQA", false), ("exit 0", false),
            ("printf /9j/4A==", true), ("printf /9j/4A=A", false), ("printf /9j/; exec cat /dev/zero", false),
        ])
    func output(script: String, isThumbnail: Bool) throws {
        let (program, path) = try standIn(script)
        defer { unlink(path) }
        #expect((program.thumbnail(of: Array("/9j/".utf8)) != nil) == isThumbnail)
    }

    @Test("It is given the photo, and nothing else of ours")
    func given() throws {
        let (program, path) = try standIn(
            #"[ "$(cat)" = "a photo" ] && [ -z "$SECRET$HOME" ] && [ $# = 0 ] && [ "$(ls /proc/self/fd | wc -l)" = 4 ] && printf /9j/4AAQ"#
        )
        defer { unlink(path) }
        #expect(program.thumbnail(of: Array("a photo".utf8)) != nil)
    }

    @Test("Where it is not there, there are no thumbnails")
    func missing() {
        #expect(ThumbnailProgram(path: "/nowhere/at/all").thumbnail(of: Array("/9j/".utf8)) == nil)
    }

    private func probe(_ what: String) throws -> (exit: CInt, signal: CInt) {
        var own = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &own, own.count)
        let executable = String(decoding: own.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let bundle = CommandLine.arguments.first { $0.hasPrefix("/") && $0.hasSuffix(".xctest") } ?? executable
        let path = bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/ConfinementProbe"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_RDWR, 0)
        var words: [UnsafeMutablePointer<CChar>?] = [strdup(path), strdup(what), nil]
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        try #require(posix_spawn(&pid, path, &actions, nil, &words, environ) == 0)
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return ((status >> 8) & 0xff, status & 0x7f)
    }

    @Test(
        "Shut in, whoever tries anything else is killed",
        .enabled(if: test_image_is_sanitized() == 0, "no sanitizer runs shut in"),
        arguments: [
            "open", "read", "write", "socket", "fork", "exec", "ptrace", "kill", "protect", "limit",
        ])
    func killed(what: String) throws { #expect(try probe(what).signal == SIGSYS) }

    @Test(
        "Shut in, it can do its work, gets no more memory than it was given, and no more time",
        .enabled(if: test_image_is_sanitized() == 0, "no sanitizer runs shut in"))
    func bounded() throws {
        #expect(try probe("nothing") == (0, 0))
        #expect(try probe("map") == (4, 0))
        #expect(try probe("enough") == (4, 0))
        #expect(try probe("memory") != (0, 0))
        let end = try probe("time").signal
        #expect(end == SIGALRM || end == SIGXCPU || end == SIGKILL)
    }
}
