import BrokerFormatting
import BrokerModel

/// What an app may change, which the person can set.
struct ChangesChoice: Hashable {
    private(set) var chosen: ChangeRight
    /// What is chosen without a change by the person.
    private let initial: ChangeRight
    /// Whether an answer without a change by the person must name it.
    private let isNamed: Bool
    /// What can be chosen, lowest first.
    let offered: [ChangeRight]

    init(_ prompt: Prompt) {
        let first = min(prompt.wantedChanges ?? .own, prompt.maximumChanges)
        initial = prompt.grantedChanges ?? first
        isNamed = prompt.grantedChanges == nil && prompt.wantedChanges != nil
        chosen = initial
        let most = max(prompt.maximumChanges, initial)
        offered = ChangeRight.allCases.filter { $0 <= most }
    }

    /// What to send with an answer; `nil` leaves it as it is, or as usual in a first grant.
    var answer: ChangeRight? { isNamed || chosen != initial ? chosen : nil }

    var canChange: Bool { offered.count > 1 }

    /// Chooses the next higher one, or the lowest after the highest.
    mutating func change() {
        chosen = offered.first { $0 > chosen } ?? offered.first ?? chosen
    }

    /// - Parameter wholeCard: whether the app gets all keys that need no naming. Only then may it delete what others added.
    static func words(_ right: ChangeRight, wholeCard: Bool, _ names: LocalizedNames) -> String {
        switch right {
        case .none: names.text(.changesNone)
        case .own: names.text(.changesOwn)
        case .edit: names.text(.changesEdit)
        case .all: names.text(wholeCard ? .changesAll : .changesAllButDelete)
        }
    }
}
