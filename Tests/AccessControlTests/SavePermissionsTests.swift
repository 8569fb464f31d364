import BrokerAccessControl
import BrokerModel
import Testing

private let ada = RecordNumber(1)
private let grace = RecordNumber(2)

/// Save permissions as a table: one row for each change, one group of columns for each right, and in it one column for each
/// view of the address book.
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

        func permissions(_ changes: ChangeRight) throws -> SavePermissions {
            let (access, keys): (Access, ContactKeySet) =
                switch self {
                case .full: (.full, Grant.ordinaryKeys)
                case .fullNames: (.full, .names)
                case .limited: (.limited(to: [ada]), Grant.ordinaryKeys)
                case .limitedGroups: (.limited(to: [ada]), Grant.ordinaryKeys.union(.groups))
                case .limitedNames: (.limited(to: [ada]), .names)
                }
            let grant = Grant(
                access: access, keys: keys, changes: changes, revision: 1, decidedBy: .person, decidedAt: 0)
            guard case .permit(let disclosure) = decideAccess(.granted(grant), mayAsk: false) else {
                throw NotPermitted()
            }
            // The policy forbids notes in new cards.
            return SavePermissions(
                disclosure, writableKeys: ContactKeySet.all.subtracting(ContactKeySet([.note])), changes: changes)
        }
    }

    struct NotPermitted: Error {}

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expected: [Bool]
        let ask: @Sendable (SavePermissions) -> Bool

        /// - Parameter expected: `+` or `-` for each view, for the rights `none`, `own`, `edit` and `all`.
        init(_ name: String, _ expected: String, _ ask: @escaping @Sendable (SavePermissions) -> Bool) {
            (testDescription, self.ask) = (name, ask)
            self.expected = expected.filter { $0 != " " }.map { $0 == "+" }
        }
    }

    static let rows = [
        Row("add a card", "----- +++++ +++++ +++++") {
            $0.mayAdd(writing: ContactKeySet([.givenName, .phoneNumbers]))
        },
        Row("add a card with what the policy forbids", "----- ----- ----- -----") {
            $0.mayAdd(writing: ContactKeySet([.givenName, .note]))
        },
        Row("add a group", "----- +++++ +++++ +++++") { $0.mayAdd },
        Row("put a new card into a container", "----- ++--- ++--- ++---") { $0.mayPutIntoContainers },
        Row("update a name of Ada", "----- ----- +++++ +++++") {
            $0.mayUpdate(ada, isOwn: false, writing: ContactKeySet([.givenName]))
        },
        Row("update a number of Ada", "----- ----- +-++- +-++-") {
            $0.mayUpdate(ada, isOwn: false, writing: ContactKeySet([.phoneNumbers]))
        },
        Row("update a name of Ada, its own card", "----- +++++ +++++ +++++") {
            $0.mayUpdate(ada, isOwn: true, writing: ContactKeySet([.givenName]))
        },
        Row("update a number of Ada, its own card", "----- +-++- +-++- +-++-") {
            $0.mayUpdate(ada, isOwn: true, writing: ContactKeySet([.phoneNumbers]))
        },
        Row("update a name of Grace", "----- ----- ++--- ++---") {
            $0.mayUpdate(grace, isOwn: false, writing: ContactKeySet([.givenName]))
        },
        Row("update Grace, its own card that it does not see any more", "----- ++--- ++--- ++---") {
            $0.mayUpdate(grace, isOwn: true, writing: ContactKeySet([.givenName]))
        },
        Row("update Ada's note", "----- ----- ----- -----") {
            $0.mayUpdate(ada, isOwn: true, writing: ContactKeySet([.note]))
        },
        Row("delete Ada", "----- ----- ----- +-++-") { $0.mayDelete(ada, isOwn: false) },
        Row("delete Ada, its own card", "----- +++++ +++++ +++++") { $0.mayDelete(ada, isOwn: true) },
        Row("delete Grace", "----- ----- ----- +----") { $0.mayDelete(grace, isOwn: false) },
        Row("delete Grace, its own card that it does not see any more", "----- ++--- ++--- ++---") {
            $0.mayDelete(grace, isOwn: true)
        },
        Row("link cards", "----- ----- ----- +----") { $0.mayLink },
        Row("add and delete containers", "----- ----- ----- ++---") { $0.mayChangeContainers },
        Row("say which card is the person's", "----- ----- ----- ++---") { $0.maySetMe },
        Row("change settings", "----- ----- ----- ++---") { $0.mayChangeSettings },
        Row("rename a group of others", "----- ----- ----- ++---") { $0.mayChangeGroup(isOwn: false) },
        Row("rename its own group", "----- +++++ +++++ +++++") { $0.mayChangeGroup(isOwn: true) },
        Row("change who is in a group of others", "----- ----- ++-+- ++-+-") {
            $0.mayChangeMembers(ofGroupThatIsOwn: false)
        },
        Row("change who is in its own group", "----- +++++ +++++ +++++") {
            $0.mayChangeMembers(ofGroupThatIsOwn: true)
        },
    ]

    @Test("Each change is permitted or refused as the table says", arguments: rows)
    func table(_ row: Row) throws {
        let columns = ChangeRight.allCases.flatMap { right in View.allCases.map { (right, $0) } }
        try #require(row.expected.count == columns.count)
        for ((right, view), expected) in zip(columns, row.expected) {
            #expect(row.ask(try view.permissions(right)) == expected, "\(right), \(view)")
        }
    }

    @Test("A lower right never permits what a higher one refuses", arguments: rows)
    func narrows(_ row: Row) throws {
        for view in View.allCases {
            let answers = try ChangeRight.allCases.sorted().map { row.ask(try view.permissions($0)) }
            #expect(answers == answers.sorted { !$0 && $1 }, "\(view)")
        }
    }
}
