import Glibc

/// Measures the broker against its bars, and says which it meets.
///
///     contactbroker-bench [BUILD-FOLDER [full | many | million | lookups | saves | import | callers]]
///
/// Measures the release programs in contactbroker's build folder, `.build` if none is named, and writes `bench.json` there. `full` measures at 100,000 contacts too, which takes a
/// minute more, and `many` only there; `million` what is looked for at 1,000,000, in a book that takes some minutes to make and is
/// kept in the build folder for the next time; `lookups` what is looked for in the usual book; `saves` measures importing, saving and telling of it alone, `import` importing 100,000, and
/// `callers` how long it takes to identify a caller.
@main
enum ContactBrokerBench {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if let role = arguments.first.flatMap(Role.init) { return try role.run(Array(arguments.dropFirst())) }
            let build = arguments.first ?? ".build"
            guard arguments.count <= 2, let extent = Benchmark.Extent(rawValue: arguments.dropFirst().first ?? "")
            else {
                throw Failure("what is to be measured can be: full, many, million, lookups, saves, import, callers")
            }
            let report = try Benchmark.run(build: build, extent)
            print(report.table)
            print(report.unmet == 0 ? "Every bar is met." : "\(report.unmet) of the bars are NOT met.")
            try report.write(to: build + "/bench.json")
        } catch {
            // On standard output, where whoever started this process reads.
            print("contactbroker-bench: \(error)")
            fflush(nil)
            exit(2)
        }
    }
}
