import Glibc

/// Measures timing side channels: whether an app can tell by the time of a call what it may not learn.
enum Privacy {
    /// The calls of each class, unless `CALLS` says otherwise; see ``Separation``.
    static let calls = 100_000

    /// - Parameters:
    ///   - words: names of families, and words that select cases by their names; empty measures everything.
    ///   - calls: the calls of each class.
    /// - Returns: whether no case leaks.
    static func run(build: String, calls: Int, only words: [String]) throws -> Bool {
        let names = Set(words).intersection(PrivacyFamily.allCases.map(\.rawValue))
        let rest = Set(words).subtracting(names)
        var report = PrivacyReport(calls: calls, threats: try text(of: build + "/../Documentation/Threats.md"))
        report.noise.append("Before the run: \(try Noise.measure().text).")
        for family in PrivacyFamily.allCases where names.isEmpty || names.contains(family.rawValue) {
            Benchmark.say("\(family.rawValue): making contacts")
            let world = try PrivacyWorld(build: build)
            let cases = try family.cases(world).filter { item in
                rest.isEmpty || rest.contains { item.name.lowercased().contains($0.lowercased()) }
            }
            try world.pinBroker()
            for (place, item) in cases.enumerated() {
                try report.check(item)
                let row = try Measurement(item, calls: calls)
                report.add(row, of: family)
                Benchmark.say("\(family.rawValue) \(place + 1)/\(cases.count): \(item.name): \(row.text)")
            }
            withExtendedLifetime(world) {}
        }
        report.noise.append("After the run: \(try Noise.measure().text).")
        guard !report.isEmpty else { throw Failure("no case has the words \(words.joined(separator: " "))") }
        print(report.text)
        try report.write(to: build + "/privacy.json")
        return !report.leaks
    }

    private static func text(of path: String) throws -> String {
        guard let file = fopen(path, "r") else { throw Failure(system: "could not read \(path)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
