import CBrokerLinux
import CTestImage
import Glibc
import Testing

@testable import BrokerThumbnails

@Suite("Running contactbroker-thumbnail", .timeLimit(.minutes(10)))
struct ProgramTests {
    /// Runs the given commands in place of the program, to simulate one that a photo has taken over.
    private func withStandIn(
        _ script: String, _ patience: CInt = 10_000, _ body: (ThumbnailProgram) throws -> Void
    ) throws {
        var template = Array("/tmp/thumbnail-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = folder + "/program"
        defer {
            unlink(path)
            rmdir(folder)
        }
        // Another process writes the file. A program that another test starts would inherit this process's descriptor
        // for a moment, and a file that is open for writing cannot be executed.
        let writing = #"printf '#!/bin/sh\n%s\n' "$1" >"$2" && chmod 700 "$2""#
        try #require(run(["/bin/sh", "-c", writing, "sh", script, path]) == 0)
        try body(ThumbnailProgram(path: path, patience: patience))
    }

    /// Runs a program to its end, and returns its status as from wait(2).
    private func run(_ words: [String]) throws -> CInt {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_RDWR, 0)
        var texts = words.map { strdup($0) } + [nil]
        defer { for text in texts { free(text) } }
        var pid: pid_t = 0
        try #require(posix_spawn(&pid, words[0], &actions, nil, &texts, environ) == 0)
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }

    @Test(
        "A program that hangs is killed when its time is over", arguments: ["exec sleep 60", "exec >&-; exec sleep 60"])
    func hanging(script: String) throws {
        try withStandIn(script, 200) { program in
            let clock = ContinuousClock()
            let start = clock.now
            #expect(program.thumbnail(of: Array("/9j/".utf8)) == nil)
            #expect(clock.now - start >= .milliseconds(190))
            #expect(clock.now - start < .seconds(20))
        }
    }

    @Test(
        "The program's output is used only if it is a thumbnail and the program exits with 0",
        arguments: [
            ("printf /9j/4AAQ", true), ("printf /9j/4AAQ; exit 1", false), ("printf /9j/4AAQ; kill -9 $$", false),
            ("printf '/9j/\"},{'", false), ("printf iVBORw0K", false), ("printf /9j/4AAQA", false), ("exit 0", false),
            ("printf /9j/4A==", true), ("printf /9j/4A=A", false), ("printf /9j/; exec cat /dev/zero", false),
        ])
    func output(script: String, isThumbnail: Bool) throws {
        try withStandIn(script) { program in
            #expect((program.thumbnail(of: Array("/9j/".utf8)) != nil) == isThumbnail)
        }
    }

    @Test("The program gets the photo, and no other descriptor or variable of the broker")
    func given() throws {
        try withStandIn(
            #"[ "$(cat)" = "a photo" ] && [ -z "$SECRET$HOME" ] && [ $# = 0 ] && [ "$(ls /proc/self/fd | wc -l)" = 4 ] && printf /9j/4AAQ"#
        ) { program in #expect(program.thumbnail(of: Array("a photo".utf8)) != nil) }
    }

    @Test("Without the program there are no thumbnails")
    func missing() {
        #expect(ThumbnailProgram(path: "/nowhere/at/all").thumbnail(of: Array("/9j/".utf8)) == nil)
    }

    private func probe(_ what: String) throws -> (exit: CInt, signal: CInt) {
        var own = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &own, own.count)
        let executable = String(decoding: own.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let bundle = CommandLine.arguments.first { $0.hasPrefix("/") && $0.hasSuffix(".xctest") } ?? executable
        let path = bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/ConfinementProbe"
        let status = try run([path, what])
        return ((status >> 8) & 0xff, status & 0x7f)
    }

    @Test(
        "A confined process that tries anything else is killed",
        .enabled(if: test_image_is_sanitized() == 0, "no sanitizer runs shut in"),
        arguments: [
            "open", "read", "write", "socket", "fork", "exec", "ptrace", "kill", "protect", "limit",
        ])
    func killed(what: String) throws { #expect(try probe(what).signal == SIGSYS) }

    @Test(
        "A confined process can work, with bounded memory and time",
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
