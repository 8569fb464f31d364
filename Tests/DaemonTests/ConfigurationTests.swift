import BrokerJSON
import Glibc
import Testing

/// The ways in which `contactbroker.toml` can be wrong.
private enum Mistake: String, CaseIterable, Sendable {
    case syntax, unknownKey, wrongType, isUnreadable, isFolder

    private var text: String {
        switch self {
        case .syntax: "# settings\n[contacts\nregion = \"NL\"\n"
        case .unknownKey: "[agent]\nwithout_authentification = \"allow\"\n"
        case .wrongType: "[agent]\nwithout_authentication = \"allow\"\n[contacts]\nregion = 49\n"
        case .isUnreadable, .isFolder: ""
        }
    }

    /// The message's text after the file's name.
    var words: String {
        switch self {
        case .syntax: ":2: Error while parsing table header: expected ']'"
        case .unknownKey: ":2: agent.without_authentification: no such key; did you mean without_authentication?"
        case .wrongType: ":4: contacts.region: must be a string that is not empty"
        case .isUnreadable: ": cannot be opened: Permission denied"
        case .isFolder: ": not a regular file"
        }
    }

    func make(at file: String) throws {
        unlink(file)
        if self == .isFolder {
            try #require(mkdir(file, 0o755) == 0)
        } else {
            try DaemonFixture.write(Array(text.utf8), to: file, mode: 0o644)
        }
        if self == .isUnreadable { try #require(chmod(file, 0) == 0) }
    }

    static func repair(_ file: String) throws {
        if unlink(file) != 0 { rmdir(file) }
        try DaemonFixture.write(Array("[contacts]\nregion = \"NL\"\n".utf8), to: file, mode: 0o644)
    }
}

@Suite("A configuration that cannot be read", .timeLimit(.minutes(10)))
struct ConfigurationTests {
    private func settings(of fixture: DaemonFixture) throws -> String {
        try #require(mkdir(fixture.configuration, 0o755) == 0)
        return fixture.configuration + "/contactbroker.toml"
    }

    private func check(_ fixture: DaemonFixture) throws -> Command {
        let words = ["--check-configuration", "--session", "--config-dir", fixture.configuration]
        return try Command(DaemonFixture.programs + "/contactbrokerd", words, in: fixture)
    }

    @Test(
        "With settings that it cannot read, the broker starts, refuses every app and says why",
        .enabled(if: Surroundings.ordinaryUser.canBeEntered, "needs setpriv and a build that others may read"),
        arguments: Mistake.allCases)
    fileprivate func settings(mistake: Mistake) throws {
        // Root could read every file.
        let fixture = try DaemonFixture(in: .ordinaryUser)
        let file = try settings(of: fixture)
        try Mistake.repair(file)
        let keeper = try fixture.keeper(with: fixture.person())
        // A running broker keeps its settings.
        try mistake.make(at: file)
        #expect(try fixture.reload() == "0")
        #expect(try keeper.fetch().names == DaemonFixture.names)
        try fixture.stop()
        // These programs run in the stopped broker's mount namespace; new ones join the next broker's.
        for app in ["keeper", "agent"] { fixture.end(app) }

        try fixture.start()
        let place = file + mistake.words
        for app in ["keeper", "stranger"] {
            #expect(try fixture.app(app).call("GetAuthorization").word == "restricted")
            #expect(try fixture.app(app).fetch().error == "AccessDenied")
            #expect(try fixture.app(app).call("RequestAccess").word == "restricted")
        }
        let problem = try #require(fixture.status()["settingsProblem"])
        #expect(problem.hasPrefix("every app is refused: " + place))
        #expect(problem.hasSuffix("; correct the file, then restart contactbrokerd"))
        #expect(fixture.journal.contains("the settings cannot be read, so every app is refused: " + place))
        let programs = DaemonFixture.programs
        let said = try Command(programs + "/contactctl", ["status"], in: fixture).words
        #expect(said.contains("refuses every app: " + place))
        let reload = try Command(programs + "/contactctl", ["reload"], in: fixture)
        #expect(reload.end == .exited(1))
        #expect(reload.errors.contains(place))
        #expect(reload.errors.contains("Correct the file, then restart the contact broker"))
        let why = try Command(programs + "/contactctl", ["why", "keeper"], in: fixture).output
        #expect(why.contains("the settings cannot be read"))
        let checked = try check(fixture)
        #expect(checked.end == .exited(78))
        #expect(checked.errors.hasPrefix(place))
        #expect(checked.errors.hasSuffix("\n  correct the file, then restart contactbrokerd\n"))

        try Mistake.repair(file)
        #expect(try check(fixture).end == .exited(0))
        #expect(try fixture.app("keeper").fetch().error == "AccessDenied")
        try fixture.stop()
        fixture.end("keeper")
        try fixture.start()
        #expect(try fixture.status()["settingsProblem"] == nil)
        #expect(try fixture.app("keeper").fetch().names == DaemonFixture.names)
    }

    @Test("--check-configuration reports the first problem of each file and creates no folder")
    func everyFile() throws {
        let fixture = try DaemonFixture(starting: false)
        #expect(try check(fixture).end == .exited(0))
        let file = try settings(of: fixture)
        try DaemonFixture.write(Array("[limits]\nconnections_per_user = 3\n".utf8), to: file)
        try fixture.write(policy: "[[rule]]\nforce = \"most\"\n", to: "1.toml")
        try fixture.write(policy: "[[rule]]\ndeny = true\n", to: "2.toml")
        try fixture.write(policy: "[[rule]]\n\u{1B}[2J = true\n", to: "3.toml")
        try fixture.write(policy: "[[rule]]\n\"\\u001B\" = true\n", to: "4.toml")
        let checked = try check(fixture)
        #expect(checked.end == .exited(78))
        #expect(checked.output.isEmpty)
        let lines = checked.errors.split(separator: "\n").map(String.init)
        let restart = "  correct the file, then restart contactbrokerd"
        let reload = "  correct the file, then: contactctl reload"
        try #require(lines.count == 8)
        #expect(lines[0] == "\(file):2: limits.connections_per_user: must be a number from 16 to 4096")
        #expect(lines[2].hasPrefix("\(fixture.policyFolder)/1.toml:2: rule[0].force: "))
        #expect(lines[4].hasPrefix("\(fixture.policyFolder)/3.toml:2: "))
        #expect(lines[6].hasPrefix("\(fixture.policyFolder)/4.toml:"))
        #expect(lines.indices.filter { $0 % 2 == 1 }.map { lines[$0] } == [restart, reload, reload, reload])
        // A file cannot put control sequences on the terminal.
        #expect(!checked.errors.contains("\u{1B}"))
        #expect(access(fixture.runtime, F_OK) != 0 && access(fixture.state, F_OK) != 0)
        unlink(file)
        for number in [1, 3, 4] { unlink(fixture.policyFolder + "/\(number).toml") }
        let good = try check(fixture)
        #expect(good.end == .exited(0))
        #expect(good.output == "no problems in \(fixture.configuration)\n")
        // Without a configuration folder there is nothing to check.
        let nowhere = ["--check-configuration", "--session"]
        #expect(try Command(DaemonFixture.programs + "/contactbrokerd", nowhere, in: fixture).end == .exited(2))
    }

    /// Runs the check with `etc` mounted over /etc.
    private func checkSystem(_ etc: String, as user: String, in fixture: DaemonFixture) throws -> Command {
        let script =
            #"mount -t proc proc /proc && mount --bind "$1" /etc && exec $2 "$0" --check-configuration --system"#
        let words = ["-m", "/bin/sh", "-c", script, DaemonFixture.programs + "/contactbrokerd", etc, user]
        return try Command("/usr/bin/unshare", words, in: fixture)
    }

    @Test(
        "--check-configuration --system reads the files as the broker's user, even when root runs it",
        .enabled(if: getuid() == 0 && Surroundings.ordinaryUser.canBeEntered, "needs root, and another user"),
        arguments: ["", "setpriv --reuid 65534 --regid 65534 --clear-groups --"])
    func system(user: String) throws {
        let fixture = try DaemonFixture(starting: false)
        let etc = fixture.folder + "/etc"
        let file = etc + "/contactbroker/contactbroker.toml"
        for folder in [etc, etc + "/contactbroker"] { try #require(mkdir(folder, 0o755) == 0) }
        try DaemonFixture.copy("/etc/ld.so.cache", to: etc + "/ld.so.cache")
        let unknown = try checkSystem(etc, as: user, in: fixture)
        if user.isEmpty {
            #expect(unknown.end == .exited(2))
            #expect(unknown.errors.contains("there is no user contactbroker"))
        }
        try DaemonFixture.write(
            Array("contactbroker:x:65533:65533::/:/bin/false\n".utf8), to: etc + "/passwd", mode: 0o644)
        #expect(try checkSystem(etc, as: user, in: fixture).end == .exited(0))
        try DaemonFixture.write(Array("[agent]\nwithout_authentication = true\n".utf8), to: file, mode: 0o644)
        let wrong = try checkSystem(etc, as: user, in: fixture)
        #expect(wrong.end == .exited(78))
        let words = """
            /etc/contactbroker/contactbroker.toml:2: agent.without_authentication: must be a string that is not empty
              correct the file, then: systemctl restart contactbroker.service

            """
        #expect(wrong.errors == words)
        try Mistake.repair(file)
        #expect(chmod(file, 0o600) == 0)
        let unreadable = try checkSystem(etc, as: user, in: fixture)
        #expect(unreadable.end == .exited(78))
        #expect(unreadable.errors.contains("contactbroker.toml: cannot be opened: Permission denied\n"))
    }
}
