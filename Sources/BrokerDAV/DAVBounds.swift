/// Limits on one request. Sizes are bytes unless the comment says otherwise.
public enum DAVBounds {
    /// The largest body of a request. A multiget of 100,000 hrefs fits.
    public static let body = 16 * 1_048_576
    /// Elements that may be open at once.
    public static let depth = 64
    /// Elements of one document. Bounds the memory for a document of empty elements, which take more space once parsed.
    public static let elements = 262_144
    /// Attributes of one element; declarations of namespaces do not count.
    public static let attributes = 32
    /// Attributes of one document. A short attribute in a long namespace costs as much time as a long one.
    public static let attributesInDocument = 65_536
    /// Different names of elements and attributes in one document. Clients use fewer than 30.
    public static let names = 1_024
    /// A name, together with its namespace. Also a namespace that is only declared.
    public static let name = 512
    /// Text of one element. Longer than any href, token or filter.
    public static let text = 65_536
    /// A tag, a comment or a processing instruction. Text has its own bound.
    public static let token = 65_536
    /// Properties that one request may name, and properties of a card that `address-data` may choose. Each is written
    /// once for every resource, so their number multiplies the size of the response.
    public static let properties = 64
    /// Conditions in the filter of a query. Each is evaluated for every card.
    public static let conditions = 64
    /// The text of one condition.
    public static let conditionText = 1_024
    /// An href or a request target.
    public static let href = 4_096
    /// The value of a header field, all its lines together.
    public static let field = 8_192
    /// Items of a header field that is a list, and parameters of a media type.
    public static let fieldItems = 64

    // MARK: Internal: how the parser is fed

    /// Bytes that ``XMLReader`` collects before it calls expat.
    static let piece = 16_384
}
