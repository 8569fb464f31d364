import Glibc
import PseudoTerminal
import Testing

@Suite("Backups with the real programs")
struct BackupCommandTests {
    private let fixture: DaemonFixture

    init() throws {
        fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
    }

    private func contactctl(_ arguments: String..., in fixture: DaemonFixture) throws -> Command {
        try Command(DaemonFixture.programs + "/contactctl", arguments, in: fixture)
    }

    private func path(_ name: String) -> String { fixture.folder + "/" + name }

    /// Makes a plain backup, and returns its path.
    private func plain(_ name: String = "plain.backup") throws -> String {
        let made = try contactctl("backup", "--plain", path(name), in: fixture)
        try #require(made.end == .exited(0), "\(made.errors)")
        return path(name)
    }

    private func contactctl(atTerminal arguments: String...) throws -> PseudoTerminal {
        try PseudoTerminal(
            DaemonFixture.programs + "/contactctl", arguments: arguments,
            environment: [
                "TERM": "xterm", "CONTACTBROKER_RUNTIME_DIR": fixture.runtime, "PATH": "/usr/bin:/bin", "TZ": "UTC",
            ])
    }

    @Test("With a passphrase, which age asks for, and with the question before contacts are replaced")
    func passphrase() throws {
        let file = path("secret.backup")
        let backup = try contactctl(atTerminal: "backup", file)
        try backup.wait(for: "Enter passphrase")
        backup.send("correct horse\r")
        try backup.wait(for: "Confirm passphrase")
        backup.send("correct horse\r")
        try backup.wait(for: "saved 4 contacts and the access of 1 app")
        #expect(try backup.waitForExit() == .exited(0))
        #expect(DaemonFixture.text(of: file).hasPrefix("age-encryption.org/v1\n-> scrypt "))
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o7777 == 0o600)

        let wrong = try contactctl(atTerminal: "restore", file)
        try wrong.wait(for: "Enter passphrase")
        wrong.send("wrong\r")
        try wrong.wait(for: "age could not decrypt the file")
        #expect(try wrong.waitForExit() == .exited(2))

        let restore = try contactctl(atTerminal: "restore", file)
        try restore.wait(for: "Enter passphrase")
        restore.send("correct horse\r")
        try restore.wait(for: "Replace them with 4 contacts")
        restore.send("y\r")
        try restore.wait(for: "restored 4 contacts of")
        #expect(try restore.waitForExit() == .exited(0))

        let declined = try contactctl(atTerminal: "restore", try plain())
        try declined.wait(for: "[y/N]")
        declined.send("\r")
        try declined.wait(for: "nothing was changed")
        #expect(try declined.waitForExit() == .exited(1))
    }

    @Test("For a recipient of age, whose key decrypts it")
    func recipient() throws {
        let key = path("key.txt")
        let made = try Command("/usr/bin/age-keygen", ["-o", key], in: fixture)
        let recipient = try #require(made.errors.split(separator: " ").last).trimmingCharacters()
        let file = path("sealed.backup")
        let backup = try contactctl("backup", "--recipient", recipient, file, in: fixture)
        #expect(backup.end == .exited(0) && backup.output.hasPrefix("saved 4 contacts"), "\(backup.errors)")
        let without = try contactctl("restore", "--replace", file, in: fixture)
        #expect(without.end == .exited(2) && without.errors.contains("--identity FILE"))
        let restored = try contactctl("restore", "--replace", "--identity", key, file, in: fixture)
        #expect(restored.end == .exited(0) && restored.output.hasPrefix("restored 4 contacts"), "\(restored.errors)")
        // Cut off in the encrypted part, it changes nothing.
        let bytes = try #require(DaemonFixture.bytes(of: file))
        try DaemonFixture.write(Array(bytes.dropLast(100)), to: path("short.backup"))
        let short = try contactctl("restore", "--replace", "--identity", key, path("short.backup"), in: fixture)
        #expect(short.end == .exited(2) && short.errors.contains("age could not decrypt the file"))
        let bad = try contactctl("backup", "--recipient", "nobody", path("none.backup"), in: fixture)
        #expect(bad.end == .exited(2) && bad.errors.contains("age could not encrypt it"))
        #expect(access(path("none.backup"), F_OK) != 0)
    }

    @Test("A file that is no intact backup is refused, says why, and changes nothing")
    func bad() throws {
        let file = try plain()
        let text = DaemonFixture.text(of: file)
        func cards(_ text: String) -> [Substring] { text.split(separator: "\n").filter { $0.hasPrefix(#"{"card""#) } }
        func refused(_ bytes: String, _ reason: String, _ code: CInt, _ options: String...) throws {
            try DaemonFixture.write(Array(bytes.utf8), to: path("bad.backup"))
            let command = try Command(
                DaemonFixture.programs + "/contactctl", ["restore", "--replace"] + options + [path("bad.backup")],
                in: fixture)
            #expect(command.end == .exited(code) && command.errors.contains(reason), "\(command.errors)")
        }
        try refused("", "the file is not a backup", 2)
        try refused("hello\n", "the file is not a backup", 2)
        try refused(String(text.prefix(text.utf8.count / 2)), "the end of the backup is missing", 2)
        try refused(text.replacing("Hopper", with: "Hooper"), "was changed", 1)
        try refused(text.replacing(#""version":1"#, with: #""version":9"#), "later version", 1, "--contacts-only")
        try refused(text + "{}\n", "the end of the backup is missing", 2)
        #expect(cards(DaemonFixture.text(of: try plain("after.backup"))) == cards(text))

        let pipe = path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        #expect(try contactctl("restore", pipe, in: fixture).errors.contains("not a file"))
        #expect(try contactctl("restore", path("nothing"), in: fixture).end == .exited(2))
        try #require(symlink(file, path("link")) == 0)
        let link = try contactctl("backup", "--plain", path("link"), in: fixture)
        #expect(link.end == .exited(2) && link.errors.contains("a symbolic link"))
        #expect(try contactctl("backup", "--plain", path("none/x"), in: fixture).end == .exited(2))
        #expect(
            try contactctl("backup", "--plain", "--user", "nobody-at-all", path("x"), in: fixture).end == .exited(1))
        #expect(try contactctl("backup", "--plain", "--recipient", "x", path("x"), in: fixture).end == .exited(2))
    }

    @Test("Another machine's backup restores contacts only, until it has that machine's key")
    func other() throws {
        let file = try plain()
        let other = try DaemonFixture()
        let refused = try contactctl("restore", file, in: other)
        #expect(refused.end == .exited(1) && refused.errors.contains("backup.key"), "\(refused.errors)")
        let only = try contactctl("restore", "--contacts-only", file, in: other)
        #expect(only.end == .exited(0) && only.output.hasPrefix("restored 4 contacts"), "\(only.errors)")
        try DaemonFixture.copy(fixture.state + "/backup.key", to: other.state + "/backup.key")
        try #require(chmod(other.state + "/backup.key", 0o600) == 0)
        let whole = try contactctl("restore", "--replace", file, in: other)
        #expect(whole.end == .exited(0), "\(whole.errors)")
        #expect(whole.output.contains("removed 4 contacts"))
        #expect(whole.errors.contains("1 app of the backup"))
        #expect(try other.audit("restore").count == 2)
    }
}

extension Substring {
    fileprivate func trimmingCharacters() -> String { String(filter { !$0.isWhitespace }) }
}
