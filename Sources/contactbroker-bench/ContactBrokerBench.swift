import Glibc

/// Measures the broker against its bars, and says which it meets.
///
///     contactbroker-bench [BUILD-FOLDER [full | callers]]
///
/// The broker it starts is the `contactbrokerd` beside it, and cards are imported by the `contactbook` there. `bench.json`
/// is written to the build folder, `.build` if none is named. `full` measures at 100,000 contacts too, which takes a
/// minute more; `callers` measures how long it takes to identify a caller, and nothing else.
@main
enum ContactBrokerBench {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if let role = arguments.first.flatMap(Role.init) { return try role.run(Array(arguments.dropFirst())) }
            let build = arguments.first ?? ".build"
            let extent = arguments.dropFirst().first ?? ""
            guard arguments.count <= 2, ["", "full", "callers"].contains(extent) else {
                throw Failure("what is to be measured can be: full, callers")
            }
            let report =
                extent == "callers"
                ? try Benchmark.runIdentification(build: build)
                : try Benchmark.run(build: build, isFull: extent == "full")
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
