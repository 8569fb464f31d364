import Glibc
import PseudoTerminal
import Testing

@testable import BrokerPasswordPrompt
@testable import contact_agent

/// Whether the tests run as root and the kernel allows a mount namespace.
private let canBeInstalled = getuid() == 0 && system("unshare -m true 2>/dev/null") == 0

/// The agent as it is installed: its file is set-group-ID to the only group that may connect to the broker, and another
/// user starts it. The setup needs root and a mount namespace of its own; without them the suite is skipped.
@Suite("The installed agent", .enabled(if: canBeInstalled))
struct InstalledTests {
    /// A group without members.
    private static let group: gid_t = 54_321
    private static let user: uid_t = 65_534

    private func fixture(
        mode: String = "2755", folderMode: String = "755", starting: String = "$A", environment: [String: String] = [:],
        password: String? = nil, broker: BrokerStandIn = BrokerStandIn()
    ) throws -> AgentFixture {
        broker.close()
        broker.open(group: Self.group)
        chmod(broker.runtimeDirectory, 0o711)
        chmod(broker.runtimeDirectory + "/agent", 0o711)
        let setUp = """
            mount -t proc none /proc && mount -t tmpfs -o mode=\(folderMode) none /run && mkdir /run/contactbroker || exit 99
            mount --bind $CONTACTBROKER_RUNTIME_DIR /run/contactbroker || exit 99
            cp "$AGENT" /run/contact-agent && chgrp \(Self.group) /run/contact-agent
            chmod \(mode) /run/contact-agent
            printf '%s' "$FAKE" >/run/pkttyagent; chmod 755 /run/pkttyagent
            [ -z "$FAKE" ] || mount --bind /run/pkttyagent /usr/bin/pkttyagent || exit 99
            A=/run/contact-agent; AS="setpriv --reuid=\(Self.user) --regid=\(Self.user) --clear-groups"
            export CONTACTBROKER_RUNTIME_DIR=/nonexistent XDG_RUNTIME_DIR=/nonexistent
            \(starting)
            """
        return try AgentFixture(
            script: "exec unshare -m --propagation private sh -c '\(setUp)'",
            environment: environment.merging(["FAKE": password ?? ""]) { $1 }, broker: broker)
    }

    private func pid(_ fixture: AgentFixture) throws -> pid_t {
        try fixture.see("pid=")
        let line = fixture.terminal.screen.lines.first { $0.hasPrefix("pid=") } ?? ""
        return try #require(pid_t(line.dropFirst(4).prefix { $0.isNumber }))
    }

    private func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 262_144)
        var length = 0
        while case let count = read(file, &bytes[length], bytes.count - length), count > 0 { length += count }
        return String(decoding: bytes.prefix(length), as: UTF8.self)
    }

    private func field(_ name: String, of pid: pid_t) -> String {
        let line = text("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.map { $0.dropFirst(name.count + 1).split(separator: "\t").joined(separator: " ") } ?? ""
    }

    /// Whether another program of the same user can run this command successfully.
    private func userCan(_ command: String) -> Bool {
        // Mount another /proc, because the system's own may hide processes from ordinary users.
        let user = "setpriv --reuid=\(Self.user) --regid=\(Self.user) --clear-groups"
        return system(
            "unshare -m sh -c 'mount -t proc none /proc; \(user) sh -c \"\(command)\"' >/dev/null 2>&1") == 0
    }

    private let exec = "echo pid=$$.; exec $AS $A"

    @Test("It connects with its group, drops the group before it serves, and the user's programs cannot inspect it")
    func drops() throws {
        let fixture = try fixture(starting: exec)
        let pid = try pid(fixture)
        try fixture.registered()
        #expect(field("Gid", of: pid) == "65534 65534 65534 65534")
        #expect(field("Uid", of: pid) == "65534 65534 65534 65534")
        #expect(field("Umask", of: pid) == "0077")
        #expect(text("/proc/\(pid)/limits").contains("Max core file size        0                    0 "))
        for file in ["environ", "maps", "fd/0", "mem"] {
            #expect(!userCan("head -c 1 /proc/\(pid)/\(file)"), "\(file)")
        }
        #expect(!userCan("ls /proc/\(pid)/fd"))
        #expect(!userCan(": 3<>/proc/\(pid)/mem"))
        // It serves like any other agent.
        fixture.ask(PromptText())
        try fixture.see("[c] Choose contacts…", thenPress: "\u{1B}")
        #expect(try fixture.answer()?.level == "denied")
    }

    @Test("A copy without the group cannot connect, and the user's other programs can inspect it")
    func withoutGroup() throws {
        let fixture = try fixture(mode: "755", starting: exec, environment: ["LD_PRELOAD": "libsqlite3.so.0"])
        let pid = try pid(fixture)
        try fixture.see("Cannot reach the broker")
        #expect(!fixture.broker.isServing)
        // This shows that the other tests cannot read these files because of the group, not because of how they read.
        #expect(userCan("head -c 1 /proc/\(pid)/environ && head -c 1 /proc/\(pid)/maps"))
        #expect(text("/proc/\(pid)/maps").contains("libsqlite3"))
    }

    @Test("No environment variable makes it use another broker or load a library")
    func environment() throws {
        let decoy = BrokerStandIn()
        chmod(decoy.runtimeDirectory, 0o711)
        chmod(decoy.runtimeDirectory + "/agent", 0o711)
        chmod(decoy.runtimeDirectory + "/agent/io.contactbroker.Agent", 0o666)
        let set = "CONTACTBROKER_RUNTIME_DIR=\(decoy.runtimeDirectory) LANG=/tmp/../tmp/evil TERM=xterm"
        let fixture = try fixture(
            starting: "echo pid=$$.; exec $AS env \(set) $A",
            environment: ["LD_PRELOAD": "libsqlite3.so.0", "SWIFT_BACKTRACE": "enable=yes"])
        let pid = try pid(fixture)
        try fixture.registered()
        decoy.serve()
        #expect(!decoy.isServing)
        #expect(!text("/proc/\(pid)/maps").contains("libsqlite3"))
        #expect(Environment.isPlain("de_DE.UTF-8@euro"))
        #expect(!Environment.isPlain("/tmp/evil"))
        #expect(!Environment.isPlain(String(repeating: "x", count: 65)))
    }

    @Test("It replaces closed standard descriptors and does not keep inherited ones")
    func descriptors() throws {
        let fixture = try fixture(starting: "$AS $A 7</etc/shadow <&- >&- 2>&- & echo pid=$!.; wait")
        let pid = try pid(fixture)
        try fixture.registered()
        let links = (0...63).map { number in
            var path = [CChar](repeating: 0, count: 4_096)
            let count = readlink("/proc/\(pid)/fd/\(number)", &path, path.count)
            return String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        #expect(links[0...2].allSatisfy { ["/dev/null", "/dev/full"].contains($0) })
        #expect(!links.contains { $0.contains("shadow") })
        fixture.ask(PromptText())
        try fixture.see("[c] Choose contacts…")
    }

    @Test("When the broker returns, the agent restarts itself and has the group only until it is connected")
    func again() throws {
        let fixture = try fixture(starting: exec)
        let pid = try pid(fixture)
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[c] Choose contacts…")
        fixture.broker.close()
        try fixture.see("Cannot reach the broker")
        try fixture.wait(for: "another try") { text("/proc/\(pid)/cmdline").contains("--attempt\0") }
        fixture.broker.open(group: Self.group)
        try fixture.registered()
        try fixture.see("Connected to the broker again.")
        #expect(field("Gid", of: pid) == "65534 65534 65534 65534")
        #expect(field("Name", of: pid) == "contact-agent")
        #expect(!userCan("head -c 1 /proc/\(pid)/environ"))
        fixture.terminal.send("q")
        #expect(try fixture.exit() == .exited(0))
    }

    /// Runs commands as root in the agent's mount namespace.
    private func asRoot(_ commands: String, by pid: pid_t) -> Bool {
        system("nsenter -t \(pid) -m sh -c '\(commands)'") == 0
    }

    private func executable(of pid: pid_t) -> String {
        var path = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/\(pid)/exe", &path, path.count)
        return String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static let newFile = "cp -p /run/contact-agent /run/new"

    @Test("After an upgrade it restarts from the new file, and retries while neither file may be executed")
    func upgraded() throws {
        let fixture = try fixture(starting: exec)
        let pid = try pid(fixture)
        try fixture.registered()
        // dpkg makes an old setgid file 0600 before it removes it.
        let removal = "mv /run/contact-agent /run/old; chmod 0600 /run/old; rm /run/old"
        #expect(asRoot(Self.newFile + "; " + removal, by: pid))
        fixture.broker.close()
        fixture.broker.open(group: Self.group)
        try fixture.see("cannot be executed yet")
        #expect(asRoot("mv /run/new /run/contact-agent", by: pid))
        try fixture.registered()
        #expect(executable(of: pid) == "/run/contact-agent")
        #expect(field("Gid", of: pid) == "65534 65534 65534 65534")
    }

    @Test("Ctrl-C ends it while it waits for the new file")
    func upgradeGivenUp() throws {
        let fixture = try fixture(starting: exec)
        let pid = try pid(fixture)
        try fixture.registered()
        #expect(asRoot("chmod 0600 /run/contact-agent; rm /run/contact-agent", by: pid))
        fixture.broker.close()
        try fixture.see("cannot be executed yet")
        fixture.terminal.send("\u{3}")
        #expect(try fixture.exit() == .signalled(SIGINT))
    }

    @Test(
        "It does not restart from a file that a user other than root may have placed, or without its group",
        arguments: [
            ("755", "chmod 0755 /run/new"), ("755", "chmod 2775 /run/new"),
            ("755", "chown \(user) /run/new; chmod 2755 /run/new"),
            ("755", "mv /run/new /run/other; ln -s other /run/new"),
            ("1777", "true"),
        ])
    func replacedByAnother(folderMode: String, change: String) throws {
        let fixture = try fixture(folderMode: folderMode, starting: exec)
        let pid = try pid(fixture)
        try fixture.registered()
        #expect(asRoot("\(Self.newFile) && \(change) && mv -T /run/new /run/contact-agent", by: pid))
        fixture.broker.close()
        try fixture.wait(for: "another try") { text("/proc/\(pid)/cmdline").contains("--attempt\0") }
        fixture.broker.open(group: Self.group)
        try fixture.registered()
        // The agent still runs its own file, which has been deleted.
        #expect(executable(of: pid) == "/run/contact-agent (deleted)")
    }

    /// Stands in for polkit's agent: records its start, and asks for a password when a pipe orders it to.
    private static let passwordAgent = """
        #!/bin/sh
        echo "$$ $* $(env | grep -v ^PWD= | sort | tr "\\n" " ")" >/run/contactbroker/asked
        exec 3>&-
        while read order; do
            printf "Password, $order: " >/dev/tty; read word </dev/tty; echo "heard $word." >/dev/tty
        done </run/contactbroker/orders
        """

    private func fixtureWithPassword() throws -> (AgentFixture, orders: CInt) {
        let broker = BrokerStandIn()
        broker.holdsForPassword = true
        let path = broker.runtimeDirectory
        mkfifo(path + "/orders", 0o666)
        chmod(path + "/orders", 0o666)
        close(Glibc.open(path + "/asked", O_CREAT | O_WRONLY, 0o666))
        chmod(path + "/asked", 0o666)
        // Open the pipe for reading and writing, so that neither end waits for the other.
        let orders = Glibc.open(path + "/orders", O_RDWR | O_CLOEXEC)
        return (
            try fixture(
                starting: exec, environment: ["LANG": "C", "EVIL": "1"], password: Self.passwordAgent, broker: broker),
            orders
        )
    }

    private func order(_ orders: CInt, _ word: String) { _ = write(orders, word + "\n", word.utf8.count + 1) }

    @Test("While polkit may ask for a password, no key answers a prompt and no prompt covers the terminal")
    func password() throws {
        let (fixture, orders) = try fixtureWithPassword()
        defer {
            close(orders)
            unlink(fixture.broker.runtimeDirectory + "/orders")
            unlink(fixture.broker.runtimeDirectory + "/asked")
        }
        let pid = try pid(fixture)
        try fixture.wait(for: "the call") { fixture.broker.heldCount == 1 }
        #expect(fixture.terminal.isInLineMode)
        let asked = text(fixture.broker.runtimeDirectory + "/asked")
        // The agent has this process's control groups.
        let isInSession = PasswordAgent.isInSession(cgroups: PasswordAgent.ownCgroups())
        let words = PasswordAgent.arguments(for: pid, isInSession: isInSession).joined(separator: " ")
        #expect(asked.contains(" \(words) "))
        #expect(asked.hasSuffix(" 3 LANG=C NO_COLOR=1 PATH=/usr/bin:/bin TERM=xterm \n"))
        #expect(!asked.contains("EVIL") && !asked.contains("XDG") && !asked.contains("CONTACTBROKER"))
        order(orders, "first")
        // Each of these letters is a key of the agent: quit, list, open.
        try fixture.see("Password, first:", thenPress: "qlo1\r")
        try fixture.see("heard qlo1.")
        fixture.broker.release()
        try fixture.see("Waiting for apps")
        #expect(!fixture.terminal.isInLineMode)

        fixture.broker.holdsForPassword = true
        fixture.ask(PromptText())
        try fixture.see("[a] Share all 3 contacts…", thenPress: "a")
        try fixture.see("[y] Share all", thenPress: "y")
        try fixture.wait(for: "the answer") { fixture.broker.heldCount == 1 }
        #expect(!fixture.terminal.screen.isAlternate)
        order(orders, "again")
        try fixture.see("Password, again:", thenPress: "wrong\r")
        try fixture.see("heard wrong.")
        fixture.broker.refusal = ("io.contactbroker.Agent.AuthenticationFailed", "{}")
        fixture.broker.release()
        try fixture.see("The password was wrong, or nobody typed it.")
        #expect(fixture.terminal.screen.isAlternate)

        fixture.broker.refusal = nil
        try fixture.see("[y] Share all", thenPress: "y")
        try fixture.see("You shared all contacts with “mail”.")
        #expect(fixture.broker.answers.count == 1)
        // The message appears before the agent takes the terminal back.
        try fixture.wait(for: "keys one by one") { !fixture.terminal.isInLineMode }
        #expect(try fixture.quit() == .exited(0))
    }

    @Test("After a failed password, the agent replaces pkttyagent, which may hang after a withdrawn password request")
    func revoked() throws {
        let (fixture, orders) = try fixtureWithPassword()
        defer {
            close(orders)
            unlink(fixture.broker.runtimeDirectory + "/orders")
            unlink(fixture.broker.runtimeDirectory + "/asked")
        }
        func asking() throws -> pid_t {
            try fixture.wait(for: "the call") { fixture.broker.heldCount == 1 }
            return try #require(pid_t(text(fixture.broker.runtimeDirectory + "/asked").prefix { $0.isNumber }))
        }
        let first = try asking()
        fixture.broker.release()
        try fixture.see("Waiting for apps")
        fixture.broker.holdsForPassword = true
        fixture.ask(PromptText())
        try fixture.see("[a] Share all 3 contacts…", thenPress: "a")
        try fixture.see("[y] Share all", thenPress: "y")
        // After the person has answered a password request, the same process asks again.
        #expect(try asking() == first)
        fixture.broker.refusal = ("io.contactbroker.Agent.AuthenticationFailed", #"{"reason":"not given in time"}"#)
        fixture.broker.release()
        try fixture.see("The broker refused this: not given in time")
        #expect(kill(first, 0) != 0)

        fixture.broker.refusal = nil
        fixture.broker.holdsForPassword = true
        try fixture.see("[y] Share all", thenPress: "y")
        #expect(try asking() != first)
        order(orders, "once more")
        try fixture.see("Password, once more:", thenPress: "right\r")
        try fixture.see("heard right.")
        fixture.broker.release()
        try fixture.see("You shared all contacts with “mail”.")
        #expect(try fixture.quit() == .exited(0))
    }

    @Test(
        "An agent whose user does not authenticate ends with the reason",
        arguments: [
            ("{}", "could not become an agent: you were not recognised"),
            (#"{"problem":"noPasswordAgent","reason":"none"}"#, "or this terminal belongs to no login session"),
            (#"{"reason":"polkit is ill"}"#, "could not become an agent: polkit is ill"),
        ])
    func notRecognised(parameters: String, words: String) throws {
        let (fixture, orders) = try fixtureWithPassword()
        defer { close(orders) }
        try fixture.wait(for: "the call") { fixture.broker.heldCount == 1 }
        fixture.broker.serveRefusal = ("io.contactbroker.Agent.AuthenticationFailed", parameters)
        fixture.broker.release()
        #expect(try fixture.exitWhileServing() == .exited(2))
        // The terminal breaks long lines anywhere.
        let shown = fixture.terminal.screen.text.filter { !$0.isWhitespace }
        #expect(shown.contains(words.filter { !$0.isWhitespace }))
    }

    @Test(
        "A signal ends an agent that waits for a password, and the program that asks ends with it",
        arguments: [
            SIGINT, SIGKILL,
        ])
    func givenUp(signal: CInt) throws {
        let (fixture, orders) = try fixtureWithPassword()
        defer { close(orders) }
        let pid = try pid(fixture)
        try fixture.wait(for: "the call") { fixture.broker.heldCount == 1 }
        let asking = try #require(pid_t(text(fixture.broker.runtimeDirectory + "/asked").prefix { $0.isNumber }))
        fixture.broker.release()
        fixture.ask(PromptText())
        try fixture.see("[a] Share all 3 contacts…", thenPress: "a")
        fixture.broker.holdsForPassword = true
        try fixture.see("[y] Share all", thenPress: "y")
        try fixture.wait(for: "the answer") { fixture.broker.heldCount == 1 }
        kill(pid, signal)
        #expect(try fixture.exit() == .signalled(signal))
        let deadline = ContinuousClock.now + .seconds(10)
        while kill(asking, 0) == 0, ContinuousClock.now < deadline { poll(nil, 0, 5) }
        #expect(kill(asking, 0) != 0)
        #expect(fixture.broker.answers.isEmpty)
    }

    @Test("The notify-only agent connects with the group, and again when the broker returns")
    func notifier() throws {
        let start = "echo notifier=\\$\\$.; exec $A --notify </dev/null 2>/dev/null"
        let fixture = try fixture(starting: "echo pid=$$.; exec $AS setsid -w sh -c \"\(start)\"")
        try fixture.registered()
        let notifier = try #require(fixture.number(after: "notifier="))
        defer { kill(notifier, SIGKILL) }
        #expect(fixture.broker.isNotifying)
        fixture.broker.say(#"{"waiting":2}"#)
        try fixture.see("2 requests waiting.")
        fixture.broker.close()
        fixture.broker.open(group: Self.group)
        try fixture.registered()
        fixture.broker.say(#"{"waiting":1}"#)
        try fixture.see("1 request waiting.")
    }
}
