import BrokerJSON
import Foundation

/// The saves that an app takes back together, such as those of one command. An extension of this library.
///
/// The person's address book keeps what saves changed for some time (``CNContactStore/saveGroups()``). So an app can offer an
/// undo, also for what it did before it was last started.
public struct CNSaveGroup: Hashable, Sendable {
    /// The app's own name for the group, at most 256 bytes.
    public let identifier: String
    /// The app's words for what the saves do, at most 256 bytes.
    public let label: String

    /// Creates a group, with a name of its own unless you give one.
    public init(identifier: String = UUID().uuidString, label: String = "") {
        (self.identifier, self.label) = (identifier, label)
    }
}

/// A group of saves that the address book has. An extension of this library.
public struct CNSaveGroupRecord: Hashable, Sendable {
    /// Its name, and the app's words for it.
    public let group: CNSaveGroup
    /// When the first save was made, to the second.
    public let date: Date
    /// The number of contacts that the saves added. Here and below, one that several saves changed counts each time.
    public let added: Int
    /// The number of contacts that the saves changed.
    public let changed: Int
    /// The number of contacts that the saves deleted.
    public let deleted: Int
    /// The identifier of the group that these saves take back; `nil` if they are no undo.
    public let takesBack: String?
    /// Whether the group was taken back.
    public let isTakenBack: Bool
}

/// What was taken back of a group of saves. An extension of this library.
public struct CNTakenBack: Hashable, Sendable {
    /// The number of deleted contacts that came back.
    public var returned = 0
    /// The number of contacts that became what they were.
    public var changed = 0
    /// The number of added contacts that were deleted.
    public var removed = 0
    /// The number of groups that came back, got their former name, or were deleted.
    public var groups = 0
    /// The number of other changes, such as of the members of groups.
    public var others = 0
    /// The identifiers of contacts that were changed since, and stay; at most 1,000.
    public var conflicts: [String] = []
    /// The identifiers of groups that were changed since, or that others use, and stay; at most 1,000.
    public var groupConflicts: [String] = []
    /// Whether something else stays as it is. An app does not learn why: the address book has it no more, or it was changed
    /// where the app does not see it.
    public var isPartial = false
    /// Whether there is more to take back, by another call.
    public var hasMore = false

    /// Nothing was taken back.
    public init() {}

    init(_ reply: JSONValue) {
        func count(_ name: String) -> Int { reply[name]?.integer.flatMap { Int(exactly: $0) } ?? 0 }
        func texts(_ name: String) -> [String] { reply[name]?.elements?.compactMap(\.string) ?? [] }
        (returned, changed, removed) = (count("returned"), count("changed"), count("removed"))
        (groups, others) = (count("groups"), count("others"))
        (conflicts, groupConflicts) = (texts("conflicts"), texts("groupConflicts"))
        (isPartial, hasMore) = (reply["partial"]?.bool ?? false, reply["more"]?.bool ?? false)
    }

    /// The number of all changes.
    public var count: Int { returned + changed + removed + groups + others }
}
