/// The text of one policy file.
public struct PolicyText: Hashable, Sendable {
    /// The file's name, as the administrator knows it. Errors name it.
    public let file: String
    public let text: String

    public init(file: String, text: String) {
        self.file = file
        self.text = text
    }
}
