import BrokerFormatting
import BrokerModel

/// The kinds of keys that an app may read, each of which the person can turn on and off.
struct KeyChoice: Hashable {
    private(set) var kinds: [GrantedKeys.Kind]
    /// The keys that are on.
    private(set) var given: ContactKeySet
    /// The keys that are on without a change by the person.
    private let initial: ContactKeySet
    private var cursor = Cursor()

    /// - Parameters:
    ///   - asked: the keys that the app asked for. Notes and groups can be chosen only if they are among these.
    ///   - granted: the keys of the app's grant; `nil` before the first grant.
    ///   - most: the keys that the policy allows; `nil` means all.
    init(asked: [String], granted: [String]? = nil, most: [String]? = nil) {
        let named = ContactKeySet((asked + (granted ?? [])).compactMap(GrantKey.init)).intersection(.byName)
        let allowed = most.map { ContactKeySet($0.compactMap(GrantKey.init)) } ?? .grantable
        let offered = GrantedKeys.ordinary.union(named).intersection(allowed)
        kinds = GrantedKeys.kinds.compactMap { kind in
            let set = kind.set.intersection(offered)
            return set.isEmpty ? nil : GrantedKeys.Kind(phrase: kind.phrase, set: set)
        }
        initial =
            granted.map { ContactKeySet($0.compactMap(GrantKey.init)) } ?? GrantedKeys.ordinary.intersection(allowed)
        given = initial
    }

    var isChanged: Bool { given != initial }
    /// The keys to send with an answer; `nil` leaves them as they are, or as usual in a first grant.
    var keys: [String]? { isChanged ? given.grantNames : nil }
    var isNothing: Bool { kinds.allSatisfy { given.isDisjoint(with: $0.set) } }

    /// The keys in few words.
    func words(_ names: LocalizedNames) -> String {
        GrantedKeys.words(for: given.grantNames, names) ?? names.text(.nothing)
    }

    /// The number of rows on the screen, without the titles, a message and the hints.
    private static func page(on size: ScreenSize) -> Int { size.rows - 4 }

    /// - Returns: whether the key had an effect.
    mutating func press(_ key: Key, on size: ScreenSize) -> Bool {
        let isMove = cursor.move(key, count: kinds.count, page: Self.page(on: size))
        let isClick = if case .row = key { true } else { false }
        if isClick || key == .character(" ") { toggle() }
        return isMove || key == .character(" ")
    }

    private mutating func toggle() {
        guard kinds.indices.contains(cursor.place) else { return }
        let kind = kinds[cursor.place].set
        guard given.isDisjoint(with: kind) else { return given.subtract(kind) }
        // A grant can have a part of a kind; turning the kind off and on again must not add the rest.
        let former = initial.intersection(kind)
        given.formUnion(former.isEmpty ? kind : former)
    }

    /// The lines of the whole screen.
    func lines(_ title: StyledLine, on size: ScreenSize, _ names: LocalizedNames) -> [StyledLine] {
        [title]
            + cursor.visible(count: kinds.count, page: Self.page(on: size)).map { place in
                let kind = kinds[place]
                let isCurrent = place == cursor.place
                let sign = given.isDisjoint(with: kind.set) ? " " : "x"
                var line = StyledLine(
                    "\(isCurrent ? "›" : " ") [\(sign)] \(names.text(kind.phrase))", isCurrent ? .highlighted : .plain)
                line.action = .row(index: place)
                return line
            }
    }
}
