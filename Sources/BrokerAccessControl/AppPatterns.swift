/// The apps that a rule names: whole identifiers, and patterns such as `org.example.*`.
///
/// A pattern is a whole number of parts of an identifier, followed by `.*`. `org.example.*` matches `org.example.Mail`
/// and `org.example.Mail.Helper`, but neither `org.example` nor `org.examples.Mail`.
public struct AppPatterns: Hashable, Sendable, ExpressibleByArrayLiteral {
    public let identifiers: Set<String>
    /// The patterns without their `*`, so each ends with a dot.
    private let prefixes: Set<String>

    public init(_ words: some Sequence<String>) {
        identifiers = Set(words.filter { !$0.hasSuffix(Self.ending) })
        prefixes = Set(words.filter { $0.hasSuffix(Self.ending) }.map { String($0.dropLast()) })
    }

    public init(arrayLiteral words: String...) { self.init(words) }

    private static let ending = ".*"

    public var hasPatterns: Bool { !prefixes.isEmpty }

    /// The identifiers and patterns as a policy file has them, sorted.
    public var words: [String] { identifiers.sorted() + prefixes.sorted().map { $0 + "*" } }

    public func contains(_ app: String) -> Bool { identifiers.contains(app) || hasPrefix(of: app) }

    private func hasPrefix(of app: String) -> Bool { prefixes.contains { app.hasPrefix($0) && app != $0 } }

    /// Whether every app that `other` contains is in this value too.
    public func isSuperset(of other: AppPatterns) -> Bool {
        other.identifiers.allSatisfy(contains)
            && other.prefixes.allSatisfy { prefix in prefixes.contains { prefix.hasPrefix($0) } }
    }

    /// Returns why a word cannot name apps in a rule, as a phrase for an error; `nil` if it can.
    public static func objection(to word: String) -> String? {
        guard word.contains("*") else { return nil }
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.last == "*", !parts.dropLast().contains(where: { $0.isEmpty || $0.contains("*") }) else {
            return "a pattern is the beginning of identifiers followed by .*, such as org.example.*"
        }
        // A single part, such as org, belongs to no organization.
        guard parts.count > 2 else {
            return "a pattern needs at least two parts before the .*, such as org.example.*"
        }
        // The identifier snap.NAME has no parts below NAME. Snaps whose names begin alike can come from anybody.
        guard parts.first != "snap" else { return "a snap's identifier is snap.NAME: name each snap" }
        return nil
    }
}
