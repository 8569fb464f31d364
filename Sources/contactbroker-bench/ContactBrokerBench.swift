import Glibc

/// Measures the broker against its bars, and says which it meets.
///
///     contactbroker-bench [BUILD-FOLDER]
///
/// The broker it starts is the `contactbrokerd` beside it. `bench.json` is written to the build folder, `.build` if
/// none is named.
@main
enum ContactBrokerBench {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if let role = arguments.first.flatMap(Role.init) { return try role.run(Array(arguments.dropFirst())) }
            let build = arguments.first ?? ".build"
            guard let slash = Role.program.lastIndex(of: "/") else { throw Failure("this program has no path") }
            let report = try Benchmark.run(broker: Role.program[..<slash] + "/contactbrokerd", build: build)
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
