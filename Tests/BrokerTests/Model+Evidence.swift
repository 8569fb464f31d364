/// Computes from the whole book which cards are linked, by the rules of decision 0011.
extension ModelBook {
    /// Links the cards that evidence or an explicit link connects, and no others.
    mutating func settle() {
        var persons = handLinks
        for number in contacts.keys where !persons.contains(where: { $0.contains(number) }) { persons.append([number]) }
        var sets: [Set<Int>] = []
        for component in components(of: persons, isSure: false) {
            if isOne(component, isSure: false) {
                sets.append(Set(component.joined()))
            } else {
                for equals in components(of: component, isSure: true) {
                    sets += isOne(equals, isSure: true) ? [Set(equals.joined())] : equals
                }
            }
        }
        links = sets.filter { $0.count > 1 }
        isEvidence = false
    }

    private func components(of persons: [Set<Int>], isSure: Bool) -> [[Set<Int>]] {
        var rest = persons
        var found: [[Set<Int>]] = []
        while let first = rest.popLast() {
            var component = [first]
            while let next = rest.firstIndex(where: { one in component.contains { shares($0, one, isSure: isSure) } }) {
                component.append(rest.remove(at: next))
            }
            found.append(component)
        }
        return found
    }

    private func isOne(_ persons: [Set<Int>], isSure: Bool) -> Bool {
        persons.allSatisfy { one in persons.allSatisfy { $0 == one || mayBeOne(one, $0, isSure: isSure) } }
            && persons.joined().count <= 64
    }

    private func shares(_ one: Set<Int>, _ other: Set<Int>, isSure: Bool) -> Bool {
        mayBeOne(one, other, isSure: isSure)
            && one.contains { left in
                other.contains { right in
                    guard let left = contacts[left], let right = contacts[right], left.isSure, right.isSure else {
                        return false
                    }
                    let doAgree = isSure ? left.isCalled(as: right) : left.mayBeCalled(as: right)
                    return doAgree
                        && left.evidence.contains { value in right.evidence.contains(value) && isOfOne(value) }
                }
            }
    }

    private func isOfOne(_ value: String) -> Bool {
        contacts.values.count { $0.isSure && $0.evidence.contains(value) } <= 16
    }

    private func mayBeOne(_ one: Set<Int>, _ other: Set<Int>, isSure: Bool) -> Bool {
        let pairs = one.flatMap { left in other.map { (left, $0) } }
        if pairs.contains(where: { unlike.contains([$0, $1]) }) { return false }
        if pairs.contains(where: { contacts[$0]?.container == contacts[$1]?.container }) { return false }
        if isSure { return true }
        let cards = pairs.compactMap { left, right in
            contacts[left].flatMap { left in contacts[right].map { (left, $0) } }
        }.filter { $0.isSure && $0.hasName && $1.isSure && $1.hasName }
        return cards.contains { $0.isCalled(as: $1) } || cards.allSatisfy { $0.mayBeCalled(as: $1) }
    }
}

extension ModelContact {
    fileprivate var evidence: Set<String> {
        Set(texts(.emailAddresses).map { $0.lowercased() } + texts(.phoneNumbers).map { $0.filter(\.isNumber) })
    }

    private func name(_ key: ModelKey) -> String { texts(key).first?.lowercased() ?? "" }
    private var isPerson: Bool { !(name(.givenName) + name(.familyName) + name(.nickname)).isEmpty }
    private var given: String { name(.givenName) + name(.familyName) == "" ? name(.nickname) : name(.givenName) }
    private var nickname: String { given == name(.givenName) ? name(.nickname) : "" }
    fileprivate var hasName: Bool { isPerson || !name(.organizationName).isEmpty }

    fileprivate func isCalled(as other: ModelContact) -> Bool {
        guard hasName, other.hasName, isPerson == other.isPerson else { return false }
        if !isPerson { return name(.organizationName) == other.name(.organizationName) }
        let words = { (one: ModelContact) in [one.given, one.name(.familyName)].filter { !$0.isEmpty } }
        return words(self) == words(other)
    }

    fileprivate func mayBeCalled(as other: ModelContact) -> Bool {
        if isCalled(as: other) { return true }
        guard isPerson, other.isPerson, !name(.familyName).isEmpty, name(.familyName) == other.name(.familyName) else {
            return false
        }
        let (ours, others) = (given, other.given)
        if !nickname.isEmpty, nickname == others { return true }
        if !other.nickname.isEmpty, other.nickname == ours { return true }
        if !nickname.isEmpty, nickname == other.nickname, ours.isEmpty || others.isEmpty || ours == others {
            return true
        }
        guard let our = ours.first, let their = others.first, our == their else { return false }
        return ours.count == 1 || others.count == 1
    }

    /// Whether a name changed, or an email address or phone number was added.
    func saysMore(than former: ModelContact) -> Bool {
        ModelKey.names.contains { texts($0) != former.texts($0) }
            || !Set(texts(.emailAddresses)).isSubset(of: former.texts(.emailAddresses))
            || !Set(texts(.phoneNumbers)).isSubset(of: former.texts(.phoneNumbers))
    }
}
