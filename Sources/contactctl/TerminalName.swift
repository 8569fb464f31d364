import Glibc

/// Finds the terminal of a session in `/proc`.
enum TerminalName {
    /// Returns a name such as `pts/3`; `nil` if the session has ended, has no terminal, or belongs to a user whose
    /// processes are hidden.
    static func ofSession(_ leader: pid_t) -> String? {
        guard let file = fopen("/proc/\(leader)/stat", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 1_024)
        guard fgets(&line, CInt(line.count), file) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The name of the process, in parentheses, may contain anything. Behind it follow the state, parent, process
        // group, session and terminal (proc_pid_stat(5)).
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[end...].dropFirst().split(separator: " ")
        guard fields.count > 4, let device = UInt32(fields[4]), device != 0 else { return nil }
        let (major, minor) = (device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xFFF00)
        switch major {
        case 136...143: return "pts/\((major - 136) * 256 + minor)"
        case 4: return "tty\(minor)"
        default: return nil
        }
    }
}
