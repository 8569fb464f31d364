import Glibc
import Testing

@Suite("The command line of contactbrokerd")
struct CommandLineTests {
    private func said(_ arguments: [String]) throws -> (end: ChildProcess.End, text: String) {
        let fixture = try DaemonFixture(starting: false)
        let log = open(fixture.folder + "/said", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(log) }
        let program = try ChildProcess(
            DaemonFixture.programs + "/contactbrokerd", arguments, descriptors: [(1, log), (2, log)])
        let end = try program.waitForEnd()
        return (end, DaemonFixture.text(of: fixture.folder + "/said"))
    }

    @Test("Help and version are printed", arguments: [["--help"], ["-h"], ["--version"], ["--session", "--help"]])
    func help(arguments: [String]) throws {
        let (end, text) = try said(arguments)
        #expect(end == .exited(0))
        #expect(text.contains(arguments == ["--version"] ? "0." : "Usage: contactbrokerd --session"))
    }

    @Test(
        "The broker does not start with a wrong argument, and says what is wrong",
        arguments: [
            ([], "give either --session or --system"),
            (["--session", "--system"], "give either --session or --system"),
            (["--sessions"], "unknown argument --sessions"), (["--session=yes"], "--session takes no value"),
            (["--session", "--state-dir"], "--state-dir needs a folder"),
            (["--session", "/tmp"], "unknown argument /tmp"),
            (["--session", "--runtime-dir="], "could not start: a folder's name is empty"),
            (["--system", "--config-dir", "/tmp"], "--system takes no folders: contactbroker.service sets them"),
            (["--check-configuration"], "give either --session or --system"),
            (["--check-configuration=yes", "--system"], "--check-configuration takes no value"),
            (
                ["--check-configuration", "--system", "--config-dir", "/tmp"],
                "--system takes no folders: contactbroker.service sets them"
            ),
        ])
    func misunderstood(arguments: [String], reason: String) throws {
        let (end, text) = try said(arguments)
        #expect(end == .exited(2))
        #expect(text.hasPrefix("contactbrokerd: \(reason)\n"), "\(text)")
    }

    @Test("A folder may follow its option as the next argument or after an equals sign")
    func folders() throws {
        let fixture = try DaemonFixture(starting: false)
        let log = open(fixture.folder + "/said", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(log) }
        let daemon = try ChildProcess(
            DaemonFixture.programs + "/contactbrokerd",
            [
                "--session", "--runtime-dir=" + fixture.runtime, "--state-dir", fixture.state,
                "--config-dir=" + fixture.configuration,
            ], descriptors: [(1, log), (2, log)])
        try fixture.waitUntilServed(by: daemon)
        daemon.signal(SIGTERM)
        #expect(try daemon.waitForEnd() == .exited(0))
    }
}
