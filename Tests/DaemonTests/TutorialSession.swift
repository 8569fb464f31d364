import Glibc
import PseudoTerminal
import Testing

/// A person who types a document's commands in real terminals of 80 columns, each with a shell.
final class TutorialSession {
    enum Place {
        case broker, agent, app, watcher
    }

    /// One thing that the person does while a command runs.
    struct Step {
        enum Keys {
            case keys(String)
            /// The arrow keys that move the cursor to the row with this text.
            case select(String)
        }

        let place: Place
        /// The person waits until the terminal shows this.
        let text: String
        let keys: Keys

        static func press(_ keys: String, at text: String, in place: Place = .agent) -> Step {
            Step(place: place, text: text, keys: .keys(keys))
        }

        static func select(_ name: String, at text: String) -> Step {
            Step(place: .agent, text: text, keys: .select(name))
        }

        static func see(_ text: String, in place: Place) -> Step { press("", at: text, in: place) }
    }

    /// How one command is run.
    struct Run {
        var place = Place.app
        var before: [Step] = []
        var steps: [Step] = []
        /// The exit status; `nil` if the command goes on running once its last step is done.
        var status: Int? = 0
    }

    private static let prompt = "tutorial:"

    private let fixture: DaemonFixture
    private var terminals: [Place: PseudoTerminal] = [:]
    /// Where the output of a terminal's latest command begins in its transcript.
    private var marks: [Place: Int] = [:]
    /// Commands that a terminal starts with.
    private var opening = ["cd '\(Document.top)'"]
    /// The lines that the terminals have shown in this section.
    private var shown: Set<String> = []

    init() throws {
        fixture = try DaemonFixture(starting: false)
        for name in ["home", "xdg"] {
            guard mkdir(fixture.folder + "/" + name, 0o700) == 0 else { throw Trouble("no folder for \(name)") }
        }
    }

    /// Ends the broker, which outlives its terminal.
    func end() {
        guard let terminal = terminals[.broker] else { return }
        terminal.send("\u{3}")
        _ = try? wait(in: .broker, for: Self.prompt)
    }

    func beginSection() { shown = [] }

    /// Types the command in every terminal that is opened from now on.
    func open(with command: String) { opening.append(command) }

    func run(_ command: String, _ run: Run) throws {
        for step in run.before { try take(step) }
        try type(command, in: run.place)
        for step in run.steps { try take(step) }
        guard let status = run.status else { return }
        let output = try wait(in: run.place, for: Self.prompt)
        let after = output.ranges(of: Self.prompt).last.map { output[$0.upperBound...] } ?? ""
        #expect(Int(String(after.prefix { $0.isNumber })) == status, "\(command) printed: \(output)")
    }

    /// The lines of a block that no terminal has shown in this section.
    func missing(from block: Document.Block) -> [String] {
        for place in terminals.keys where place != .agent { note(text(in: place)) }
        return block.lines.filter { line in
            let pattern = Self.words(line)
            return !pattern.isEmpty && !shown.contains { Self.matches($0, pattern) }
        }
    }

    // MARK: -

    private func take(_ step: Step) throws {
        guard let terminal = terminals[step.place] else { throw Trouble("no terminal shows \(step.text)") }
        switch step.keys {
        case .keys(let keys):
            _ = try wait(in: step.place, for: step.text)
            terminal.send(keys)
        case .select(let name):
            _ = try wait(in: step.place, for: step.text)
            // The list may be sorted again meanwhile, and the cursor stays on its app. So look again before each key.
            while !terminal.screen.contains("› " + name) {
                let before = terminal.screen.lines
                guard let cursor = before.firstIndex(where: { $0.hasPrefix("›") }),
                    let row = before.firstIndex(where: { $0.contains(name) })
                else { throw Trouble("no list with \(name): \(terminal.screen.text)") }
                terminal.send(row < cursor ? "\u{1B}[A" : "\u{1B}[B")
                try terminal.wait(for: "the cursor to move to \(name)") { $0.lines != before }
            }
        }
    }

    private func type(_ command: String, in place: Place) throws {
        let terminal = try terminal(place)
        terminal.takeOutput()
        marks[place] = terminal.transcript.count
        for line in command.split(separator: "\n", omittingEmptySubsequences: false) { terminal.send(line + "\r") }
    }

    private func terminal(_ place: Place) throws -> PseudoTerminal {
        if let terminal = terminals[place] { return terminal }
        // Without line editing, the transcript contains only the echoed commands and the programs' output.
        let terminal = try PseudoTerminal(
            "/bin/bash", arguments: ["--norc", "--noprofile", "--noediting", "-i"],
            environment: [
                "HOME": fixture.folder + "/home", "XDG_RUNTIME_DIR": fixture.folder + "/xdg", "PATH": "/usr/bin:/bin",
                "LANG": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1", "PAGER": "cat", "TZ": "UTC", "EDITOR": "true",
                "HISTFILE": "/dev/null", "PS1": Self.prompt + "$? ",
            ])
        terminals[place] = terminal
        marks[place] = 0
        // Wait for the shell's prompt, because a command that is typed before it would appear twice.
        _ = try wait(in: place, for: Self.prompt)
        for command in opening {
            try type(command, in: place)
            _ = try wait(in: place, for: Self.prompt)
        }
        return terminal
    }

    /// Waits until the terminal shows the text, and returns all that it shows.
    private func wait(in place: Place, for text: String) throws -> String {
        guard let terminal = terminals[place] else { throw Trouble("no terminal shows \(text)") }
        try terminal.wait(for: "“\(text)”") { _ in self.text(in: place).contains(text) }
        let all = self.text(in: place)
        note(all)
        return all
    }

    /// The agent's screen, or the output of the latest command in another terminal.
    private func text(in place: Place) -> String {
        guard let terminal = terminals[place] else { return "" }
        return place == .agent ? terminal.screen.text : Self.plain(terminal.transcript[(marks[place] ?? 0)...])
    }

    private func note(_ text: String) {
        for line in text.split(separator: "\n") { shown.insert(Self.words(line)) }
    }

    // MARK: Text

    /// The text without control sequences. A carriage return begins a new line, because a program may overwrite its
    /// progress.
    private static func plain(_ bytes: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        var isSequence = false
        for byte in bytes {
            if isSequence {
                // ESC [ parameters, up to a letter (ECMA-48 §5.4).
                isSequence = !(0x40...0x7E).contains(byte) || byte == UInt8(ascii: "[")
            } else if byte == 0x1B {
                isSequence = true
            } else {
                text.append(byte == UInt8(ascii: "\r") ? UInt8(ascii: "\n") : byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The line with one space in place of several spaces or tabs, because columns may be wider elsewhere.
    private static func words(_ line: some StringProtocol) -> String {
        String(line).split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
    }

    /// Whether the line matches the pattern, in which `…` stands for any text.
    static func matches(_ line: String, _ pattern: String) -> Bool {
        let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return line == pattern }
        guard line.hasPrefix(first) else { return false }
        var rest = line.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
