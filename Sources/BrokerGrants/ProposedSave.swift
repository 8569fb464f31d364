import BrokerContactsStore
import BrokerModel

/// A save that an app may make only if the person allows it, as the person sees it.
package struct ProposedSave: Sendable {
    /// What the save does to the record of a row, as the interface names it.
    package enum Effect: String, Sendable { case deleted, changed, added, joins, leaves, linked, unlinked, own, notOwn }

    package enum Subject: Hashable, Sendable {
        case contact(RecordNumber)
        case group(RecordNumber)
        case container(RecordNumber)
    }

    package struct Row: Hashable, Sendable {
        package let effect: Effect
        package let subject: Subject
        /// The other record that the change concerns.
        package var other: Subject?
        /// For a group that is renamed, its new name.
        package var newName: String?
    }

    package let changes: [ContactChange]
    /// The records that the changes concern.
    private let records: Set<RecordNumber>
    /// The contacts that count for the bound on such apps (`Grants.changesMany(_:by:)`).
    package let counted: Set<RecordNumber>
    /// Whether the bin has no room for what the contacts were.
    package let isIrreversible: Bool
    /// Deletions first.
    package let rows: [Row]
    /// The names of the groups and containers that the save adds.
    package private(set) var names: [RecordNumber: String] = [:]

    /// - Parameter me: the person's own card.
    package init(
        _ changes: [ContactChange], me: RecordNumber?, counted: Set<RecordNumber>, isIrreversible: Bool = false
    ) {
        self.changes = changes
        records = changes.records
        self.isIrreversible = isIrreversible
        self.counted = counted
        var rows: [Row] = []
        var places: [RecordNumber: Int] = [:]
        func note(_ effect: Effect, _ subject: Subject, _ other: Subject? = nil, newName: String? = nil) {
            rows.append(Row(effect: effect, subject: subject, other: other, newName: newName))
        }
        for change in changes {
            switch change {
            case .add(let record, _):
                places[record] = rows.count
                note(.added, .contact(record))
            case .update(let record, _, _):
                // Several steps for one contact are one row.
                guard places.updateValue(places[record] ?? rows.count, forKey: record) == nil else { continue }
                note(.changed, .contact(record))
            case .delete(let record): note(.deleted, .contact(record))
            case .group(.add(let record, let name, _)):
                names[record] = name
                places[record] = rows.count
                note(.added, .group(record))
            case .group(.rename(let record, let name)):
                if names.keys.contains(record) { names[record] = name }
                note(.changed, .group(record), newName: name)
            case .group(.delete(let record)): note(.deleted, .group(record))
            case .group(.addMember(let record, let group)): note(.joins, .contact(record), .group(group))
            case .group(.removeMember(let record, let group)): note(.leaves, .contact(record), .group(group))
            case .group(.addSubgroup(let record, let group, _)): note(.joins, .group(record), .group(group))
            case .group(.removeSubgroup(let record, let group)): note(.leaves, .group(record), .group(group))
            case .group(.setMe(let record?)): note(.own, .contact(record))
            case .group(.setMe(nil)):
                if let me { note(.notOwn, .contact(me)) }
            case .container(.add(let record, let name)):
                names[record] = name
                note(.added, .container(record))
            case .container(.delete(let record)): note(.deleted, .container(record))
            case .container(.put(let record, isGroup: _, in: let container)):
                if let place = places[record] { rows[place].other = .container(container) }
            case .link(.link(let one, let other)): note(.linked, .contact(one), .contact(other))
            case .link(.unlink(let one, let other)):
                note(.unlinked, .contact(one), one == other ? nil : .contact(other))
            case .putBack(let former):
                switch former.kind {
                case .contact: for record in former.records { note(.added, .contact(record)) }
                case .group(let name), .container(let name):
                    for record in former.records { names[record] = name }
                    let isGroup = if case .group = former.kind { true } else { false }
                    for record in former.records { note(.added, isGroup ? .group(record) : .container(record)) }
                case .relations, .links:
                    for connection in former.connections {
                        switch connection {
                        case .member(let record, let group, let isIn):
                            note(isIn ? .joins : .leaves, .contact(record), .group(group))
                        case .subgroup(let record, let group, let isIn):
                            note(isIn ? .joins : .leaves, .group(record), .group(group))
                        case .link(let one, let other, let isOne):
                            note(isOne ? .linked : .unlinked, .contact(one), other.map { .contact($0) })
                        case .own(let record): note(.own, .contact(record))
                        }
                    }
                }
            // No app can save a thumbnail.
            case .thumbnail: continue
            }
        }
        self.rows =
            rows.filter { $0.effect == .deleted } + rows.filter { $0.effect == .changed }
            + rows.filter { $0.effect != .deleted && $0.effect != .changed }
    }

    /// The number of contacts that the save deletes, changes or adds.
    package func count(_ effect: Effect) -> Int {
        let contacts = rows.compactMap { row -> RecordNumber? in
            guard case .contact(let record) = row.subject, row.effect == effect else { return nil }
            return record
        }
        return Set(contacts).count
    }

    /// What the save does to contacts, as an English phrase after “to”, for the password dialog.
    package var words: String {
        let words = [(Effect.deleted, "delete"), (.changed, "change")].compactMap { effect, word in
            let count = count(effect)
            return count == 0 ? nil : "\(word) \(count) \(count == 1 ? "contact" : "contacts")"
        }
        return words.isEmpty ? "change your address book" : words.joined(separator: " and ")
    }

    /// The number of other changes.
    package var otherCount: Int {
        rows.count { row in
            guard case .contact = row.subject else { return true }
            return ![.deleted, .changed, .added].contains(row.effect)
        }
    }

    /// Whether one of these changes of the book concerns a record that the save changes, or that a row shows.
    package func concerns(_ made: [BookChange]) -> Bool {
        made.contains { $0.concerns(records) }
    }

    /// A contact as it is after the save.
    ///
    /// - Parameter former: the contact as it is now; `nil` if the save adds it.
    package func contact(_ record: RecordNumber, after former: Contact?) -> Contact {
        var contact = former ?? Contact()
        for change in changes {
            switch change {
            case .add(record, let added): contact = added
            case .update(record, let patch, let keys): contact = contact.applying(patch, keys: keys)
            case .putBack(let back) where back.records.contains(record): contact = back.contact ?? contact
            case .add, .update, .delete, .group, .link, .container, .putBack, .thumbnail: continue
            }
        }
        // New values get numbers of their own, which no present value has.
        var identifiers = ValueIdentifiers(after: Self.highestIdentifier)
        identifiers.assign(to: &contact, replacing: former ?? Contact())
        return contact
    }

    /// More than any stored contact has; it has fewer than 18 digits.
    private static let highestIdentifier = 100_000_000_000_000_000

    /// What the save does to a contact's photo; `nil` if it leaves it.
    ///
    /// - Parameter hadPhoto: whether the contact has one now.
    package func photo(of record: RecordNumber, hadPhoto: Bool) -> String? {
        var hasPhoto: Bool?
        for change in changes {
            switch change {
            case .add(record, let added): hasPhoto = added.imageData.isEmpty ? nil : true
            case .update(record, let patch, let keys) where keys.contains(.imageData):
                hasPhoto = !patch.imageData.isEmpty
            case .putBack(let back) where back.records.contains(record) && back.contact?.imageDataAvailable == true:
                hasPhoto = true
            case .add, .update, .delete, .group, .link, .container, .putBack, .thumbnail: continue
            }
        }
        return switch (hadPhoto, hasPhoto) {
        case (_, nil), (false, false?): nil
        case (false, true?): "added"
        case (true, true?): "changed"
        case (true, false?): "removed"
        }
    }
}
