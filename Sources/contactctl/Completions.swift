import BrokerCommandOutput
import Glibc

/// Words that a shell offers to complete. They never include contacts.
enum Completions {
    /// The names of all users in passwd(5).
    @Sendable static func users() -> [String] {
        setpwent()
        defer { endpwent() }
        var names: [String] = []
        while let entry = getpwent() { names.append(String(cString: entry.pointee.pw_name)) }
        return names.sorted()
    }

    /// The user's own apps: the name, or the path or identifier if the name is none that a shell may get. A broker that
    /// does not answer has none, because a completion must not print an error.
    @Sendable static func apps() -> [String] {
        guard let grants = try? AdminClient(to: "list the apps", mayAsk: false).grants(of: .own) else { return [] }
        return Set(grants.map { ShellWord.isPlain($0.displayName) ? $0.displayName : $0.name.place }).sorted()
    }
}
