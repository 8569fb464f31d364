import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerModel
import Testing

@testable import BrokerAppCalls
@testable import BrokerLedger

private let ada = RecordNumber(1)
private let bob = RecordNumber(2)
/// Groups that the app created.
private let own = RecordNumber(10)
private let ownToo = RecordNumber(11)
/// A group that another app created.
private let foreign = RecordNumber(12)
/// The record that the save adds.
private let new = RecordNumber(100)
/// The app's own mark. A check for cycles looks only at groups with this mark.
private let mark = IdentifierCipher(key: [UInt8](repeating: 1, count: 16))?.mark

/// A save is checked when its steps are read, and again before it is written, because the grant may be narrower by
/// then. These tests call the second check directly, because the first one hides it.
@Suite("What a save may do when it is written")
struct SavePermissionTests {
    /// The records that the app may see and change.
    enum View: Sendable {
        case everything
        case everyName
        case onlyAda
        /// Ada, and the groups of others.
        case onlyAdaInGroups
        case adaAndBob

        var grant: Grant {
            let (access, keys): (Access, ContactKeySet) =
                switch self {
                case .everything: (.full, Grant.ordinaryKeys)
                case .everyName: (.full, .names)
                case .onlyAda: (.limited(to: [RecordNumber(1)]), Grant.ordinaryKeys)
                case .onlyAdaInGroups: (.limited(to: [RecordNumber(1)]), Grant.ordinaryKeys.union(.groups))
                case .adaAndBob: (.limited(to: [RecordNumber(1), RecordNumber(2)]), Grant.ordinaryKeys)
                }
            return Grant(access: access, keys: keys, changes: .all, revision: 1, decidedBy: .person, decidedAt: 0)
        }
    }

    /// One save, and the views under which it is permitted and refused.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let changes: [ContactChange]
        let permitted: [View]
        let refused: [View]

        init(
            _ name: String, _ changes: ContactChange..., permitted: [View] = [], refused: [View] = []
        ) {
            testDescription = name
            self.changes = changes
            self.permitted = permitted
            self.refused = refused
        }
    }

    private let cipher: IdentifierCipher

    init() throws { cipher = try #require(IdentifierCipher(key: [UInt8](repeating: 1, count: 16))) }

    private func reading(_ view: View) throws -> ReadContext {
        guard case .permit(let disclosure) = decideAccess(.granted(view.grant), mayAsk: false) else {
            throw Unexpected.refused
        }
        let principal = Principal(uid: 1_000, strength: .claimed, app: "mail")
        return ReadContext(
            disclosure: disclosure, principal: principal, identifiers: cipher, book: nil, writableKeys: .all,
            changes: view.grant.changes)
    }

    private enum Unexpected: Error { case refused }

    static let groups = [
        Case(
            "rename an own group", .group(.rename(own, name: "A")),
            permitted: [.everything, .onlyAda, .onlyAdaInGroups]),
        Case(
            "rename another app's group", .group(.rename(foreign, name: "A")), permitted: [.everything, .everyName],
            refused: [.onlyAda, .onlyAdaInGroups]),
        Case(
            "delete another app's group", .group(.delete(foreign)), permitted: [.everything],
            refused: [.onlyAda, .onlyAdaInGroups]),
        Case(
            "add a member to a group that is not visible", .group(.addMember(ada, to: foreign)),
            permitted: [.everything, .onlyAdaInGroups], refused: [.onlyAda]),
        Case(
            "add a member that is not visible", .group(.addMember(bob, to: own)), permitted: [.everything, .adaAndBob],
            refused: [.onlyAda, .onlyAdaInGroups]),
        Case(
            "remove a member from a group that is not visible", .group(.removeMember(ada, from: foreign)),
            permitted: [.everything, .onlyAdaInGroups], refused: [.onlyAda]),
        Case(
            "remove a member that is not visible", .group(.removeMember(bob, from: own)),
            permitted: [.everything, .adaAndBob], refused: [.onlyAda, .onlyAdaInGroups]),
        // The check for cycles looks at the groups that the app saw when the step was read.
        Case(
            "add a subgroup, looking at the app's own groups", .group(.addSubgroup(own, to: ownToo, visible: mark)),
            permitted: [.onlyAda], refused: [.everything, .onlyAdaInGroups]),
        Case(
            "add another app's group to an own one", .group(.addSubgroup(foreign, to: own, visible: mark)),
            refused: [.onlyAda]),
        Case(
            "add an own group to another app's", .group(.addSubgroup(own, to: foreign, visible: mark)),
            refused: [.onlyAda]),
        Case(
            "add another app's subgroup", .group(.addSubgroup(foreign, to: foreign, visible: nil)),
            permitted: [.everything]),
        Case("remove an own subgroup", .group(.removeSubgroup(own, from: ownToo)), permitted: [.everything, .onlyAda]),
        Case(
            "remove another app's group from an own one", .group(.removeSubgroup(foreign, from: own)),
            permitted: [.everything], refused: [.onlyAda, .onlyAdaInGroups]),
        Case(
            "remove an own group from another app's", .group(.removeSubgroup(own, from: foreign)),
            permitted: [.everything],
            refused: [.onlyAda, .onlyAdaInGroups]),
        Case(
            "fill a group that this save adds", .group(.add(new, name: "A", owner: [])),
            .group(.addMember(ada, to: new)), permitted: [.everything, .onlyAda]),
        Case(
            "choose the person's own card", .group(.setMe(ada)), permitted: [.everything],
            refused: [.onlyAda, .adaAndBob]),
        Case("choose no card as the person's own", .group(.setMe(nil)), permitted: [.everything], refused: [.onlyAda]),
    ]

    static let links = [
        Case("link", .link(.link(ada, bob)), permitted: [.everything], refused: [.everyName, .adaAndBob, .onlyAda]),
        Case(
            "unlink", .link(.unlink(ada, from: bob)), permitted: [.everything],
            refused: [.everyName, .adaAndBob, .onlyAda]),
    ]

    static let others = [
        Case("add a container", .container(.add(new, name: "A")), permitted: [.everything], refused: [.onlyAda]),
        Case("delete a container", .container(.delete(RecordNumber(9))), permitted: [.everything], refused: [.onlyAda]),
        Case(
            "update a card that is not visible", .update(bob, Contact(), keys: .names),
            permitted: [.everything, .everyName, .adaAndBob], refused: [.onlyAda]),
        Case(
            "update a key that is not granted", .update(ada, Contact(), keys: ContactKeySet([.phoneNumbers])),
            permitted: [.everything, .onlyAda], refused: [.everyName]),
        Case("delete a card that is not visible", .delete(bob), permitted: [.everything], refused: [.onlyAda]),
        Case("delete a card without all keys", .delete(ada), permitted: [.onlyAda], refused: [.everyName]),
    ]

    @Test("Each step is checked against the app's access at the time of writing", arguments: groups + links + others)
    func step(_ each: Case) throws {
        var changes = SaveChanges(
            adding: each.changes.map { change in
                if case .group(.add(let record, _, _)) = change { (record, .group) } else { nil }
            })
        changes.ownGroups = [own, ownToo]
        for change in each.changes { changes.append(step: [change]) }
        for view in each.permitted { #expect(changes.mayBeMade(try reading(view)), "\(view)") }
        for view in each.refused { #expect(!changes.mayBeMade(try reading(view)), "\(view)") }
    }
}
