import BrokerCardText
import BrokerModel
import BrokerVCard

/// What a client's card changes of a contact.
struct CardChange {
    /// The values to write.
    private(set) var contact = Contact()
    /// The keys that the change writes; none if it changes nothing.
    private(set) var keys = ContactKeySet()
    /// Whether the card has something that this connection may not see, which was left out.
    private(set) var leavesOut = false

    /// A card that a client makes.
    ///
    /// - Parameter granted: the keys that the connection may see and write.
    init(adding card: CardText, granted: ContactKeySet) throws(CardTextError) {
        let read = try Self.read(card)
        let present = read.present
        keys = present.intersection(granted).subtracting(.ofBroker)
        contact = Contact().applying(read, keys: keys)
        contact.extraProperties.removeAll(where: Self.isUID)
        leavesOut = !present.isSubset(of: granted.union(.ofBroker))
    }

    /// The difference that a client's card makes to a contact.
    ///
    /// - Parameters:
    ///   - shown: the contact as the connection sees it now, and its card in the version of the client's.
    ///   - base: what the client was last sent; `nil` if that is not known. Then nothing is removed.
    init<Token: Hashable>(
        of shown: Contact, _ current: CardText, by card: CardText, since base: [BaseProperty<Token>]?,
        granted: ContactKeySet, token: (PropertyUnit) -> Token
    ) throws(CardTextError) {
        let merged = try CardText.merge(base: base ?? [], mine: card, theirs: current, token: token)
        guard !merged.changed.isEmpty else { return }
        let (before, after) = (try Self.read(current), try Self.read(merged.text))
        let changed = after.keys(differingFrom: before)
        keys = changed.intersection(granted).subtracting(.ofBroker)
        leavesOut = !changed.isSubset(of: granted.union(.ofBroker))
        contact = Contact().applying(after, keys: keys)
        contact.phoneNumbers = Self.kept(shown.phoneNumbers, before.phoneNumbers, after.phoneNumbers)
        contact.emailAddresses = Self.kept(shown.emailAddresses, before.emailAddresses, after.emailAddresses)
        contact.postalAddresses = Self.kept(shown.postalAddresses, before.postalAddresses, after.postalAddresses)
        contact.dates = Self.kept(shown.dates, before.dates, after.dates)
        contact.urlAddresses = Self.kept(shown.urlAddresses, before.urlAddresses, after.urlAddresses)
        contact.contactRelations = Self.kept(shown.contactRelations, before.contactRelations, after.contactRelations)
        contact.socialProfiles = Self.kept(shown.socialProfiles, before.socialProfiles, after.socialProfiles)
        contact.instantMessageAddresses = Self.kept(
            shown.instantMessageAddresses, before.instantMessageAddresses, after.instantMessageAddresses)
        contact.extraProperties = Self.kept(shown.extraProperties, before.extraProperties, after.extraProperties)
        contact = Contact().applying(contact, keys: keys)
    }

    private static func read(_ card: CardText) throws(CardTextError) -> Contact {
        var reader = VCardReader()
        reader.append(card.bytes)
        reader.finish()
        guard case .card(let read)? = reader.next() else { throw .noCard }
        return read.contact
    }

    /// Returns the values after a change, with what only the address book has of them. A value that the change leaves
    /// alone stays as it is in the address book, also if a card cannot say all of it, or nothing. A value that takes the
    /// place of another one keeps its identifier.
    private static func kept<Value: ContactValue>(_ shown: [Value], _ before: [Value], _ after: [Value]) -> [Value] {
        // Which value of the address book each value of the former card is.
        var unsaid = Array(shown.indices)
        var own: [Int?] = before.map { value in
            unsaid.firstIndex { bare(shown[$0]) == value }.map { unsaid.remove(at: $0) }
        }
        let unknown = own.indices.filter { own[$0] == nil }
        if unknown.count == unsaid.count {
            for (place, value) in zip(unknown, unsaid) { own[place] = value }
            unsaid = []
        }
        // The places of the former values that are there no more.
        var left = Array(before.indices)
        let stay = after.map { value in
            left.firstIndex { before[$0] == value }.map { left.remove(at: $0) }
        }
        let values = zip(after.indices, stay).map { place, former in
            if let former { return own[former].map { shown[$0] } ?? before[former] }
            var value = after[place]
            if let replaced = left.firstIndex(of: place) {
                value.identifier = own[left.remove(at: replaced)].flatMap { shown[$0].identifier }
            }
            return value
        }
        return values + unsaid.map { shown[$0] }
    }

    private static func bare<Value: ContactValue>(_ value: Value) -> Value {
        var value = value
        value.identifier = nil
        return value
    }

    private static func kept(_ shown: [String], _ before: [String], _ after: [String]) -> [String] {
        let (removed, added) = (Set(before).subtracting(after), Set(after).subtracting(before))
        return shown.filter { !removed.contains($0) } + after.filter { added.contains($0) && !isUID($0) }
    }

    private static func isUID(_ line: String) -> Bool {
        line.utf8.count >= 4 && line.prefix(3).uppercased() == "UID"
            && [":", ";"].contains(line.dropFirst(3).prefix(1))
    }
}
