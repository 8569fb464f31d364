import Glibc

/// Words that a shell offers to complete. They never include contacts.
enum Completions {
    /// The names of all users in passwd(5).
    static func users() -> [String] {
        setpwent()
        defer { endpwent() }
        var names: [String] = []
        while let entry = getpwent() { names.append(String(cString: entry.pointee.pw_name)) }
        return names.sorted()
    }

    /// The names of the user's own apps. A broker that does not answer has none, because a completion must not print
    /// an error.
    static func apps() -> [String] {
        guard let grants = try? AdminClient(to: "list the apps", mayAsk: false).grants(of: .own) else { return [] }
        return Set(grants.map { $0.name.name }).sorted()
    }
}
