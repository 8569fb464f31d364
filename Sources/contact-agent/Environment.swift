import BrokerFormatting
import Glibc

/// What this program takes from its environment; everything else is forgotten at the start.
struct Environment: Hashable {
    /// What whoever starts the installed agent may choose: how their terminal draws, and in which language they are asked, by
    /// this program and by polkit for their password.
    private static let kept = ["TERM", "NO_COLOR", "LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LC_CTYPE"]
    /// Where a broker of the user's own may be: of use only to an agent that may do no more than they.
    private static let places = ["XDG_RUNTIME_DIR", "CONTACTBROKER_RUNTIME_DIR"]
    /// Longest value that the installed agent takes: no name of a terminal or a language is longer.
    private static let longest = 64

    private(set) var values: [String: String]

    var terminalType: String? { values["TERM"] }
    /// What is said, in one of the languages that the program carries: the environment chooses among them and no more.
    var names: LocalizedNames { LocalizedNames(languages: PreferredLanguages.tags { values[$0] }) }
    /// no-color.org: set and not empty.
    var noColor: Bool { !(values["NO_COLOR"] ?? "").isEmpty }

    /// Empties the environment but for a fixed list: what is not in it can steer no library.
    ///
    /// - Parameter isPrivileged: the program may do more than whoever started it, and so takes plain words only: a path
    ///   could make a library read a file of theirs.
    static func reduce(isPrivileged: Bool) -> Environment {
        var values: [String: String] = [:]
        for name in isPrivileged ? kept : kept + places {
            guard let value = getenv(name).map({ String(cString: $0) }) else { continue }
            // Several languages are parted by colons.
            let plain = name == "LANGUAGE" ? value.replacing(":", with: "-") : value
            if !isPrivileged || isPlain(plain) { values[name] = value }
        }
        values["PATH"] = "/usr/bin:/bin"
        clearenv()
        for (name, value) in values { setenv(name, value, 1) }
        return Environment(values: values)
    }

    /// As programs that are started are given it.
    var lines: [String] { values.map { "\($0)=\($1)" }.sorted() }

    static func isPlain(_ value: String) -> Bool {
        value.utf8.count <= longest
            && value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._@+-".contains($0)) }
    }
}
