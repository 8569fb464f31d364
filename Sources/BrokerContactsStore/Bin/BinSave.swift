/// A save of which the bin has something.
public struct BinSave: Hashable, Sendable {
    public enum Kind: Int64, Sendable {
        case save = 0
        /// A save of the person that put something back.
        case putBack
        /// A restored backup. The bin has nothing of the contacts that it replaced.
        case restore
    }

    /// Greater than that of every earlier save of the book.
    public let number: Int64
    public let kind: Kind
    /// In seconds since 1970.
    public let time: Int64
    public let author: SaveAuthor
    /// The number of contacts that the save added, changed and deleted.
    public let added: Int
    public let changed: Int
    public let deleted: Int
    /// The number of other rows that the bin has of the save: groups, who is in them, links, and the like.
    public internal(set) var others = 0
    /// `nil` if no app can take the save back.
    var group: SaveGroup?
}
