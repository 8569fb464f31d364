import Glibc

/// The memory of a process, as the kernel counts it (proc(5)).
struct Memory {
    /// The size of the pages that are in memory, in bytes.
    let resident: Int
    /// The maximum of ``resident`` since the process started.
    let peak: Int
    /// Like ``resident``, but each process counts only its share of a shared page; `nil` if the kernel does
    /// not report it.
    let proportional: Int?

    init(of process: pid_t) throws {
        let status = try Self.lines("/proc/\(process)/status")
        guard let resident = Self.bytes("VmRSS:", status), let peak = Self.bytes("VmHWM:", status) else {
            throw Failure("the memory of \(process) cannot be read")
        }
        self.resident = resident
        self.peak = peak
        proportional = (try? Self.lines("/proc/\(process)/smaps_rollup")).flatMap { Self.bytes("Pss:", $0) }
    }

    private static func lines(_ path: String) throws -> [Substring] {
        guard let file = fopen(path, "r") else { throw Failure(system: "could not read \(path)") }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
    }

    /// Returns a value of the status in bytes. The kernel's "kB" is 1,024 bytes.
    private static func bytes(_ name: String, _ lines: [Substring]) -> Int? {
        guard let line = lines.first(where: { $0.hasPrefix(name) }) else { return nil }
        return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1_024 }
    }
}
