import BrokerContactFiles
import Contacts

extension AddressBook {
    /// Records how to undo a change, then saves the change: either all of it or nothing.
    ///
    /// - Parameter steps: the steps to record; empty if they are known only after the save.
    func save(noting steps: [UndoStep] = [], in journal: UndoJournal?, _ fill: (CNSaveRequest) -> Void) throws {
        do {
            try journal?.open()
            try journal?.note(steps)
            try send(fill)
        } catch let lost as Unanswered {
            // The change may have been saved, so its undo step stays.
            throw ContactsFailure.refused(lost.failure, could: task)
        } catch {
            journal?.discard()
            throw ContactsFailure.refused(error, could: task)
        }
    }

    /// Changes the members or subgroups of a group, or the links of a card, in one save.
    func save(_ pairing: UndoStep.Pairing, _ record: String, _ members: [String], in journal: UndoJournal?) throws {
        try save(noting: members.map { .pair(pairing, record: record, member: $0) }, in: journal) { request in
            for member in members { request.put(pairing, record, member) }
        }
    }

    /// Links a card with other contacts in one save.
    ///
    /// - Parameter sets: the cards of each of the other contacts.
    func link(_ first: String, with sets: [[String]], in journal: UndoJournal?) throws {
        var steps: [UndoStep] = []
        for cards in sets {
            // An undo reverts the steps in reverse order: it unlinks each card, then restores the earlier links.
            steps += cards.dropFirst().map { .pair(.unlinked, record: cards[0], member: $0) }
            steps += cards.map { .pair(.linked, record: first, member: $0) }
        }
        try save(noting: steps, in: journal) { request in for cards in sets { request.put(.linked, first, cards[0]) } }
    }
}

extension CNSaveRequest {
    /// Adds one step to the request, from the identifiers of the two records.
    func put(_ pairing: UndoStep.Pairing, _ record: String, _ member: String) {
        switch pairing {
        case .memberAdded: addMember(withIdentifier: member, toGroupWithIdentifier: record)
        case .memberRemoved: removeMember(withIdentifier: member, fromGroupWithIdentifier: record)
        case .subgroupAdded: addSubgroup(withIdentifier: member, toGroupWithIdentifier: record)
        case .subgroupRemoved: removeSubgroup(withIdentifier: member, fromGroupWithIdentifier: record)
        case .linked: link(contactWithIdentifier: record, withContactWithIdentifier: member)
        case .unlinked: unlink(contactWithIdentifier: record, fromContactWithIdentifier: member)
        }
    }
}
