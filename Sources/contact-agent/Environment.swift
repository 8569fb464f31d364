import BrokerFormatting
import Glibc

/// The environment variables that this program keeps; it removes all others at the start.
struct Environment: Hashable {
    /// The variables that the user may set for the installed agent. They select how the terminal draws, and
    /// the language of this program and of polkit's password prompt.
    private static let kept = ["TERM", "NO_COLOR", "LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LC_CTYPE"]
    /// Variables with the location of a session-mode broker. Only an agent without privilege reads them.
    private static let places = ["XDG_RUNTIME_DIR", "CONTACTBROKER_RUNTIME_DIR"]
    /// The maximum length, in bytes, of a value that the installed agent accepts. Names of terminals and
    /// languages are shorter.
    private static let longest = 64

    private(set) var values: [String: String]

    var terminalType: String? { values["TERM"] }
    /// Texts in the person's language. The environment only selects one of the built-in languages.
    var names: LocalizedNames { LocalizedNames(languages: PreferredLanguages.tags { values[$0] }) }
    /// Whether `NO_COLOR` is set and not empty (no-color.org).
    var noColor: Bool { !(values["NO_COLOR"] ?? "").isEmpty }

    /// Removes every variable that is not in a fixed list, so that the environment cannot influence a
    /// library.
    ///
    /// - Parameter isPrivileged: whether the program has more rights than the user who started it. Such a
    ///   program accepts only plain words, because a path could make a library read one of the user's files.
    static func reduce(isPrivileged: Bool) -> Environment {
        var values: [String: String] = [:]
        for name in isPrivileged ? kept : kept + places {
            guard let value = getenv(name).map({ String(cString: $0) }) else { continue }
            // Colons separate several languages.
            let plain = name == "LANGUAGE" ? value.replacing(":", with: "-") : value
            if !isPrivileged || isPlain(plain) { values[name] = value }
        }
        values["PATH"] = "/usr/bin:/bin"
        clearenv()
        for (name, value) in values { setenv(name, value, 1) }
        return Environment(values: values)
    }

    /// The environment for child programs.
    var lines: [String] { values.map { "\($0)=\($1)" }.sorted() }

    static func isPlain(_ value: String) -> Bool {
        value.utf8.count <= longest
            && value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._@+-".contains($0)) }
    }
}
