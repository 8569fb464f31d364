import BrokerAccessControl
import Glibc

/// Finds the terminal of a session in `/proc`.
enum TerminalName {
    /// Returns a name such as `pts/3`; `nil` if the session has ended, has no terminal, or belongs to a user whose
    /// processes are hidden.
    static func ofSession(_ leader: pid_t) -> String? {
        guard let file = fopen("/proc/\(leader)/stat", "r") else { return nil }
        defer { fclose(file) }
        var line = [UInt8](repeating: 0, count: 1_024)
        let count = fread(&line, 1, line.count, file)
        return ProcessStatus(line: Array(line[..<count]))?.terminal?.name
    }
}
