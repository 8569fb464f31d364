import BrokerAccessControl
import Testing

@testable import BrokerPeerIdentity

@Suite("Parsing files of /proc")
struct ParsingTests {
    private func parse(_ command: String, terminal: String = "34819") -> ProcessStatus? {
        ProcessStatus(
            line: Array(
                "42 (\(command)) S 7 42 40 \(terminal) 42 4194304 1 0 0 0 0 0 0 0 20 0 1 0 987654 0 0\n".utf8))
    }

    @Test("A process name with spaces and parentheses does not shift the following fields")
    func commandNames() throws {
        for command in ["cat", "a b", "x) S 1 1 1 0", "((", "))", ") R 0 0 0", ""] {
            let status = try #require(parse(command))
            #expect(status.parent == 7)
            #expect(status.session == 40)
            #expect(status.startTime == 987_654)
            #expect(status.terminal == Terminal(major: 136, minor: 3))
        }
    }

    @Test("A truncated or invalid line gives no values")
    func notALine() {
        #expect(ProcessStatus(line: []) == nil)
        #expect(ProcessStatus(line: Array("42 (cat) S 1 2 3".utf8)) == nil)
        #expect(ProcessStatus(line: Array(")(".utf8)) == nil)
        #expect(parse("cat", terminal: "x") == nil)
    }

    @Test("Terminal device numbers become the usual names")
    func terminals() {
        #expect(Terminal(statField: 0) == nil)
        #expect(Terminal(statField: 34_816)?.name == "pts/0")
        #expect(Terminal(statField: 1_025)?.name == "tty1")
        #expect(Terminal(statField: 1_088)?.name == "ttyS0")
        // Bits 31 to 20 contain the upper part of minor numbers from 256.
        #expect(Terminal(statField: 34_816 + (1 << 20))?.name == "pts/256")
        #expect(Terminal(statField: Int32(bitPattern: 0xfff0_88ff))?.name == "pts/\(0xfffff)")
        #expect(Terminal(statField: 5 << 8)?.name == "terminal 5:0")
    }

    private static let slice = "/user.slice/user-1000.slice/user@1000.service/app.slice"

    @Test(
        "An app's name is read from unit names with one",
        arguments: [
            ("/app-gnome-org.example.Mail-1234.scope", "gnome", "org.example.Mail"),
            ("/app-org.example.Mail-1234.scope", nil, "org.example.Mail"),
            ("/app-org.kde.kate@0f1e.service", nil, "org.kde.kate"),
            ("/app-org.kde.kate.service", nil, "org.kde.kate"),
            ("/app-gnome-mail@autostart.service", "gnome", "mail"),
            ("/app-gnome-my\\x2dmail-9.scope", "gnome", "my-mail"),
            ("/app-my.slice/app-gnome-mail-9.scope", "gnome", "mail"),
            ("/app-gnome-mail-9.scope/worker/1", "gnome", "mail"),
        ] as [(String, String?, String)])
    func appUnits(unit: String, launcher: String?, app: String) {
        #expect(
            ControlGroup.appUnit(of: Self.slice + unit)
                == ControlGroup.AppUnit(
                    uid: 1_000, launcher: launcher, app: app, isScope: unit.contains(".scope")))
    }

    @Test(
        "No other path has an app's name",
        arguments: [
            "/", "", slice, slice + "/", slice + "/app-my.slice", slice + "/vte-spawn-1f.scope",
            slice + "/app-.scope", slice + "/app--1.scope", slice + "/app-mail.scope", slice + "/app-mail-.scope",
            slice + "/app-a-b-c-1.scope", slice + "/app-a--1.scope", slice + "/app-a-b-c@1.service",
            slice + "/app-ma il-1.scope", slice + "/app-ma\\x2-1.scope", slice + "/app-ma\\x2fil-1.scope",
            slice + "/app-\\xff-1.scope", slice + "/app-mail-1.socket", slice + "/other.scope/app-mail-1.scope",
            "/app.slice/app-mail-1.scope", "x" + slice + "/app-mail-1.scope", "/.." + slice + "/app-mail-1.scope",
            "/user.slice/user-1000.slice/user@1001.service/app.slice/app-mail-1.scope",
            "/user.slice/user-01000.slice/user@01000.service/app.slice/app-mail-1.scope",
            "/user.slice/user-+1000.slice/user@+1000.service/app.slice/app-mail-1.scope",
            "/user.slice/user-4294967296.slice/user@4294967296.service/app.slice/app-mail-1.scope",
            "/user.slice/user-1000.slice/user@1000.service/session.slice/app-mail-1.scope",
            "/user.slice/user-1000.slice/session-1.scope/app.slice/app-mail-1.scope",
            slice + "/app-" + String(repeating: "a", count: 256) + "-1.scope",
        ])
    func noAppUnits(path: String) {
        #expect(ControlGroup.appUnit(of: path) == nil)
    }

    @Test("An app's name has at most 255 characters")
    func longestName() {
        let name = String(repeating: "a", count: 255)
        #expect(ControlGroup.appUnit(of: Self.slice + "/app-\(name)-1.scope")?.app == name)
    }

    @Test("The unified hierarchy is read among several")
    func unifiedPath() {
        #expect(ControlGroup.unifiedPath(in: Array("9:name=systemd:/a\n3:cpu:/b\n0::/c d\n".utf8)) == "/c d")
        #expect(ControlGroup.unifiedPath(in: Array("3:cpu:/0::\n10::/x\n".utf8)) == nil)
    }

    @Test("Different paths have different escaped texts, without line breaks")
    func pathTexts() {
        #expect(ExecutablePath.text(of: Array("/usr/bin/cat".utf8)) == "/usr/bin/cat")
        #expect(ExecutablePath.text(of: Array("/home/ü/名".utf8)) == "/home/ü/名")
        #expect(ExecutablePath.text(of: Array("/a\nb\u{7f}\\x".utf8)) == "/a\\x0ab\\x7f\\x5cx")
        #expect(ExecutablePath.text(of: [0x2f, 0xff, 0xc3, 0x28, 0xe2, 0x82]) == "/\\xff\\xc3(\\xe2\\x82")
        #expect(ExecutablePath.text(of: Array("/a\u{85}".utf8)) == "/a\\xc2\\x85")
        #expect(ExecutablePath.text(of: Array("/e\u{301}".utf8)).utf8.count == 4)
    }

    @Test("A deleted program has its former path")
    func deleted() {
        #expect(ExecutablePath.parse(link: Array("/bin/x (deleted)".utf8)) == ("/bin/x", true))
        #expect(ExecutablePath.parse(link: Array("/bin/x".utf8)) == ("/bin/x", false))
        #expect(ExecutablePath.parse(link: Array("/bin/x (deleted) (deleted)".utf8)) == ("/bin/x (deleted)", true))
    }

    @Test(
        "Interpreters are recognised by name, with or without a version",
        arguments: [
            "python3", "python3.11", "python", "Python", "pypy3", "perl", "perl5.36.0", "bash", "sh", "dash", "zsh",
            "node", "node18", "java", "php8.2", "lua5.4", "tclsh8.6", "wish8.6", "gjs", "gjs-console", "guile-3.0",
            "R", "ruby3.1", "deno", "bun", "ld-linux-x86-64.so.2", "ld-2.31.so", "ld-musl-x86_64.so.1",
            "qemu-x86_64-static", "wine64-preloader", "busybox", "beam.smp", "bash.real",
        ])
    func interpreters(name: String) {
        #expect(Interpreter.isInterpreter(name: name))
    }

    @Test(
        "A program whose name only begins like an interpreter's is not one",
        arguments: ["shotwell", "nodeworks", "rust", "bashful", "perlite", "luanti", "javac", "mail", "cat", "", "r_x"])
    func noInterpreters(name: String) {
        #expect(!Interpreter.isInterpreter(name: name))
    }
}
