import Glibc

/// A broker that runs under valgrind's callgrind, which counts its instructions.
final class InstructionCounter {
    static let valgrind = "/usr/bin/valgrind"
    private static let objcopy = "/usr/bin/objcopy"
    private static let vgdb = "/usr/bin/vgdb"

    let broker: ChildProcess
    /// The path of callgrind's files, without the dot and the number at the end.
    private let output: String
    private var dumps = 0

    /// - Parameters:
    ///   - program: the broker. A copy without debug information runs, because callgrind reads that information slowly.
    ///   - folder: where to put the copy and callgrind's files.
    init(_ program: String, _ arguments: [String], folder: String) throws {
        let copy = folder + "/contactbrokerd"
        try ChildProcess(Self.objcopy, ["--strip-debug", program, copy]).waitForEnd()
        output = folder + "/callgrind"
        broker = try ChildProcess(
            Self.valgrind,
            [
                "--tool=callgrind", "--separate-threads=yes", "--fair-sched=yes", "--log-file=/dev/null",
                "--callgrind-out-file=\(output)", copy,
            ] + arguments,
            // Sets of Swift have the same order in each run.
            readsErrors: true, environment: ["SWIFT_DETERMINISTIC_HASHING=1"])
    }

    /// Returns the instructions that the event loop ran since the last call. Other threads sync and checkpoint at fixed
    /// times, so what they run depends on the machine.
    func instructions() throws -> Int {
        dumps += 1
        // Callgrind writes the counts of each thread to a file, and begins again at zero.
        try ChildProcess(Self.vgdb, ["--pid=\(broker.pid)", "dump"], errorLog: "/dev/null").waitForEnd()
        // The event loop is the busiest thread.
        guard let count = try (1...99).compactMap({ try count(ofThread: $0) }).max() else {
            throw Failure("callgrind wrote no counts")
        }
        return count
    }

    private func count(ofThread thread: Int) throws -> Int? {
        let path = "\(output).\(dumps)-\(thread < 10 ? "0" : "")\(thread)"
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var (line, room): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(line) }
        while getline(&line, &room, file) >= 0, let text = line.map({ String(cString: $0) }) {
            guard text.hasPrefix("totals: ") else { continue }
            return text.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) }
        }
        return nil
    }
}
