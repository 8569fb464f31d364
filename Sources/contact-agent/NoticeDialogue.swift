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
        let wish =
            switch prompt.kind {
            case .manage: "wants you to look through what you share with it."
            case .pick: "wants you to pick contacts for once."
            case .propose: "offers a contact for your address book."
            case .access, .button, nil: "asks something."
            }
        return [.bold("\(words.name) \(wish)")] + words.sureness + [
            words.process, words.purpose, "",
            "This agent cannot show that. It is dismissed; nothing is shared.", "", "Press any key.",
        ]
    }
}
