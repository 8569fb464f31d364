import BrokerFormatting
import BrokerModel

/// The dialogue in which an app that has access asks for more keys, such as notes. The person gives all of
/// them, some of them or none.
struct KeysDialogue: Dialogue {
    let prompt: Prompt
    let names: LocalizedNames
    private var menu = Menu()
    /// The keys that the person turned off.
    private var withheld: Set<String> = []

    var stage: String { "keys" }
    var refusal: Phrase { .dontAllow }

    init(_ prompt: Prompt, _ names: LocalizedNames = .inEnglish) {
        self.prompt = prompt
        self.names = names
    }

    /// The keys that the app asks for, as the person sees them. Each is turned on and off by a digit.
    private var kinds: [(digit: Character, kind: GrantedKeys.Kind, keys: [String])] {
        let all = GrantedKeys.kinds.compactMap { kind in
            let keys = prompt.keys.filter { kind.set.grantNames.contains($0) }
            return keys.isEmpty ? nil : (kind, keys)
        }
        return zip("123456789", all).map { ($0, $1.0, $1.1) }
    }

    private var given: [String] { kinds.flatMap(\.keys).filter { !withheld.contains($0) } }

    mutating func press(_ key: Key, on size: ScreenSize, isArmed: Bool) -> Effect {
        guard let chosen = menu.press(key, controls) else { return .nothing }
        switch chosen {
        case "N": return .answer(Answer(neverAskAgain: true))
        case "y" where !given.isEmpty: return .approval(Answer(keys: given), isArmed: isArmed)
        default:
            if let kind = kinds.first(where: { $0.digit == chosen }) { withheld.formSymmetricDifference(kind.keys) }
        }
        return .nothing
    }

    private var controls: [Control] {
        let allow = approval("y", names.text(.allowKeys))
        let single: [Control] =
            kinds.count < 2
            ? []
            : kinds.map { digit, kind, keys in
                let isOn = !withheld.isSuperset(of: keys)
                let name = names.text(kind.phrase)
                let setting = names.text(isOn ? .settingOn : .settingOff, [.name: name])
                return Control(key: digit, words: names.text(.change), setting: setting)
            }
        return (given.isEmpty ? [] : [allow]) + single + [control("N", .dontAllowEver)]
    }

    func lines(on size: ScreenSize, isArmed: Bool) -> [StyledLine] {
        let words = callerWords(on: size)
        let keys = GrantedKeys.words(for: prompt.keys, names) ?? names.text(.nothing)
        let title = StyledLine(words.text(.alsoWants, [.keys: keys]), .bold).wrapped(columns: size.columns - 1)
        let terms = [StyledLine("  " + names.text(.onlyKeys))] + words.rights(wholeCard: false, count: 1)
        return question(
            title[0], Array(title.dropFirst()) + introduction(words, words.purpose + terms),
            menu, controls, on: size, isArmed: isArmed)
    }

    var hints: [Hint] { menuHints(canGoBack: false) }
}
