import BrokerAccessControl
import BrokerModel
import Testing

private let ada = RecordNumber(1)
private let grace = RecordNumber(2)

/// Save permissions as a table: one row for each change, one column for each view of the address book.
@Suite("Save permissions")
struct SavePermissionsTests {
    /// The app's view of the address book: the columns of the table, in this order.
    enum View: CaseIterable {
        /// Every card, with all keys that need no grant by name.
        case full
        /// Every card, but only the names.
        case fullNames
        /// Ada, with all keys that need no grant by name.
        case limited
        /// As `limited`, and also the groups of others.
        case limitedGroups
        /// Ada, but only her names.
        case limitedNames

        func permissions() throws -> SavePermissions {
            let (access, keys): (Access, ContactKeySet) =
                switch self {
                case .full: (.full, Grant.ordinaryKeys)
                case .fullNames: (.full, .names)
                case .limited: (.limited(to: [ada]), Grant.ordinaryKeys)
                case .limitedGroups: (.limited(to: [ada]), Grant.ordinaryKeys.union(.groups))
                case .limitedNames: (.limited(to: [ada]), .names)
                }
            let grant = Grant(access: access, keys: keys, revision: 1, decidedBy: .person, decidedAt: 0)
            guard case .permit(let disclosure) = decideAccess(.granted(grant), mayAsk: false) else {
                throw NotPermitted()
            }
            // The policy forbids notes in new cards.
            return SavePermissions(disclosure, writableKeys: ContactKeySet.all.subtracting(ContactKeySet([.note])))
        }
    }

    struct NotPermitted: Error {}

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expected: [Bool]
        let ask: @Sendable (SavePermissions) -> Bool

        /// - Parameter expected: `+` or `-` for each view.
        init(_ name: String, _ expected: String, _ ask: @escaping @Sendable (SavePermissions) -> Bool) {
            (testDescription, self.expected, self.ask) = (name, expected.map { $0 == "+" }, ask)
        }
    }

    static let rows = [
        Row("add a card", "+++++") { $0.mayAdd(writing: ContactKeySet([.givenName, .phoneNumbers])) },
        Row("add a card with what the policy forbids", "-----") {
            $0.mayAdd(writing: ContactKeySet([.givenName, .note]))
        },
        Row("update a name of Ada", "+++++") { $0.mayUpdate(ada, writing: ContactKeySet([.givenName])) },
        Row("update a number of Ada", "+-++-") { $0.mayUpdate(ada, writing: ContactKeySet([.phoneNumbers])) },
        Row("update a name of Grace", "++---") { $0.mayUpdate(grace, writing: ContactKeySet([.givenName])) },
        Row("update Ada's note", "-----") { $0.mayUpdate(ada, writing: ContactKeySet([.note])) },
        Row("delete Ada", "+-++-") { $0.mayDelete(ada, isOwn: false) },
        Row("delete Ada, its own card", "+++++") { $0.mayDelete(ada, isOwn: true) },
        Row("delete Grace", "+----") { $0.mayDelete(grace, isOwn: false) },
        Row("delete Grace, its own card that it does not see any more", "++---") { $0.mayDelete(grace, isOwn: true) },
        Row("link cards", "+----") { $0.mayLink },
        Row("add and delete containers", "++---") { $0.mayChangeContainers },
        Row("say which card is the person's", "++---") { $0.maySetMe },
        Row("rename a group of others", "++---") { $0.mayChangeGroup(isOwn: false) },
        Row("rename its own group", "+++++") { $0.mayChangeGroup(isOwn: true) },
        Row("change who is in a group of others", "++-+-") { $0.mayChangeMembers(ofGroupThatIsOwn: false) },
        Row("change who is in its own group", "+++++") { $0.mayChangeMembers(ofGroupThatIsOwn: true) },
    ]

    @Test("Each change is permitted or refused as the table says", arguments: rows)
    func table(_ row: Row) throws {
        try #require(row.expected.count == View.allCases.count)
        for (view, expected) in zip(View.allCases, row.expected) {
            #expect(row.ask(try view.permissions()) == expected, "\(view)")
        }
    }
}
