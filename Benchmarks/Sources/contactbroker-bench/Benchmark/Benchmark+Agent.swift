import CBrokerLinux
import Glibc

/// Measures how long a person waits for the rows of a list in `contact-agent`.
extension Benchmark {
    private static let keys = 200
    /// A display shows sixty pictures in a second.
    private static let agentBar = Bar.atMost(.time(16_000))

    /// Opens one app's access in the agent, and types the first letters of names.
    mutating func measureAgent() throws {
        let terminal = try AgentTerminal(scratch)
        defer { terminal.end() }
        try terminal.wait(for: "›")
        terminal.send("\r")
        try terminal.wait(for: "[c]")
        terminal.send("c")
        try terminal.wait(for: "Search")
        var times: [Int64] = []
        for letter in "aegiklmnrs" {
            for _ in 0..<Self.keys / 10 {
                // Erases the query.
                terminal.send("\u{15}")
                try terminal.wait(for: "[Esc]")
                let start = Clock.now()
                terminal.send(String(letter))
                // The hints are the last line, below all rows.
                try terminal.wait(for: "\(letter)_", then: "[Esc]")
                times.append(Clock.now() - start)
            }
        }
        let samples = Samples(times)
        report.figures.append(Figure("contact-agent: all rows of a list, after a key", samples))
        report.comparisons.append(
            Comparison(
                work: "rows appear after a key (contact-agent, p99)", ours: .time(samples.p99),
                bar: usual(Self.agentBar)))
    }
}

/// `contact-agent` in a pseudo-terminal of 80 columns and 24 rows.
private final class AgentTerminal {
    private let descriptor: CInt
    private let process: pid_t
    private var output: [UInt8] = []

    init(_ scratch: Scratch) throws {
        let program = scratch.program("contact-agent")
        var words = [strdup(program), nil]
        var variables = (["TERM=xterm-256color", "LANG=C.UTF-8"] + scratch.environment).map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var child: pid_t = 0
        descriptor = clinux_pseudo_terminal(
            program, &words, &variables, clinux_terminal_size(rows: 24, columns: 80), &child)
        guard descriptor >= 0 else {
            throw Failure("could not start \(program): \(String(cString: strerror(-descriptor)))")
        }
        process = child
    }

    func send(_ keys: String) {
        output = []
        _ = write(descriptor, keys, keys.utf8.count)
    }

    /// Reads until the program has written these texts, one after the other.
    func wait(for first: String, then second: String = "") throws {
        let texts = [Array(first.utf8), Array(second.utf8)]
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while !Self.contains(texts, in: output) {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 10_000) > 0 else { throw Failure("contact-agent did not show \(first) \(second)") }
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { throw Failure("contact-agent ended before it showed \(first)") }
            output += bytes[..<count]
        }
    }

    private static func contains(_ texts: [[UInt8]], in output: [UInt8]) -> Bool {
        var rest = output[...]
        for text in texts where !text.isEmpty {
            guard let found = rest.indices.first(where: { rest[$0...].starts(with: text) }) else { return false }
            rest = rest[(found + text.count)...]
        }
        return true
    }

    func end() {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        close(descriptor)
    }
}
