import Glibc

/// What this program takes from its environment; everything else is forgotten at the start.
struct Environment: Hashable {
    var terminalType: String?
    /// no-color.org: set and not empty.
    var noColor: Bool

    private static let kept = [
        "TERM", "NO_COLOR", "LC_ALL", "LC_MESSAGES", "LANG", "XDG_RUNTIME_DIR", "CONTACTBROKER_RUNTIME_DIR",
    ]

    /// Empties the environment but for a fixed list: what is not in it can steer no library.
    static func reduce() -> Environment {
        let values = kept.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
        clearenv()
        for (name, value) in values { setenv(name, value, 1) }
        setenv("PATH", "/usr/bin:/bin", 1)
        let named = Dictionary(uniqueKeysWithValues: values)
        return Environment(terminalType: named["TERM"], noColor: !(named["NO_COLOR"] ?? "").isEmpty)
    }
}
