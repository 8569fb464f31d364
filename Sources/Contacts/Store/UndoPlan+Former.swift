import BrokerModel
import Foundation

extension UndoPlan {
    /// The records that a save touches, in their state before the save. This contains only data that the app
    /// may read.
    struct Former {
        /// The cards of each deleted contact, by the contact's identifier. If the identifier belongs to a
        /// card, the list contains only this card; if it belongs to a unified contact, the list contains the
        /// linked cards.
        private(set) var cards: [String: [String]] = [:]
        private(set) var contacts: [String: ContactValues] = [:]
        private(set) var containers: [String: String] = [:]
        private(set) var groups: [String: CNGroup.Values] = [:]
        /// The identifiers of the cards in each group.
        private var members: [String: Set<String>] = [:]
        /// The linked cards of each unified contact with a deleted card.
        private var persons: [[String]] = []

        /// - Returns: `nil` if an undo could not restore a part of the state.
        init?(of touched: Touched, in store: CNContactStore) throws {
            for identifier in touched.deleted {
                let linked = try store.linkedContactIdentifiers(ofContactWithIdentifier: identifier)
                cards[identifier] = linked.contains(identifier) ? [identifier] : linked
                if linked.count > 1, !persons.contains(linked) { persons.append(linked) }
            }
            let deleted = cards.values.flatMap { $0 }
            if !deleted.isEmpty, try Self.isMe(deleted, store) { return nil }

            try read(Array(touched.updated.keys), touched.updated.values.reduce([]) { $0.union($1) }, true, store)
            try read(deleted, Self.everything(store), false, store)
            if !deleted.isEmpty, try store.fetchContainers(nil).count > 1 {
                for card in deleted {
                    let predicate = CNContainer.predicateForContainerOfContact(withIdentifier: card)
                    containers[card] = try store.fetchContainers(predicate).first?.identifier
                }
            }
            guard touched.concernsGroups || !deleted.isEmpty else { return }
            for group in try store.fetchGroups(nil) { groups[group.identifier] = group.values }
            let wanted =
                deleted.isEmpty
                ? touched.deletedGroups.union(touched.members.keys.map(\.group)) : Set(groups.keys)
            for group in wanted { members[group] = try Self.members(of: group, store) }
            // For a unified contact, an app cannot tell which of its cards was in a group.
            for record in Set(touched.members.keys.map(\.record)) {
                let linked = try store.linkedContactIdentifiers(ofContactWithIdentifier: record)
                guard linked.contains(record) else { return nil }
            }
        }

        /// Whether all records to restore were found. If one is missing, the broker refuses the save, so no
        /// plan is needed.
        func knowsAll(_ touched: Touched) -> Bool {
            touched.updated.keys.allSatisfy { contacts[$0] != nil }
                && cards.values.allSatisfy { cards in !cards.isEmpty && cards.allSatisfy { contacts[$0] != nil } }
                && touched.renamed.union(touched.deletedGroups).allSatisfy { groups[$0] != nil }
        }

        func isMember(_ pair: Pair) -> Bool { members[pair.group]?.contains(pair.record) ?? false }

        func isSubgroup(_ pair: Pair) -> Bool { groups[pair.record]?.parents.contains(pair.group) ?? false }

        /// The memberships to restore.
        func memberships(deleted: Set<String>, _ touched: Touched) -> [Pair] {
            var pairs = Set(touched.members.filter { !$0.value && isMember($0.key) }.keys)
            for (group, members) in members {
                let back = touched.deletedGroups.contains(group) ? members : members.intersection(deleted)
                pairs.formUnion(back.map { Pair(record: $0, group: group) })
            }
            return pairs.sorted { ($0.group, $0.record) < ($1.group, $1.record) }
        }

        /// The subgroup relations to restore.
        func relations(_ touched: Touched) -> [Pair] {
            var pairs = Set(touched.subgroups.filter { !$0.value && isSubgroup($0.key) }.keys)
            for (identifier, values) in groups {
                for parent in values.parents
                where touched.deletedGroups.contains(identifier) || touched.deletedGroups.contains(parent) {
                    pairs.insert(Pair(record: identifier, group: parent))
                }
            }
            return pairs.sorted { ($0.group, $0.record) < ($1.group, $1.record) }
        }

        /// The links to restore.
        func links(of deleted: [String]) -> [(String, String)] {
            persons.flatMap { person in
                let first = person.first { !deleted.contains($0) } ?? person[0]
                return person.filter { $0 != first && (deleted.contains($0) || deleted.contains(first)) }.map {
                    ($0, first)
                }
            }
        }

        // MARK: Reading

        private mutating func read(
            _ identifiers: [String], _ keys: ContactKeySet, _ isUnified: Bool, _ store: CNContactStore
        ) throws {
            guard !identifiers.isEmpty else { return }
            let request = CNContactFetchRequest(keysToFetch: [TaskKeys(keys: keys)])
            request.predicate = CNContact.predicateForContacts(withIdentifiers: identifiers)
            request.unifyResults = isUnified
            var read: [String: ContactValues] = [:]
            _ = try store.fetch(request) {
                read[$0.identifier] = $0.values
                return true
            }
            contacts.merge(read) { $1 }
        }

        private static func members(of group: String, _ store: CNContactStore) throws -> Set<String> {
            let request = CNContactFetchRequest(keysToFetch: [])
            request.predicate = CNContact.predicateForContactsInGroup(withIdentifier: group)
            request.unifyResults = false
            var members: Set<String> = []
            _ = try store.fetch(request) {
                members.insert($0.identifier)
                return true
            }
            return members
        }

        /// The keys that the app may read and write: all ordinary keys, and the keys that were granted by
        /// name.
        private static func everything(_ store: CNContactStore) throws -> ContactKeySet {
            let named = try (store.authorizedKeys() ?? []).compactMap(ContactKey.init).reduce(into: ContactKeySet()) {
                $0.formUnion(ContactKeySet($1))
            }
            return ContactKeySet.all.subtracting(.named).union(named.intersection(.named)).subtracting(.readOnly)
        }

        /// Whether one of the cards belongs to the person's own contact. The address book records who chose
        /// that contact, and an undo cannot restore this.
        private static func isMe(_ cards: [String], _ store: CNContactStore) throws -> Bool {
            let me: CNContact
            do {
                me = try store.unifiedMeContactWithKeys(toFetch: [])
            } catch CNError.recordDoesNotExist {
                return false
            }
            let linked = try store.linkedContactIdentifiers(ofContactWithIdentifier: me.identifier)
            return !Set(cards).isDisjoint(with: linked + [me.identifier])
        }
    }
}
