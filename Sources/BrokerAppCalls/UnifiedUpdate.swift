import BrokerModel

/// The card that a value belongs to, according to the value's identifier, such as `CARD/7`.
enum ValueOwner: Hashable {
    /// The identifier is a plain number, or missing.
    case unsaid
    case card(RecordNumber)
    /// The identifier does not name a single card that the app can see.
    case nobody
}

/// Splits an update of a unified contact into updates of its cards.
///
/// The unified contact shows equal values once. A shown value stands for all equal values in the cards, which
/// are kept, changed and removed together. A new value goes to the first card.
struct UnifiedUpdate {
    /// A visible card of the contact, with its current values of the keys to be written.
    typealias Member = (record: RecordNumber, contact: Contact)

    /// The changes to one card.
    struct Part {
        let record: RecordNumber
        var contact = Contact()
        var keys = ContactKeySet()
    }

    private let members: [Member]
    private(set) var parts: [Part]

    /// - Parameters:
    ///   - patch: the new state of the unified contact, as the app sent it.
    ///   - owners: for each key, the cards that the identifiers of its values name, in the order of the
    ///     values.
    ///   - members: the visible cards, in order of precedence.
    init(
        _ patch: Contact, keys: ContactKeySet, owners: [ContactKey: [ValueOwner]], of members: [Member]
    ) {
        self.members = members
        parts = members.map { Part(record: $0.record) }
        for key in keys.keys {
            switch key {
            case .phoneNumbers: split(key, \.phoneNumbers, patch, owners)
            case .emailAddresses: split(key, \.emailAddresses, patch, owners)
            case .postalAddresses: split(key, \.postalAddresses, patch, owners)
            case .dates: split(key, \.dates, patch, owners)
            case .urlAddresses: split(key, \.urlAddresses, patch, owners)
            case .contactRelations: split(key, \.contactRelations, patch, owners)
            case .socialProfiles: split(key, \.socialProfiles, patch, owners)
            case .instantMessageAddresses: split(key, \.instantMessageAddresses, patch, owners)
            case .extraProperties: splitLines(patch.extraProperties)
            case .contactType, .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix,
                .nickname, .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName,
                .departmentName, .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday,
                .creationDate, .modificationDate, .imageDataAvailable, .note, .thumbnailImageData, .imageData:
                write(patch, key, to: 0)
                // A cleared key is cleared in every card; otherwise another card's value would be shown
                // instead.
                guard key != .contactType, !patch.hasValue(key) else { continue }
                for index in members.indices.dropFirst() where members[index].contact.hasValue(Self.shown(key)) {
                    write(patch, key, to: index)
                }
            }
        }
        parts.removeAll { $0.keys.isEmpty }
    }

    /// The key that shows whether a card has a value for `key`. For `imageData`, that is
    /// `imageDataAvailable`, because images are stored elsewhere.
    private static func shown(_ key: ContactKey) -> ContactKey { key == .imageData ? .imageDataAvailable : key }

    private mutating func write(_ patch: Contact, _ key: ContactKey, to index: Int) {
        parts[index].contact = parts[index].contact.applying(patch, keys: ContactKeySet(key))
        parts[index].keys.formUnion(ContactKeySet(key))
    }

    private mutating func splitLines(_ lines: [String]) {
        let known = Set(members.flatMap(\.contact.extraProperties))
        for (index, member) in members.enumerated() {
            let former = Set(member.contact.extraProperties)
            let new = lines.filter { former.contains($0) || index == 0 && !known.contains($0) }
            guard new != member.contact.extraProperties else { continue }
            parts[index].contact.extraProperties = new
            parts[index].keys.formUnion(ContactKeySet(.extraProperties))
        }
    }

    /// Identifies one value of one card.
    private struct Place: Hashable {
        let record: RecordNumber
        let identifier: Int?
    }

    private mutating func split<Value: ContactValue>(
        _ key: ContactKey, _ list: WritableKeyPath<Contact, [Value]>, _ patch: Contact,
        _ owners: [ContactKey: [ValueOwner]]
    ) {
        let fields = Value.fields
        func says(_ value: Value) -> [String] { fields.map { $0.get(value) } }
        // The values that the unified contact shows. If several values are equal, it shows the first.
        var shown: [[String]: Place] = [:]
        for member in members {
            for value in member.contact[keyPath: list] where shown[says(value)] == nil {
                shown[says(value)] = Place(record: member.record, identifier: value.identifier)
            }
        }
        let places = Set(shown.values)
        // For each value that the app sent, the shown value that its identifier names, otherwise an equal
        // shown value; `nil` if the value is new.
        let new = patch[keyPath: list]
        var free = places
        let said = owners[key] ?? Array(repeating: .unsaid, count: new.count)
        let named = zip(new, said).map { value, owner -> Place? in
            guard case .card(let card) = owner else { return nil }
            return free.remove(Place(record: card, identifier: value.identifier))
        }
        let meant = zip(new, named).map { value, named in
            named ?? shown[says(value)].flatMap { free.remove($0) }
        }
        for (index, member) in members.enumerated() {
            let former = member.contact[keyPath: list]
            var values: [Value] = []
            for (var value, place) in zip(new, meant) {
                guard let place else {
                    guard index == 0 else { continue }
                    value.identifier = nil
                    values.append(value)
                    continue
                }
                for old in former where shown[says(old)] == place {
                    let isShown = place == Place(record: member.record, identifier: old.identifier)
                    if !isShown, says(old) == says(value) {
                        values.append(old)
                    } else {
                        value.identifier = old.identifier
                        values.append(value)
                    }
                }
            }
            guard values != former else { continue }
            parts[index].contact[keyPath: list] = values
            parts[index].keys.formUnion(ContactKeySet(key))
        }
    }
}
