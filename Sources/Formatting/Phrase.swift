/// What fills a place in a ``Phrase``.
public enum Placeholder: String, CaseIterable, Sendable {
    case app, count
}

/// Words that a program says, by their key in the files below `Languages`.
public enum Phrase: String, CaseIterable, Sendable {
    case noName
}
