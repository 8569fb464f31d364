import Glibc

/// Measures the broker and the peer, compares them, and reports which bars are met.
///
///     contactbroker-bench [BUILD-FOLDER [full | many | million | lookups | saves | audit | instructions | import |
///         callers]]
///     contactbroker-bench BUILD-FOLDER privacy [CALLS [WORD…]]
///
/// Measures the release programs in contactbroker's build folder, which is `.build` by default, and writes
/// `bench.json` there. ``Benchmark/Extent`` explains the words. Generating the book of a million contacts
/// takes minutes; it is kept in the build folder for the next run. ``Privacy`` explains the second form.
@main
enum ContactBrokerBench {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if let role = arguments.first.flatMap(Role.init) { return try role.run(Array(arguments.dropFirst())) }
            let build = try absolute(arguments.first ?? ".build")
            if arguments.count >= 2, arguments[1] == "privacy" {
                guard let calls = Int(arguments.dropFirst(2).first ?? "\(Privacy.calls)"), calls > 0 else {
                    throw Failure("the number of calls must be a positive number")
                }
                let isPrivate = try Privacy.run(build: build, calls: calls, only: Array(arguments.dropFirst(3)))
                exit(isPrivate ? 0 : 1)
            }
            guard arguments.count <= 2, let extent = Benchmark.Extent(rawValue: arguments.dropFirst().first ?? "")
            else {
                throw Failure(
                    "what is to be measured can be: full, many, million, lookups, saves, audit, instructions, import, "
                        + "callers")
            }
            let report = try Benchmark.run(build: build, extent)
            print(report.text)
            try report.write(to: build + "/bench.json")
            if !report.failures.isEmpty { exit(1) }
        } catch {
            // The error goes to standard output, because a parent process of the benchmark reads it there.
            print("contactbroker-bench: \(error)")
            fflush(nil)
            exit(2)
        }
    }

    /// Returns the absolute path of a folder, because the peer needs absolute paths.
    private static func absolute(_ folder: String) throws -> String {
        guard let path = realpath(folder, nil) else { throw Failure(system: "could not find \(folder)") }
        defer { free(path) }
        return String(cString: path)
    }
}
