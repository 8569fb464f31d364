import BrokerModel

/// What is wanted of the book, and how much of it at once.
public struct ContactQuery: Hashable, Sendable {
    /// Nothing outside it is looked at.
    public var scope: RecordScope
    public var predicate: ContactPredicate?
    /// The keys that the predicate and the order may look at; every other one is as if empty.
    public var matchKeys: ContactKeySet
    public var order: ContactOrder
    /// Goes on after this place; from the beginning where `nil`.
    public var after: Position?
    /// Most contacts to give.
    public var limit: Int
    /// Stops once this many bytes of ``toldKeys`` were given. The first contact is given whatever its size.
    public var byteLimit: Int
    /// The keys that are measured: those that will be told, so that where a page ends says nothing of the others.
    public var toldKeys: ContactKeySet
    /// Which images are wanted; other keys of the set mean nothing.
    public var images: ContactKeySet
    /// Linked contacts of the scope are one, which stands where the first of them does, and is found if one of them is.
    public var unifies: Bool

    public init(
        scope: RecordScope, predicate: ContactPredicate? = nil, matchKeys: ContactKeySet = .all,
        order: ContactOrder = .none, after: Position? = nil, limit: Int = 100, byteLimit: Int = 1_048_576,
        toldKeys: ContactKeySet = .all, images: ContactKeySet = [], unifies: Bool = false
    ) {
        self.scope = scope
        self.predicate = predicate
        self.matchKeys = matchKeys
        self.order = order
        self.after = after
        self.limit = limit
        self.byteLimit = byteLimit
        self.toldKeys = toldKeys
        self.images = images
        self.unifies = unifies
    }
}

/// How far a fetch came.
public struct FetchEnd: Hashable, Sendable {
    /// The place of the last contact given; `nil` where none was.
    public let last: Position?
    /// Whether there is another contact after it.
    public let hasMore: Bool

    public init(last: Position?, hasMore: Bool) {
        self.last = last
        self.hasMore = hasMore
    }
}

/// Images of a contact as they go onto the wire: members of a JSON object, each with its leading comma.
public struct ContactImages: Hashable, Sendable {
    public let thumbnailImageData: [UInt8]?
    public let imageData: [UInt8]?

    public init(thumbnailImageData: [UInt8]? = nil, imageData: [UInt8]? = nil) {
        self.thumbnailImageData = thumbnailImageData
        self.imageData = imageData
    }
}
