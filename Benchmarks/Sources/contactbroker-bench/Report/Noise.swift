import Glibc

/// The load of other programs on the processors. It makes the benchmark's figures worse.
struct Noise {
    /// The kernel's load average over the last minute (proc_loadavg(5)).
    let load: String
    /// The busy part of all processors' time, from 0 to 1, while the benchmark does nothing.
    let busy: Double
    /// The part of the time that the hypervisor gave to other machines.
    let stolen: Double

    /// Measures the noise, and blocks for two seconds meanwhile.
    static func measure() throws -> Noise {
        let before = try ticks()
        sleep(2)
        let after = try ticks()
        let spent = zip(after, before).map { max(0, $0 - $1) }
        let total = Double(max(1, spent.reduce(0, +)))
        let idle = spent[Self.idleColumn] + spent[Self.idleColumn + 1]
        return Noise(
            load: try line("/proc/loadavg").split(separator: " ").first.map(String.init) ?? "?",
            busy: 1 - Double(idle) / total, stolen: Double(spent[Self.stealColumn]) / total)
    }

    var text: String {
        "load average \(load), other programs on \(percent(busy)) of the processors, \(percent(stolen)) stolen by the hypervisor"
    }

    private func percent(_ part: Double) -> String { "\(Int((part * 100).rounded())) %" }

    // The columns are user, nice, system, idle, iowait, irq, softirq and steal (proc_stat(5)). The columns
    // after them are already part of user and nice.
    private static let idleColumn = 3
    private static let stealColumn = 7

    private static func ticks() throws -> [Int] {
        let numbers = try line("/proc/stat").split(separator: " ").dropFirst().compactMap { Int($0) }
        guard numbers.count > stealColumn else { throw Failure("cannot read the processors' time from /proc/stat") }
        return Array(numbers[...stealColumn])
    }

    private static func line(_ path: String) throws -> String {
        guard let file = fopen(path, "r") else { throw Failure(system: "could not read \(path)") }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
