/// The properties of the model's contacts. Every set of keys that the person chooses includes the first one, by which
/// the test recognises the contact in an answer.
enum ModelKey: String, CaseIterable {
    case previousFamilyName, givenName, familyName, nickname, organizationName
    case phoneNumbers, emailAddresses, note, creationDate, modificationDate

    /// The properties in which a search by name finds words.
    static let names: [ModelKey] = [.previousFamilyName, .givenName, .familyName, .nickname, .organizationName]
    static let written: [ModelKey] = names + [.phoneNumbers, .emailAddresses, .note]
    var isList: Bool { self == .phoneNumbers || self == .emailAddresses }
}

struct ModelValue: Hashable {
    var identifier: Int
    var text: String
}

/// A contact of the model.
struct ModelContact {
    let number: Int
    /// The key of the app that created it. Empty for a card that the person accepted.
    let maker: String
    let created: Int64
    var modified: Int64
    /// Its container; 0 for the default one.
    var container = 0
    /// Whether all values were written by apps that see every card.
    var isSure = false
    private(set) var values: [ModelKey: [ModelValue]] = [:]
    /// The highest identifier that a value of each property ever had.
    private(set) var highest: [ModelKey: Int] = [:]
    /// When each property last changed, in moments of the model.
    var touched: [ModelKey: Int] = [:]

    init(number: Int, maker: String, at seconds: Int64) {
        (self.number, self.maker) = (number, maker)
        (created, modified) = (seconds, seconds)
    }

    static func mark(_ number: Int) -> String { "Zz\(number)" }

    func texts(_ key: ModelKey) -> [String] {
        switch key {
        case .creationDate: [ModelDate.text(created)]
        case .modificationDate: [ModelDate.text(modified)]
        default: values[key]?.map(\.text) ?? []
        }
    }

    /// Writes one property. A value that stays keeps its identifier, and no identifier is used twice. Returns whether
    /// it changed.
    mutating func set(_ key: ModelKey, _ texts: [String]) -> Bool {
        let former = values[key] ?? []
        guard texts != former.map(\.text) else { return false }
        var free = former
        values[key] = texts.map { text in
            if let place = free.firstIndex(where: { $0.text == text }) { return free.remove(at: place) }
            highest[key, default: 0] += 1
            return ModelValue(identifier: highest[key, default: 0], text: text)
        }
        return true
    }
}

extension ModelContact {
    /// The values that an app with all keys sees. Only those of lists have identifiers.
    var contents: [ModelKey: [ModelValue]] {
        values.filter { !$0.value.isEmpty }.reduce(into: [:]) { contents, entry in
            contents[entry.key] =
                entry.key.isList ? entry.value : entry.value.map { ModelValue(identifier: 0, text: $0.text) }
        }
    }

    /// The card as it was, but no identifier that a value had since is used again.
    func after(_ later: [ModelContact]) -> ModelContact {
        var contact = self
        for card in later { contact.highest.merge(card.highest, uniquingKeysWith: max) }
        return contact
    }
}

struct ModelGroup {
    let number: Int
    /// The key of the app that created it.
    let maker: String
    var name: String
    /// Whether an app with access to everything gave the name.
    var isNamed = false
    var members: Set<Int> = []
    /// The members that an app with access to everything added.
    var confirmed: Set<Int> = []
    var subgroups: Set<Int> = []
    /// When its name last changed.
    var renamed = 0
}

/// A change of the book, for those who can see it.
enum ModelEvent {
    case contact(Int)
    case touched(Int, Set<ModelKey>)
    case group(Int, maker: String)
    case member(Int, of: Int)
    case subgroup(Int, of: Int)
    case linked(Set<Int>, seesEvidence: Bool)
}

/// Dates in their wire form, without the code under test.
enum ModelDate {
    static func text(_ seconds: Int64) -> String {
        let days = seconds / 86_400
        // Converts days to a date with Howard Hinnant's civil_from_days, for days after 1970.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let day = shifted - era * 146_097
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let time = seconds % 86_400
        return
            "\(year + era * 400 + (month <= 2 ? 1 : 0))-\(two(month))-\(two(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1))"
            + "T\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60))Z"
    }

    private static func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
}

/// Random numbers that repeat for the same seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
