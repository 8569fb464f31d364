import Glibc

/// Counts the instructions that the broker's event loop runs for a call, with valgrind's callgrind. Unlike times, the
/// counts hardly depend on the machine's load, so a change that makes a call slower shows even on a busy machine.
extension Benchmark {
    private struct CountedCall {
        let name: String
        let task: String
        /// The calls that the app makes for the task, with those that it does not measure.
        let calls: Int
    }

    private static let countedCalls = [
        CountedCall(name: "one contact by identifier", task: "fetch-once 50", calls: 50),
        CountedCall(name: "by e-mail address", task: "email 30", calls: 50),
        CountedCall(name: "a page of 50 in order", task: "page 5", calls: 25),
        CountedCall(name: "all contacts", task: "list 1", calls: 1),
        CountedCall(name: "change one", task: "change 20", calls: 20),
    ]
    private static let countedRounds = 8

    /// Counts in a book of its own, and compares the counts with those in `Benchmarks/instructions.txt`.
    static func countInstructions(_ build: String, _ report: inout Report) throws {
        guard access(InstructionCounter.valgrind, X_OK) == 0 else {
            report.remarks.append("Instructions were not counted: valgrind is not installed.")
            return
        }
        try run(contacts, build, &report) { try $0.countInstructions(build) }
    }

    private mutating func countInstructions(_ build: String) throws {
        let maker = try app(Role.program)
        _ = try maker.ask("ask")
        _ = try maker.ask("import 0 \(size)", within: 120)
        let counter = try scratch.startCountedBroker()
        let app = try self.app(Role.program)
        // On one processor, the broker does not poll for the next call while valgrind runs.
        _ = try place(app, .oneCore)
        guard try app.ask("study", within: 120) == [Int64(size)] else {
            throw Failure("not every contact was imported")
        }
        _ = try app.ask("walk 10", within: 120)
        // The first calls load data for normalization, and the broker loads more after some time.
        for call in Self.countedCalls { _ = try app.ask(call.task, within: 120) }
        sleep(Self.untilIdle)
        var counts: [InstructionCount] = []
        for call in Self.countedCalls {
            // In some rounds a timer runs too, for example the one that ends deduplication windows. Therefore the lower
            // quartile counts.
            let rounds = try (0..<Self.countedRounds).map { _ in
                _ = try counter.instructions()
                _ = try app.ask(call.task, within: 300)
                return try counter.instructions() / call.calls
            }
            let count = rounds.sorted()[Self.countedRounds / 4]
            counts.append(InstructionCount(name: call.name, count: count))
            report.figures.append(Figure("instructions of the event loop: \(call.name)", .instructions(count)))
        }
        try report.compare(counts, build: build)
    }
}

/// The instructions of the event loop for one call.
struct InstructionCount {
    /// The maximum difference from the expected count, in percent.
    private static let tolerance = 3

    let name: String
    let count: Int

    var line: String { "\(count) \(name)\n" }

    /// Whether the count differs from the expected one by more than the tolerance.
    func differs(from expected: Int) -> Bool { abs(count - expected) * 100 > expected * Self.tolerance }

    /// Reads the counts of a file. Each line is a count and a name; a line that begins with `#` is a comment.
    static func read(_ path: String) throws -> [String: Int] {
        guard let file = fopen(path, "r") else { throw Failure(system: "could not read \(path)") }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let text = String(decoding: buffer[..<fread(&buffer, 1, buffer.count, file)], as: UTF8.self)
        let counts = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let words = line.split(separator: " ", maxSplits: 1)
            return (String(words.last ?? ""), Int(words.first ?? "") ?? 0)
        }
        return Dictionary(counts) { $1 }
    }
}

extension Report {
    /// Compares counts with the expected ones, and writes them to the build folder in the same form.
    fileprivate mutating func compare(_ counts: [InstructionCount], build: String) throws {
        try Self.write(Array(counts.map(\.line).joined().utf8.dropLast()), to: build + "/instructions.txt")
        let expected = try InstructionCount.read(build + "/../Benchmarks/instructions.txt")
        for count in counts {
            let old = expected[count.name] ?? 0
            guard count.differs(from: old) else { continue }
            failures.append(
                "\(count.name): \(count.count) instructions, but Benchmarks/instructions.txt expects \(old). If the change is "
                    + "wanted, write the counts of .build/instructions.txt there in the same commit, and say why in its message."
            )
        }
    }
}
