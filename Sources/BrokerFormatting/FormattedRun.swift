/// A piece of a formatted text, and the field that it comes from.
public struct FormattedRun<Field: Hashable & Sendable>: Hashable, Sendable {
    public var text: String
    /// `nil` for text between values: a space, a comma, a line feed.
    public var field: Field?

    public init(_ text: String, _ field: Field? = nil) {
        self.text = text
        self.field = field
    }
}
