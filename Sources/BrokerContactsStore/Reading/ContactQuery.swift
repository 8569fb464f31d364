import BrokerModel

/// A query of the book, and the maximum amount to return at once.
public struct ContactQuery: Hashable, Sendable {
    /// Only these records are read.
    public var scope: RecordScope
    public var predicate: ContactPredicate?
    /// The keys that the predicate and the order may use; all other keys count as empty.
    public var matchKeys: ContactKeySet
    public var order: ContactOrder
    /// The cursor after which to continue; `nil` starts at the beginning.
    public var after: Position?
    /// The maximum number of contacts to return.
    public var limit: Int
    /// The page ends when it has this many bytes of ``disclosedKeys`` and ``images``. The first contact is
    /// returned regardless of its size.
    public var byteLimit: Int
    /// The keys to be disclosed; other keys may be absent from the result. Only these keys and the images count
    /// towards ``byteLimit``, so the size of a page reveals nothing about hidden keys.
    public var disclosedKeys: ContactKeySet
    /// The images to read; other keys in the set are ignored.
    public var images: ContactKeySet
    /// Whether linked contacts of the scope are unified. A unified contact is sorted as its first card and
    /// matches if any of its cards does.
    public var unifies: Bool

    public init(
        scope: RecordScope, predicate: ContactPredicate? = nil, matchKeys: ContactKeySet = .all,
        order: ContactOrder = .none, after: Position? = nil, limit: Int = 100, byteLimit: Int = 1_048_576,
        disclosedKeys: ContactKeySet = .all, images: ContactKeySet = [], unifies: Bool = false
    ) {
        self.scope = scope
        self.predicate = predicate
        self.matchKeys = matchKeys
        self.order = order
        self.after = after
        self.limit = limit
        self.byteLimit = byteLimit
        self.disclosedKeys = disclosedKeys
        self.images = images
        self.unifies = unifies
    }
}

/// The end of a fetch: its last cursor, and whether more contacts follow.
public struct FetchEnd: Hashable, Sendable {
    /// The cursor of the last contact returned; `nil` if there was none.
    public let last: Position?
    /// Whether another contact follows.
    public let hasMore: Bool

    public init(last: Position?, hasMore: Bool) {
        self.last = last
        self.hasMore = hasMore
    }
}

extension ContactImages {
    /// Returns the JSON member of an image, after a comma; `nil` if the stored image is damaged.
    static func member(_ key: ContactKey, _ base64: [UInt8]) -> [UInt8]? {
        guard CardChecksum.isBase64(base64) else { return nil }
        return Array(",\"\(key.rawValue)\":\"".utf8) + base64 + [UInt8(ascii: "\"")]
    }
}
