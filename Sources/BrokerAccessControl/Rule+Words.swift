extension Rule {
    /// The apps and users to which the rule applies, as an English phrase.
    public var subject: String {
        var words: String
        let strengths = IdentityStrength.allCases.filter { self.strengths?.contains($0) == true }.map(\.rawValue)
        if let apps {
            words =
                (apps.words.count == 1 && !apps.hasPatterns ? "the app " : "the apps ") + Self.list(apps.words, "and")
            if !strengths.isEmpty { words += ", if \(Self.list(strengths, "or"))" }
        } else {
            words = strengths.isEmpty ? "every app" : "every \(Self.list(strengths, "or")) app"
        }
        var people: [String] = []
        if let users { people.append(Self.list("user", "users", users.sorted().map(String.init))) }
        if !groups.isEmpty { people.append("members of " + Self.list("group", "groups", groups.sorted())) }
        return people.isEmpty ? words : "\(words), of " + people.joined(separator: " and ")
    }

    private static func list(_ one: String, _ several: String, _ items: [String]) -> String {
        (items.count == 1 ? one : several) + " " + list(items, "and")
    }

    private static func list(_ items: [String], _ conjunction: String) -> String {
        guard let last = items.last, items.count > 1 else { return items.first ?? "none" }
        return items.dropLast().joined(separator: ", ") + " \(conjunction) " + last
    }
}
