/// A prompt of a kind that this program cannot show: it says so and refuses for the person.
struct NoticeDialogue: Dialogue {
    let prompt: Prompt

    var stage: String { "notice" }

    init(_ prompt: Prompt) { self.prompt = prompt }

    func begin(on size: ScreenSize) -> Effect { .nothing }

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        key == .other ? .nothing : .answer(.dismissed)
    }

    mutating func found(_ result: SearchResult) {}
    mutating func resized(to size: ScreenSize) -> Effect { .nothing }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = CallerWords(prompt: prompt, columns: size.columns)
        return [.bold("\(words.name) asks something.")] + words.sureness + [
            words.process, words.purpose, "",
            "This agent cannot show that. It is dismissed; nothing is shared.", "", "Press any key.",
        ]
    }
}
