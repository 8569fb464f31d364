import Glibc

/// A program that has ended, and its output.
struct Command {
    let end: ChildProcess.End
    let output: String
    let errors: String

    /// The output with each run of spaces collapsed to one, because columns may become wider.
    var words: String {
        output.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.split(separator: " ").joined(separator: " ") }.joined(separator: "\n")
    }

    /// - Parameter answering: answers prompts while the program runs.
    init(
        _ program: String, _ arguments: [String] = [], in fixture: DaemonFixture, input: String = "",
        environment: [String: String] = [:], within time: Duration = .seconds(30),
        answering: () throws -> Void = {}
    ) throws {
        let running = try Running(program, arguments, in: fixture, input: input, environment: environment)
        try answering()
        self = try running.finish(within: time)
    }

    fileprivate init(end: ChildProcess.End, output: String, errors: String) {
        self.end = end
        self.output = output
        self.errors = errors
    }

    /// A program that still runs.
    final class Running {
        private let process: ChildProcess
        private let files: String

        init(
            _ program: String, _ arguments: [String] = [], in fixture: DaemonFixture, input: String = "",
            environment: [String: String] = [:]
        ) throws {
            var template = Array((fixture.folder + "/command.XXXXXX").utf8CString)
            guard mkdtemp(&template) != nil else { throw Trouble("no temporary folder") }
            files = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            try DaemonFixture.write(Array(input.utf8), to: files + "/in")
            let descriptors = [
                open(files + "/in", O_RDONLY | O_CLOEXEC),
                open(files + "/out", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600),
                open(files + "/err", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600),
            ]
            defer { for descriptor in descriptors { close(descriptor) } }
            let variables = [
                "PATH": "/usr/bin:/bin", "CONTACTBROKER_RUNTIME_DIR": fixture.runtime, "TZ": "UTC",
                "XDG_STATE_HOME": fixture.folder + "/own-state",
            ].merging(environment) { $1 }
            let words = fixture.prefix + [program] + arguments
            process = try ChildProcess(
                words[0], Array(words.dropFirst()), environment: variables,
                descriptors: descriptors.enumerated().map { (CInt($0.offset), $0.element) })
        }

        /// Waits until the program has written this many lines.
        func wait(for lines: Int, within time: Duration = .seconds(30)) throws -> [String] {
            let deadline = ContinuousClock.now + time
            while true {
                // Check this before reading: once the program has ended, all of its output is in the file.
                let isOver = process.hasEnded(within: .milliseconds(2)) || ContinuousClock.now >= deadline
                let said = DaemonFixture.text(of: files + "/out").split(separator: "\n").map(String.init)
                if said.count >= lines { return said }
                guard !isOver else {
                    throw Trouble("a program said \(said) and no more: \(DaemonFixture.text(of: files + "/err"))")
                }
            }
        }

        func end() { process.kill() }

        func finish(within time: Duration = .seconds(30)) throws -> Command {
            guard process.hasEnded(within: time), let end = process.end else {
                throw Trouble("a program did not end; it said \(DaemonFixture.text(of: files + "/err"))")
            }
            return Command(
                end: end, output: DaemonFixture.text(of: files + "/out"), errors: DaemonFixture.text(of: files + "/err")
            )
        }
    }
}
