/// Recognises interpreters. An interpreter runs other programs, so its executable does not identify an app: a
/// grant for one script must not apply to the next.
///
/// Interpreters are recognised by file name. A copy under a different name is recognised if it equals the
/// system's own file (see ``SystemInterpreters``). Other interpreters are not recognised: a renamed one that
/// somebody built or took from another distribution, or one inside a larger program, such as an editor with
/// macros. They get grants by path and hash, like any program, and such a grant applies to every script that
/// they run. No list can be complete.
enum Interpreter {
    /// - Parameter name: the last part of the executable's path.
    static func isInterpreter(name: String) -> Bool {
        let name = name.lowercased()
        if families.contains(where: { name.hasPrefix($0) }) { return true }
        // The name may contain a version or build: `python3.11`, `lua5.4`, `guile-3.0`, `wish8.6`.
        let end = name.firstIndex { !$0.isLetter } ?? name.endIndex
        guard programs.contains(String(name[..<end])) else { return false }
        guard let next = name[end...].first else { return true }
        return next.isNumber || next == "-" || next == "."
    }

    /// Each entry matches any name that begins with it. Dynamic loaders run the program that they are given;
    /// emulators run programs of other systems.
    private static let families = ["python", "pypy", "ld-linux", "ld-musl", "ld.so", "ld64.so", "qemu-", "wine"]

    private static let programs: Set<String> = [
        // Shells.
        "bash", "sh", "dash", "ash", "zsh", "ksh", "mksh", "csh", "tcsh", "fish", "busybox", "toybox", "pwsh",
        // Languages.
        "perl", "ruby", "irb", "node", "nodejs", "deno", "bun", "java", "php", "lua", "luajit", "tclsh", "wish",
        "expect", "gjs", "guile", "r", "rscript", "julia", "mono", "dotnet", "racket", "sbcl", "clisp", "ocaml",
        "runghc", "erl", "beam", "escript", "swipl", "octave", "awk", "gawk", "mawk", "electron",
        // Programs that run another program inside themselves.
        "gdb", "lldb", "ld",
        // Programs that pass any input to a socket: a grant for one of them would be a grant for every script.
        "socat", "nc", "ncat", "netcat", "varlinkctl", "varlink",
    ]
}
