import BrokerJSON

/// Values of the broker's replies.
extension JSONValue {
    /// The elements of an array; none if this is no array.
    var items: [JSONValue] { elements.map(Array.init) ?? [] }
    /// The strings of an array of strings.
    var strings: [String]? { elements?.compactMap(\.string) }
    var uid: UInt32? { integer.flatMap(UInt32.init(exactly:)) }
}
