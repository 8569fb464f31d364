import BrokerAccessControl
import BrokerDisclosure
import BrokerModel
import Testing

@testable import BrokerCore

private let ada = SavedRecord.existing(RecordNumber(1))
private let bob = SavedRecord.existing(RecordNumber(2))
/// Groups that the app made.
private let own = SavedRecord.existing(RecordNumber(10))
private let ownToo = SavedRecord.existing(RecordNumber(11))
/// A group that another app made.
private let foreign = SavedRecord.existing(RecordNumber(12))

/// A save is checked when its steps are read, and again when it is written: the grant may be narrower by then. These tests call the
/// second check directly, because the first one hides it.
@Suite("What a save may still do when it is written")
struct SavePermissionTests {
    /// What the app may use.
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
            return Grant(access: access, keys: keys, revision: 1, decidedBy: .person, decidedAt: 0)
        }
    }

    /// One save, and the views under which it is permitted and refused.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [SaveStep]
        /// What the app may use when the steps are read.
        let readUnder: View
        let permitted: [View]
        let refused: [View]

        init(
            _ name: String, _ steps: SaveStep..., readUnder: View = .everything, permitted: [View] = [],
            refused: [View] = []
        ) {
            testDescription = name
            self.steps = steps
            self.readUnder = readUnder
            self.permitted = permitted
            self.refused = refused
        }
    }

    private let cipher: IdentifierCipher

    init() throws { cipher = try #require(IdentifierCipher(key: [UInt8](repeating: 1, count: 16))) }

    private func reading(_ view: View) throws -> Reading {
        guard case .permit(let disclosure) = decideAccess(.granted(view.grant), mayAsk: false) else {
            throw Unexpected.refused
        }
        let principal = Principal(uid: 1_000, strength: .claimed, app: "mail")
        return Reading(disclosure: disclosure, principal: principal, identifiers: cipher, book: nil, writableKeys: .all)
    }

    private enum Unexpected: Error { case refused }

    static let groups = [
        Case(
            "rename an own group", .renameGroup(own, name: "A"),
            permitted: [.everything, .onlyAda, .onlyAdaInGroups]),
        Case(
            "rename another app's group", .renameGroup(foreign, name: "A"), permitted: [.everything, .everyName],
            refused: [.onlyAda, .onlyAdaInGroups]),
        Case(
            "delete another app's group", .deleteGroup(foreign), permitted: [.everything],
            refused: [.onlyAda, .onlyAdaInGroups]),
        Case(
            "add a member to a group that is not visible", .addMember(ada, to: foreign),
            permitted: [.everything, .onlyAdaInGroups], refused: [.onlyAda]),
        Case(
            "add a member that is not visible", .addMember(bob, to: own), permitted: [.everything, .adaAndBob],
            refused: [.onlyAda, .onlyAdaInGroups]),
        Case(
            "remove a member from a group that is not visible", .removeMember(ada, from: foreign),
            permitted: [.everything, .onlyAdaInGroups], refused: [.onlyAda]),
        Case(
            "remove a member that is not visible", .removeMember(bob, from: own),
            permitted: [.everything, .adaAndBob], refused: [.onlyAda, .onlyAdaInGroups]),
        // The check for cycles looks at the groups that the app saw when the step was read.
        Case(
            "add a subgroup, looking at the app's own groups", .addSubgroup(own, to: ownToo), readUnder: .onlyAda,
            permitted: [.onlyAda], refused: [.everything, .onlyAdaInGroups]),
        Case(
            "add another app's group to an own one", .addSubgroup(foreign, to: own), readUnder: .onlyAda,
            refused: [.onlyAda]),
        Case(
            "add an own group to another app's", .addSubgroup(own, to: foreign), readUnder: .onlyAda,
            refused: [.onlyAda]),
        Case("add another app's subgroup", .addSubgroup(foreign, to: foreign), permitted: [.everything]),
        Case("remove an own subgroup", .removeSubgroup(own, from: ownToo), permitted: [.everything, .onlyAda]),
        Case(
            "remove another app's group from an own one", .removeSubgroup(foreign, from: own),
            permitted: [.everything], refused: [.onlyAda, .onlyAdaInGroups]),
        Case(
            "remove an own group from another app's", .removeSubgroup(own, from: foreign), permitted: [.everything],
            refused: [.onlyAda, .onlyAdaInGroups]),
        Case(
            "fill a group that this save adds", .addGroup(name: "A", container: nil),
            .addMember(ada, to: .added(step: 0)), permitted: [.everything, .onlyAda]),
        Case("choose the owner's own card", .setMe(ada), permitted: [.everything], refused: [.onlyAda, .adaAndBob]),
        Case("choose no card as the owner's own", .setMe(nil), permitted: [.everything], refused: [.onlyAda]),
    ]

    static let links = [
        Case("link", .link(ada, bob), permitted: [.everything], refused: [.everyName, .adaAndBob, .onlyAda]),
        Case("unlink", .unlink(ada, from: bob), permitted: [.everything], refused: [.everyName, .adaAndBob, .onlyAda]),
    ]

    static let others = [
        Case("add a container", .addContainer(name: "A"), permitted: [.everything], refused: [.onlyAda]),
        Case("delete a container", .deleteContainer(RecordNumber(9)), permitted: [.everything], refused: [.onlyAda]),
        Case(
            "update a card that is not visible", .update(bob, Contact(), keys: .names),
            permitted: [.everything, .everyName, .adaAndBob], refused: [.onlyAda]),
        Case(
            "update a key that is not granted", .update(ada, Contact(), keys: ContactKeySet([.phoneNumbers])),
            permitted: [.everything, .onlyAda], refused: [.everyName]),
        Case("delete a card that is not visible", .delete(bob), permitted: [.everything], refused: [.onlyAda]),
        Case("delete a card that is not seen whole", .delete(ada), permitted: [.onlyAda], refused: [.everyName]),
    ]

    @Test("Each step is held against what the app may use by then", arguments: groups + links + others)
    func step(_ each: Case) throws {
        var made = OwnRecords()
        made.groups = [RecordNumber(10), RecordNumber(11)]
        let changes = SaveChanges(each.steps, made, try reading(each.readUnder)) { count in
            (0..<count).map { RecordNumber(100 + Int64($0)) }
        }
        for view in each.permitted { #expect(changes.mayBeMade(try reading(view)), "\(view)") }
        for view in each.refused { #expect(!changes.mayBeMade(try reading(view)), "\(view)") }
    }
}
