import BrokerBounds
import BrokerInterface
import BrokerModel
import Foundation

/// The steps that undo a save. The plan is made before the save, while the former values can be fetched.
struct UndoPlan: Sendable {
    /// One step of a plan. A plan first deletes added records and removes added memberships, and then
    /// restores the former state. In another order, a group could temporarily contain itself.
    private enum Step: Sendable {
        /// Deletes the record that the save's step at this index added.
        case deleteContact(place: Int), deleteGroup(place: Int)
        case member(Pair, isIn: Bool), subgroup(Pair, isIn: Bool)
        /// Adds a deleted record again. The values contain its former identifier.
        case add(ContactValues, container: String?), addGroup(CNGroup.Values)
        case put(ContactValues, ContactKeySet), rename(group: String, String)
        case link(String, String)
    }

    private var plan: [Step] = []
    private var added: [String] = []

    /// - Returns: `nil` if the save cannot be undone.
    init?(of steps: [CNSaveRequest.Step], in store: CNContactStore) throws {
        guard let touched = Touched(steps) else { return nil }
        let former = try Former(of: touched, in: store)
        guard let former, former.knowsAll(touched) else { return nil }

        for (place, step) in steps.enumerated().reversed() {
            switch step {
            case .add: plan.append(.deleteContact(place: place))
            case .addGroup: plan.append(.deleteGroup(place: place))
            default: continue
            }
        }
        for (pair, isIn) in touched.members where former.isMember(pair) == false && isIn {
            plan.append(.member(pair, isIn: false))
        }
        for (pair, isIn) in touched.subgroups where former.isSubgroup(pair) == false && isIn {
            plan.append(.subgroup(pair, isIn: false))
        }
        let deleted = touched.deleted.flatMap { former.cards[$0] ?? [] }
        for card in deleted {
            guard let values = former.contacts[card] else { return nil }
            plan.append(.add(values, container: former.containers[card]))
        }
        for group in touched.deletedGroups { if let values = former.groups[group] { plan.append(.addGroup(values)) } }
        for (identifier, keys) in touched.updated where !touched.deleted.contains(identifier) {
            guard let values = former.contacts[identifier] else { return nil }
            plan.append(.put(values, keys))
        }
        for group in touched.renamed where !touched.deletedGroups.contains(group) {
            guard let values = former.groups[group] else { return nil }
            plan.append(.rename(group: group, values.name))
        }
        plan += former.memberships(deleted: Set(deleted), touched).map { .member($0, isIn: true) }
        plan += former.relations(touched).map { .subgroup($0, isIn: true) }
        plan += former.links(of: deleted).map { .link($0, $1) }
        guard plan.count <= ParameterLimits.changes else { return nil }
    }

    /// Returns the plan with the identifiers that the save assigned.
    func completed(_ identifiers: [String]) -> UndoPlan {
        var completed = self
        completed.added = identifiers
        return completed
    }

    var steps: [CNSaveRequest.Step] {
        // The restored records, by their former identifiers. Later steps refer to these objects.
        var contacts: [String: CNMutableContact] = [:]
        var groups: [String: CNMutableGroup] = [:]
        func contact(_ identifier: String) -> CNContact {
            contacts[identifier] ?? CNContact(ContactValues(identifier: identifier), keys: [])
        }
        func group(_ identifier: String) -> CNGroup {
            groups[identifier] ?? CNGroup(CNGroup.Values(identifier: identifier))
        }
        func identifier(_ place: Int) -> String { added.indices.contains(place) ? added[place] : "" }
        return plan.map { step in
            switch step {
            case .deleteContact(let place):
                return .delete(CNMutableContact(ContactValues(identifier: identifier(place)), keys: []))
            case .deleteGroup(let place):
                return .deleteGroup(CNMutableGroup(CNGroup.Values(identifier: identifier(place))))
            case .member(let pair, let isIn):
                return .member(contact(pair.record), group(pair.group), isIn: isIn)
            case .subgroup(let pair, let isIn):
                return .subgroup(group(pair.record), group(pair.group), isIn: isIn)
            case .add(var values, let container):
                let former = values.identifier
                values.identifier = RandomIdentifier.make()
                let contact = CNMutableContact(values, keys: .all)
                contacts[former] = contact
                return .add(contact, container: container)
            case .addGroup(let former):
                let made = CNMutableGroup(CNGroup.Values(identifier: RandomIdentifier.make(), name: former.name))
                groups[former.identifier] = made
                return .addGroup(made, container: former.container)
            case .put(let values, let keys): return .update(CNMutableContact(values, writing: keys))
            case .rename(let identifier, let name):
                return .updateGroup(CNMutableGroup(CNGroup.Values(identifier: identifier, name: name)))
            case .link(let one, let other):
                return .link(contact(one).identifier, contact(other).identifier, isOne: true)
            }
        }
    }
}

extension UndoPlan {
    /// A contact or a group, and a group that contains it.
    struct Pair: Hashable, Sendable {
        let record: String
        let group: String
    }

    /// The existing records that a save changes.
    struct Touched {
        var updated: [String: ContactKeySet] = [:]
        var deleted: Set<String> = []
        var renamed: Set<String> = []
        var deletedGroups: Set<String> = []
        /// The contacts that the save adds to groups (`true`) or removes from groups (`false`).
        var members: [Pair: Bool] = [:]
        /// The same for subgroups.
        var subgroups: [Pair: Bool] = [:]

        var concernsGroups: Bool {
            !(renamed.isEmpty && deletedGroups.isEmpty && members.isEmpty && subgroups.isEmpty)
        }

        /// - Returns: `nil` if a step cannot be undone. A step that changes links cannot be undone, because
        ///   an app cannot see everything that the address book stores about links: who made a link, on which
        ///   evidence, and which pairs must not be linked.
        init?(_ steps: [CNSaveRequest.Step]) {
            // The undo deletes new records. This also removes their memberships, so they are not recorded.
            var new: Set<String> = []
            for step in steps {
                switch step {
                case .add(let contact, _): new.insert(contact.identifier)
                case .addGroup(let group, _): new.insert(group.identifier)
                default: continue
                }
            }
            for step in steps {
                switch step {
                case .add, .addGroup: continue
                case .update(let contact, _) where !new.contains(contact.identifier):
                    updated[contact.identifier, default: []].formUnion(contact.changes.changed)
                case .delete(let contact, _): deleted.insert(contact.identifier)
                case .updateGroup(let group) where !new.contains(group.identifier): renamed.insert(group.identifier)
                case .deleteGroup(let group): deletedGroups.insert(group.identifier)
                case .member(let contact, let group, let isIn): note(&members, contact.identifier, group, isIn, new)
                case .subgroup(let child, let group, let isIn): note(&subgroups, child.identifier, group, isIn, new)
                case .update, .updateGroup: continue
                case .link, .addContainer, .deleteContainer, .setMe: return nil
                }
            }
            guard deleted.isDisjoint(with: new), deletedGroups.isDisjoint(with: new) else { return nil }
        }

        private func note(
            _ pairs: inout [Pair: Bool], _ record: String, _ group: CNGroup, _ isIn: Bool, _ new: Set<String>
        ) {
            guard !new.contains(record), !new.contains(group.identifier) else { return }
            pairs[Pair(record: record, group: group.identifier)] = isIn
        }
    }
}
