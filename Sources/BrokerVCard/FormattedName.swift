/// A formatted name that is not the one that the writer derives from the other names. It is an extra property, with the
/// check of the names beside which it was read: if the person changes one of them, it no longer applies.
enum FormattedName {
    /// Returns the line as an extra property.
    ///
    /// - Parameters:
    ///   - isFirst: whether the line is the first formatted name of its card. Only the first takes the place of the derived
    ///     one; the check of any other ends in `.1`.
    ///   - check: the check of the contact's names (``KeptParameters/checks(of:)``).
    static func kept(_ line: ContentLine, isFirst: Bool, _ check: String) -> ContentLine {
        let own = Parameter(KeptParameters.checkName, [isFirst ? check : "\(check).1"])
        return line.with([own] + others(line), line.storage[line.value])
    }

    /// Returns the line as it was read; `nil` if it is the formatted name of other names.
    ///
    /// - Returns: also whether the line takes the place of the derived name. One without a check, from an app or an
    ///   earlier version, does.
    static func written(_ line: ContentLine, _ check: String) -> (line: ContentLine, isFirst: Bool)? {
        guard let own = line[KeptParameters.checkName] else { return (line, true) }
        let parts = own.split(separator: ".")
        guard parts.first.map(String.init) == check else { return nil }
        return (line.with(others(line), line.storage[line.value]), parts.count == 1)
    }

    private static func others(_ line: ContentLine) -> [Parameter] {
        line.parameters.filter { $0.name != KeptParameters.checkName }
    }
}
