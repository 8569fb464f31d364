import BrokerFormatting
import BrokerModel

/// The kinds of keys that an app may read, each of which the person can turn on and off.
struct KeyChoice: Hashable {
    private(set) var kinds: [GrantedKeys.Kind]
    /// The keys that are on.
    private(set) var given: ContactKeySet
    /// The keys that are on without a change by the person.
    private let initial: ContactKeySet
    /// Whether an answer without a change by the person must name the keys.
    private let isNamed: Bool
    private var cursor = Cursor()

    /// - Parameters:
    ///   - asked: the keys that the app asked for; `nil` if it named none. Notes and groups can be chosen only if they
    ///     are among these.
    ///   - granted: the keys of the app's grant; `nil` before the first grant.
    ///   - most: the keys that the policy allows; `nil` means all.
    init(asked: [String]?, granted: [String]? = nil, most: [String]? = nil) {
        let wanted = ContactKeySet((asked ?? []).compactMap(GrantKey.init))
        let known = granted.map { ContactKeySet($0.compactMap(GrantKey.init)) }
        let named = wanted.union(known ?? []).intersection(.byName)
        let allowed = most.map { ContactKeySet($0.compactMap(GrantKey.init)) } ?? .grantable
        let offered = GrantedKeys.ordinary.union(named).intersection(allowed)
        kinds = GrantedKeys.kinds.compactMap { kind in
            let set = kind.set.intersection(offered)
            return set.isEmpty ? nil : GrantedKeys.Kind(phrase: kind.phrase, set: set)
        }
        // The app gets what it asked for. Only the person adds notes and unknown properties.
        let usual = wanted.isEmpty ? GrantedKeys.ordinary : wanted.subtracting(.named)
        initial = known ?? usual.intersection(allowed)
        isNamed = known == nil && !wanted.isEmpty
        given = initial
    }

    var isChanged: Bool { given != initial }
    /// The keys to send with an answer; `nil` leaves them as they are, or as usual in a first grant.
    var keys: [String]? { isChanged || isNamed ? given.grantNames : nil }
    /// Whether the app gets every key that needs no naming, so that it may also delete contacts.
    var isWholeCard: Bool { given.isSuperset(of: GrantedKeys.ordinary) }
    /// Whether notes are on; `nil` if the app did not ask for them.
    var hasNotes: Bool? { notes.map { !given.isDisjoint(with: $0.set) } }
    private var notes: GrantedKeys.Kind? { kinds.first { !$0.set.isDisjoint(with: .named) } }
    var isNothing: Bool { kinds.allSatisfy { given.isDisjoint(with: $0.set) } }

    /// The keys in few words.
    func words(_ names: LocalizedNames) -> String {
        GrantedKeys.words(for: given.grantNames, names) ?? names.text(.nothing)
    }

    /// The number of rows on the screen, without the titles, the choices of several kinds, a message and the hints.
    private static func page(on size: ScreenSize) -> Int { size.rows - 5 }

    /// - Returns: whether the key had an effect.
    mutating func press(_ key: Key, on size: ScreenSize) -> Bool {
        let isMove = cursor.move(key, count: kinds.count, page: Self.page(on: size))
        switch key {
        case .row, .character(" "): if kinds.indices.contains(cursor.place) { toggle(kinds[cursor.place].set) }
        case .character("a"): for kind in kinds { given.formUnion(kind.set) }
        case .character("n"): for kind in kinds { given.subtract(kind.set) }
        case .character("p"):
            for kind in kinds {
                let isMeant = kind.phrase == .keysNames || kind.phrase == .keysPhones
                if given.isDisjoint(with: kind.set) == isMeant { toggle(kind.set) }
            }
        default: return isMove
        }
        return true
    }

    /// Adds notes, or leaves them out.
    mutating func toggleNotes() { if let notes { toggle(notes.set) } }

    private mutating func toggle(_ kind: ContactKeySet) {
        guard given.isDisjoint(with: kind) else { return given.subtract(kind) }
        // A grant can have a part of a kind; turning the kind off and on again must not add the rest.
        let former = initial.intersection(kind)
        given.formUnion(former.isEmpty ? kind : former)
    }

    /// The lines of the whole screen.
    func lines(_ title: StyledLine, on size: ScreenSize, _ names: LocalizedNames) -> [StyledLine] {
        let visible = cursor.visible(count: kinds.count, page: Self.page(on: size))
        let choices: [(String, Phrase)] = [("a", .keysAll), ("n", .keysNone), ("p", .keysNamesPhones)]
        var several = choices.reduce(StyledLine("", .plain)) { line, choice in
            line + "  " + .bold("[\(choice.0)]") + StyledLine(" " + names.text(choice.1))
        }
        if visible.count < kinds.count {
            let place = names.place(visible.lowerBound + 1, visible.upperBound, of: kinds.count)
            several = several + .dim("  " + place)
        }
        return [title, several]
            + visible.map { place in
                let sign = given.isDisjoint(with: kinds[place].set) ? " " : "x"
                return .row(place, isCurrent: place == cursor.place, "[\(sign)] \(names.text(kinds[place].phrase))")
            }
    }
}
