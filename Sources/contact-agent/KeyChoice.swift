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

    /// - Returns: whether the key had an effect.
    mutating func press(_ key: Key, page: Int) -> Bool {
        if cursor.move(key, count: kinds.count, page: page) {
            guard case .row = key else { return true }
            toggle()
            return true
        }
        guard key == .character(" ") else { return false }
        toggle()
        return true
    }

    private mutating func toggle() {
        guard kinds.indices.contains(cursor.place) else { return }
        let kind = kinds[cursor.place].set
        guard given.isDisjoint(with: kind) else { return given.subtract(kind) }
        // A grant can have a part of a kind; turning the kind off and on again must not add the rest.
        let former = initial.intersection(kind)
        given.formUnion(former.isEmpty ? kind : former)
    }

    func lines(page: Int, _ names: LocalizedNames) -> [StyledLine] {
        cursor.visible(count: kinds.count, page: page).map { place in
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
