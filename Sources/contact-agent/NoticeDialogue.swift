import BrokerFormatting

/// A prompt of a kind that this program does not know. The screen says that this program cannot show the
/// prompt. Return or Escape dismisses it.
struct NoticeDialogue: Dialogue {
    let prompt: Prompt
    let names: LocalizedNames

    var stage: String { "notice" }
    var refusal: Phrase { .close }

    func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        key == .enter ? .answer(.dismissed) : .nothing
    }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        return [.bold(words.text(.asksSomething))] + introduction(words, words.purpose + [""])
            + StyledLine(names.text(.cannotShow)).wrapped(columns: size.columns - 1)
    }

    var hints: [Hint] { [names.hint("Esc", .close)] }
}
