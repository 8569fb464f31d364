import BrokerCommandOutput
import BrokerJSON
import Glibc
import PseudoTerminal
import Testing

@testable import contactctl

/// Names that apps chose, in real shells at a real terminal.
@Suite("Names of apps in shells")
struct ShellTests {
    enum Shell: String, CaseIterable, Sendable {
        case bash, zsh, fish

        var path: String { "/usr/bin/\(rawValue)" }

        var arguments: [String] {
            switch self {
            case .bash: ["--norc", "--noprofile", "-i"]
            case .zsh: ["-f", "-i"]
            case .fish: ["--no-config", "-i"]
            }
        }

        /// The file that `packaging/install` writes into the shell's folder.
        func script(_ program: String) -> String { self == .zsh ? "_\(program)" : "\(program).\(rawValue)" }

        /// Loads the scripts in the home directory.
        var loading: String {
            switch self {
            case .bash, .fish: "source ./\(script("contactctl")); source ./\(script("contactbook"))"
            case .zsh: "fpath=($HOME $fpath); autoload -U compinit; compinit -u -D"
            }
        }
    }

    /// What would create the file `escaped` if a shell gave it a meaning, or would be another word or an option.
    static let hostile = [
        "$(cd; touch escaped; echo mail)", "`cd;touch escaped`", "mail; touch escaped", "mail & touch escaped",
        "mail\ntouch escaped", "mail\rtouch escaped\r", "' ; touch escaped ; '", "\" ; touch escaped ; \"",
        "\\' ; touch escaped ; '", "\\", "(touch escaped)", "<(touch escaped)", "mail > escaped",
        "mail | touch escaped",
        "${escaped:=x}", "~escaped", "~", "*", "?escaped", "[e]scaped", "{escaped,x}", "-escaped", "--escaped",
        "!escaped",
        "#escaped", "=escaped", "%escaped", "escaped mail", "es\u{202E}caped", "\u{1B}]0;escaped\u{7}",
        "m\u{E4}il escaped",
        "",
    ]

    /// A home directory for a shell. It has the completion scripts and, in `bin`, `contactctl`.
    private struct Home {
        let folder: TestFolder
        private let broker: ScriptedBroker

        var hasEscaped: Bool { folder.has("escaped") }
        var asked: [ScriptedBroker.Asked] { broker.asked }

        /// - Parameter program: a script that takes the place of `contactctl` once the completion scripts are made.
        init(program: String? = nil) throws {
            let named =
                hostile.map { (app: $0, name: $0) } + [
                    (app: "/usr/bin/x sha256:ab", name: "goodalpha"), (app: "/usr/bin/y sha256:ab", name: "goodbeta"),
                    (app: "org.example.goodgamma", name: "Gamma Ray"), (app: "goodidentifier", name: "'"),
                ]
            var writer = JSONWriter()
            writer.object {
                $0.name("grants")
                $0.array(named) { writer, named in
                    writer.object {
                        $0.member("app", named.app)
                        $0.member("displayName", named.name)
                        $0.member("status", "full")
                    }
                }
            }
            let grants = String(decoding: writer.bytes, as: UTF8.self)
            broker = try ScriptedBroker { _, _ in .reply(grants) }
            folder = try TestFolder()
            mkdir(folder.path + "/bin", 0o700)
            for (program, shell) in ["contactctl", "contactbook"].flatMap({ name in Shell.allCases.map { (name, $0) } })
            {
                let script = try run(program, "--generate-completion-script", shell.rawValue, with: broker)
                try #require(script.code == 0, "\(script.error)")
                try folder.write(script.output, to: shell.script(program))
            }
            let book = folder.path + "/bin/contactbook"
            try #require(symlink(RunningProgram.folder() + "/contactbook", book) == 0)
            let link = folder.path + "/bin/contactctl"
            if let program {
                try folder.write(program, to: "bin/contactctl")
                chmod(link, 0o700)
            } else {
                try #require(symlink(RunningProgram.folder() + "/contactctl", link) == 0)
            }
        }

        func start(_ shell: Shell) throws -> PseudoTerminal {
            try #require(access(shell.path, X_OK) == 0, "install \(shell)")
            var environment = [
                "HOME": folder.path, "PATH": "\(folder.path)/bin:/usr/bin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8",
                "CONTACTBROKER_RUNTIME_DIR": broker.folder, "INPUTRC": "/dev/null",
            ]
            environment["LD_LIBRARY_PATH"] = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
            let terminal = try PseudoTerminal(
                shell.path, arguments: shell.arguments, environment: environment, columns: 100, rows: 60)
            // What is typed differs from what is printed.
            terminal.send("cd; \(shell.loading); echo REA''DY\r")
            try terminal.wait(for: "READY")
            return terminal
        }

        /// Presses Tab until the shell offers words, then gives up the line.
        ///
        /// - Returns: what the shell wrote.
        func complete(
            _ line: String, in terminal: PseudoTerminal, until word: String = "goodbeta"
        ) throws -> String {
            let start = terminal.transcript.count
            terminal.send(line + "\t\t")
            try terminal.wait(for: word)
            terminal.send("\u{15}echo DO''NE-\(start)\r")
            try terminal.wait(for: "DONE-\(start)")
            return terminal.text(after: start)
        }
    }

    @Test(
        "Tab offers no name of an app in which a shell could find a meaning, and runs nothing",
        arguments: Shell.allCases)
    func tab(shell: Shell) throws {
        let home = try Home()
        let terminal = try home.start(shell)
        for line in ["contactctl show ", "contactctl audit --app "] {
            let shown = try home.complete(line, in: terminal)
            for word in ["goodalpha", "org.example.goodgamma", "goodidentifier"] where !shown.contains(word) {
                // The part that all words have in common may be shown only once.
                Issue.record("\(word) is not offered: \(shown)")
            }
            #expect(!shown.contains("escaped") && !shown.contains("caped"))
        }
        #expect(!home.hasEscaped)
    }

    @Test("Tab completes contactbook's commands, options and files, and asks for no contact", arguments: Shell.allCases)
    func contactbook(shell: Shell) throws {
        let home = try Home()
        let terminal = try home.start(shell)
        _ = try home.complete("contactbook birth", in: terminal, until: "contactbook birthdays")
        _ = try home.complete("contactbook export --format ", in: terminal, until: "vcard4")
        _ = try home.complete("contactbook import contactctl.f", in: terminal, until: "import contactctl.fish")
        let shown = try home.complete("contactbook show ", in: terminal, until: "contactbook show")
        for word in ["contactctl", "escaped", "good"] { #expect(!shown.contains(word), "\(shown)") }
        #expect(home.asked.isEmpty && !home.hasEscaped)
    }

    @Test("Tab runs nothing, even if a program offers such words", arguments: Shell.allCases)
    func tabOfAnother(shell: Shell) throws {
        let home = try Home(program: "#!/bin/sh\ncat \"$HOME/words\"\n")
        // zsh ignores the last word.
        try home.folder.write((["goodalpha", "goodbeta"] + Self.hostile + [" "]).joined(separator: "\n"), to: "words")
        let terminal = try home.start(shell)
        _ = try home.complete("contactctl show good", in: terminal)
        #expect(!home.hasEscaped)
    }

    @Test("What is printed for pasting is one word for a shell, and names the same app", arguments: Shell.allCases)
    func pasted(shell: Shell) throws {
        let home = try Home()
        for text in Self.hostile where !text.isEmpty {
            let name = AppName("\(text) sha256:ab12cd34ef", displayName: text)
            for word in [name.identity, name.identityAndHash, name.name, ShellWord.quoted(text)] {
                // Without a terminal, the shell runs what it reads.
                try home.folder.write("cd; printf '<%s>' \(word)\n", to: "pasted")
                let outcome = try RunningProgram(
                    shell.path, shell.arguments.filter { $0 != "-i" } + [home.folder.path + "/pasted"],
                    runtime: home.folder.path, environment: ["HOME=\(home.folder.path)", "LC_ALL=C.UTF-8"]
                ).finish()
                let printed = outcome.output
                #expect(
                    outcome.code == 0 && printed.hasPrefix("<") && printed.hasSuffix(">"), "\(word): \(outcome.error)")
                let read = ShellWord.read(String(printed.dropFirst().dropLast()))
                let isName = word == name.name && word != ShellWord.quoted(text)
                #expect(isName || [text, name.placeAndHash].contains(read), "\(word): \(printed)")
            }
            #expect(!home.hasEscaped, "\(text)")
        }
    }

    @Test("A pasted word finds the app, in the list and in the advice")
    func found() throws {
        func grant(_ hash: String) -> String {
            """
            {"uid":1,"app":"/bin/a b'c sha256:\(hash)","displayName":"it's","strength":"unverified","status":"full"}
            """
        }
        let grants = #"{"grants":[\#(grant("ab12cd34ef")),\#(grant("99"))]}"#
        let broker = try ScriptedBroker { _, _ in .reply(grants) }
        let outcome = try run("contactctl", "revoke", "a b", with: broker)
        let words = #"name one of them: '/bin/a b\u{27}c #99', '/bin/a b\u{27}c #ab12cd34'"#
        #expect(outcome.code == 1 && outcome.error.hasSuffix(words + "\n"), "\(outcome.error)")
        let exact = try run("contactctl", "revoke", #"/bin/a b\u{27}c #ab12cd34"#, with: broker)
        #expect(exact.error.contains(#"contactctl reset '/bin/a b\u{27}c #ab12cd34'"#), "\(exact.error)")
        #expect(broker.asked.last?.method == "SetGrant")
        #expect(broker.asked.last?.parameters.contains("ab12cd34ef") == true)
    }

    @Test("A record in comma-separated values is one line, and marks what changes the text around it")
    func values() {
        #expect(AuditWords.quoted("/bin/a\u{202E}txt.exe") == "/bin/a\\u{202E}txt.exe")
        #expect(AuditWords.quoted("a,\n\"b\"\u{1B}[31m\t") == "\"a,\\u{A}\"\"b\"\"\\u{1B}[31m\\u{9}\"")
        #expect(AuditWords.quoted("=1") == "'=1" && AuditWords.quoted("/home/j\u{FC}rgen") == "/home/j\u{FC}rgen")
        // Every direction character of Unicode (UAX #9), and every character that begins a new line.
        for value: UInt32 in [0x61C, 0x200E, 0x200F] + Array(0x202A...0x202E) + Array(0x2066...0x2069)
            + [0x85, 0x2028, 0x2029, 0x200B, 0xFEFF, 0xE0041, 0x9B]
        {
            let scalar = Unicode.Scalar(value).map { String($0) } ?? ""
            #expect(AuditWords.quoted(scalar) == "\\u{\(String(value, radix: 16, uppercase: true))}")
        }
    }
}
