import CAffinity
import Glibc

/// The processors on which this process may run.
struct Processors {
    let allowed: [CInt]

    init() {
        var processors = [CInt](repeating: 0, count: 1_024)
        let count = caffinity_allowed(&processors, CInt(processors.count))
        allowed = Array(processors.prefix(max(1, Int(count))))
    }

    var first: CInt { allowed[0] }
    /// The second processor; the first if there is only one.
    var second: CInt { allowed.count > 1 ? allowed[1] : allowed[0] }

    /// Pins every thread of a process to these processors. Threads that it starts later inherit the setting.
    static func pin(process: pid_t, to processors: [CInt]) throws {
        guard let folder = opendir("/proc/\(process)/task") else { throw Failure(system: "could not pin \(process)") }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let thread = pid_t(name) else { continue }
            let code = caffinity_set(thread, processors, CInt(processors.count))
            // The thread may have ended since the folder was read.
            guard code == 0 || code == -ESRCH else { throw Failure(system: "could not pin \(process)", -code) }
        }
    }
}
