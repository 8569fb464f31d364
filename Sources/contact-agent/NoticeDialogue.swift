import BrokerFormatting

/// A prompt of a kind that this program does not know. The screen says that this program cannot show the
/// prompt. Any key except ``Key/other`` dismisses it.
struct NoticeDialogue: Dialogue {
    let prompt: Prompt
    let names: LocalizedNames

    var stage: String { "notice" }

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        key == .other ? .nothing : .answer(.dismissed)
    }

    mutating func found(_ result: SearchResult) {}
    mutating func resized(to size: ScreenSize) -> Effect { .nothing }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        return [.bold(words.text(.asksSomething))] + words.strengthLines + [words.process, words.purpose, ""]
            + StyledLine(names.text(.cannotShow)).wrapped(columns: size.columns - 1)
            + ["", StyledLine(names.text(.pressAnyKey))]
    }
}
