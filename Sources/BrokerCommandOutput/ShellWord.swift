import ArgumentParser

/// Words for a shell's command line. Apps choose their names, and no shell may find a command in one.
public enum ShellWord {
    /// Whether every shell takes the word as it is: ASCII letters, digits, `.`, `_`, `-` and `/`. A word that begins with a
    /// hyphen would be an option.
    public static func isPlain(_ word: String) -> Bool {
        guard let first = word.utf8.first, first != UInt8(ascii: "-") else { return false }
        return word.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "._-/".utf8.contains($0)
        }
    }

    /// Returns the word for pasting into bash, zsh or fish: as it is if it is plain, otherwise in single quotes. ``read(_:)``
    /// returns the word again.
    ///
    /// A single quote and a backslash become code points, because the shells disagree about them between quotes, and so
    /// does a hyphen at the beginning.
    ///
    /// - Parameter isShown: whether a character may stay as it is.
    public static func quoted(_ word: String, showing isShown: (Unicode.Scalar) -> Bool = { _ in true }) -> String {
        guard !isPlain(word) else { return word }
        var quoted = "'"
        for scalar in word.unicodeScalars {
            let isSafe = scalar != "'" && scalar != "\\" && !(scalar == "-" && quoted == "'")
            if isSafe, isShown(scalar) { quoted.unicodeScalars.append(scalar) } else { quoted += scalar.codePoint }
        }
        return quoted + "'"
    }

    /// Returns what ``quoted(_:showing:)`` made a word from that a person pasted, after the shell has removed the quotes.
    @Sendable public static func read(_ word: String) -> String {
        word.replacing(/\\u\{([0-9A-F]{1,6})\}/) { match in
            UInt32(match.1, radix: 16).flatMap(Unicode.Scalar.init).map { String($0) } ?? String(match.0)
        }
    }
}

extension Unicode.Scalar {
    /// The character's number, such as `\u{202E}`.
    public var codePoint: String { "\\u{\(String(value, radix: 16, uppercase: true))}" }
}

extension CompletionKind {
    /// Completes words that apps or users may have chosen. A shell never gets to see one that is not plain.
    public static func words(_ words: @escaping @Sendable () -> [String]) -> CompletionKind {
        .custom { _, _, _ in words().filter(ShellWord.isPlain) }
    }

    /// Completes nothing: contacts never get into a completion.
    public static var nothing: CompletionKind { .words { [] } }
}
