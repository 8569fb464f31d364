/// Programs that run other people's programs, and so name no app: what the person granted to one script must not
/// reach the next.
///
/// They are known by the file's name, and copies under another name by being equal to the system's own (see
/// ``SystemInterpreters``). Neither finds an interpreter that somebody built themselves, one from another
/// distribution under another name, or one inside a larger program, such as an editor with macros: those are
/// granted to as what they are, a path and a hash, and run for whoever starts them. No list can be complete.
enum Interpreter {
    /// - Parameter name: the last part of the executable's path.
    static func isInterpreter(name: String) -> Bool {
        let name = name.lowercased()
        if families.contains(where: { name.hasPrefix($0) }) { return true }
        // A name with its version or build: `python3.11`, `lua5.4`, `guile-3.0`, `wish8.6`.
        let end = name.firstIndex { !$0.isLetter } ?? name.endIndex
        guard programs.contains(String(name[..<end])) else { return false }
        guard let next = name[end...].first else { return true }
        return next.isNumber || next == "-" || next == "."
    }

    /// Anything that begins so. Dynamic loaders run the program that they are given, emulators those of other systems.
    private static let families = ["python", "pypy", "ld-linux", "ld-musl", "ld.so", "ld64.so", "qemu-", "wine"]

    private static let programs: Set<String> = [
        // Shells.
        "bash", "sh", "dash", "ash", "zsh", "ksh", "mksh", "csh", "tcsh", "fish", "busybox", "toybox", "pwsh",
        // Languages.
        "perl", "ruby", "irb", "node", "nodejs", "deno", "bun", "java", "php", "lua", "luajit", "tclsh", "wish",
        "expect", "gjs", "guile", "r", "rscript", "julia", "mono", "dotnet", "racket", "sbcl", "clisp", "ocaml",
        "runghc", "erl", "beam", "escript", "swipl", "octave", "awk", "gawk", "mawk", "electron",
        // They run a program inside themselves.
        "gdb", "lldb", "ld",
        // They carry whatever they are handed to a socket: what is granted to them is granted to every script.
        "socat", "nc", "ncat", "netcat", "varlinkctl", "varlink",
    ]
}
