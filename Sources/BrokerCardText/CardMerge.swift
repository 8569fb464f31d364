/// A property of the card that a client was last sent. Only a token of its meaning is needed, such as a keyed digest of
/// ``PropertyUnit/canonical``, so that the text does not have to be stored.
public struct BaseProperty<Token: Hashable>: Hashable {
    /// The name as ``PropertyUnit/name`` gives it.
    public let name: String
    public let token: Token

    public init(name: String, token: Token) {
        self.name = name
        self.token = token
    }
}

extension BaseProperty: Sendable where Token: Sendable {}

/// The result of a three-way merge.
public struct MergedCard: Sendable {
    /// The text of `theirs` with the changes of `mine`.
    public let text: CardText
    /// The names of the properties that differ from `theirs`, each once.
    public let changed: [String]
    /// The names of the properties that both sides changed differently and of which only one could stay, each once.
    public let conflicts: [String]
}

extension CardText {
    /// Merges a card that a client wrote with what others changed since the client read it.
    ///
    /// Values are compared by meaning. A value that the client added is added, and one that it removed is removed. A
    /// value that others added stays, and one that others removed stays removed. Equal values are counted.
    ///
    /// A property that a card has once gets the value of the side that changed it. If both sides changed it, this is a
    /// conflict, and the value of `mine` stays. There is one exception: if the client removed the property and others
    /// changed it, theirs stays, because the client's user never saw the new value.
    ///
    /// - Parameters:
    ///   - base: what the client was last sent. If that is not known, pass an empty base: then nothing is removed, and
    ///     each difference in a property that a card has once is a conflict.
    ///   - mine: what the client wrote.
    ///   - theirs: the card now, as this client would be sent it.
    ///   - token: the token of a unit; it must be equal if and only if ``PropertyUnit/canonical`` is equal.
    /// - Throws: ``CardTextError/tooLarge`` if the merged text exceeds the limits of `theirs`.
    public static func merge<Token: Hashable>(
        base: [BaseProperty<Token>], mine: CardText, theirs: CardText, token: (PropertyUnit) -> Token
    ) throws(CardTextError) -> MergedCard {
        var sides: [String: PropertySides<Token>] = [:]
        var names: [String] = []
        for (place, unit) in theirs.units.enumerated() {
            if sides[unit.name] == nil { names.append(unit.name) }
            sides[unit.name, default: PropertySides()].theirs.append((token(unit), place))
        }
        for unit in mine.units {
            if sides[unit.name] == nil { names.append(unit.name) }
            sides[unit.name, default: PropertySides()].mine.append((token(unit), unit))
        }
        for property in base { sides[property.name]?.base[property.token, default: 0] += 1 }

        var edits: [CardEdit] = []
        var changed: [String] = []
        var conflicts: [String] = []
        for name in names {
            guard let property = sides[name] else { continue }
            let isOnce = property.isOnce(name)
            if isOnce, property.isConflict { conflicts.append(name) }
            let own = isOnce ? property.editsOfWhole : property.edits(count: mergedCount)
            if !own.isEmpty { changed.append(name) }
            edits += own
        }
        let text = edits.isEmpty ? theirs : try theirs.applying(edits)
        return MergedCard(text: text, changed: changed, conflicts: conflicts)
    }

    /// Merges with the text that the client was last sent; `nil` if it is not known.
    public static func merge(base: CardText?, mine: CardText, theirs: CardText) throws(CardTextError) -> MergedCard {
        let base = base?.units.map { BaseProperty(name: $0.name, token: $0.canonical) } ?? []
        return try merge(base: base, mine: mine, theirs: theirs, token: \.canonical)
    }
}

/// Returns how many of some equal values the merged card has, from how many each side has. If a side has the same
/// number as the base, the other side's number stays.
private func mergedCount(base: Int, mine: Int, theirs: Int) -> Int {
    if mine < base { return theirs < base ? min(mine, theirs) : theirs - (base - mine) }
    if mine > base { return theirs > base ? max(mine, theirs) : theirs + (mine - base) }
    return theirs
}

/// The values of one property on the three sides of a merge.
private struct PropertySides<Token: Hashable> {
    /// How often each value was in the base.
    var base: [Token: Int] = [:]
    var mine: [(token: Token, unit: PropertyUnit)] = []
    var theirs: [(token: Token, place: Int)] = []

    /// Whether the property's values are merged as one.
    func isOnce(_ name: String) -> Bool {
        CardText.once.contains(name)
            || CardText.usuallyOnce.contains(name) && mine.count <= 1 && theirs.count <= 1
                && base.values.reduce(0, +) <= 1
    }

    private static func counts(_ tokens: some Sequence<Token>) -> [Token: Int] {
        tokens.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    /// Whether both sides changed the property, and not in the same way.
    var isConflict: Bool {
        let (mine, theirs) = (Self.counts(mine.map(\.token)), Self.counts(theirs.map(\.token)))
        return mine != base && theirs != base && mine != theirs
    }

    /// The changes that merge all values as one.
    var editsOfWhole: [CardEdit] {
        let isUnchanged = Self.counts(mine.map(\.token)) == base
        if isUnchanged || isConflict && mine.isEmpty { return [] }
        return edits { _, mine, _ in mine }
    }

    /// Returns the changes that give the merged card this many of each value. An added value replaces a removed one, so
    /// an edited value stays in its place.
    func edits(count: (_ base: Int, _ mine: Int, _ theirs: Int) -> Int) -> [CardEdit] {
        let (inMine, inTheirs) = (Self.counts(mine.map(\.token)), Self.counts(theirs.map(\.token)))
        func merged(_ token: Token) -> Int {
            count(base[token] ?? 0, inMine[token] ?? 0, inTheirs[token] ?? 0)
        }
        var seen: [Token: Int] = [:]
        let removed = theirs.filter { token, _ in
            seen[token, default: 0] += 1
            return seen[token, default: 0] > merged(token)
        }
        seen = inTheirs
        let added = mine.filter { token, _ in
            guard seen[token, default: 0] < merged(token) else { return false }
            seen[token, default: 0] += 1
            return true
        }
        let pairs = min(removed.count, added.count)
        return zip(removed, added).map { CardEdit.replace($0.place, with: $1.unit) }
            + removed.dropFirst(pairs).map { CardEdit.remove($0.place) }
            + added.dropFirst(pairs).map { CardEdit.add($0.unit) }
    }
}

extension CardText {
    /// Properties that a card has at most once (RFC 6350 §6.1.4, §6.2.2, §6.2.5 to §6.2.7; RFC 6474 §2), and Apple's of
    /// the same kind. Alternatives with one ALTID are one value.
    fileprivate static let once: Set<String> = [
        "ANNIVERSARY", "BDAY", "BIRTHPLACE", "DEATHDATE", "DEATHPLACE", "GENDER", "KIND", "N", "X-ABSHOWAS",
        "X-ADDRESSBOOKSERVER-KIND", "X-MAIDENNAME", "X-PHONETIC-FIRST-NAME", "X-PHONETIC-LAST-NAME",
        "X-PHONETIC-MIDDLE-NAME", "X-PHONETIC-ORG",
    ]
    /// Properties that a card may have more often (RFC 6350 §6.2.1, §6.2.3, §6.2.4, §6.6, §6.7.2), but of which most
    /// programs show one. They are merged as one value if no side has more than one.
    fileprivate static let usuallyOnce: Set<String> = ["FN", "NICKNAME", "NOTE", "ORG", "PHOTO", "ROLE", "TITLE"]
}
