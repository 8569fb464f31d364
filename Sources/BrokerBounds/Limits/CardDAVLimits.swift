/// What clients of contactbroker-dav may use. Sizes are bytes.
public enum CardDAVLimits {
    /// Open connections of one user. Thunderbird opens at most six, other clients one.
    public static let connectionsPerUser = 64
    /// Open connections in all.
    public static let connections = 256
    /// The body of one request. A card with a photo of 12 MB in base64 has 16 million bytes.
    public static let body = 16 * 1_048_576
    /// The bodies of all requests that are not answered yet.
    public static let bodies = 32 * 1_048_576
    /// One header field.
    public static let field = 8_192
    /// All header fields of a request.
    public static let fields = 32_768
    /// Header fields of a request.
    public static let fieldCount = 64
    /// How long a client may take for the head of its next request. Ends idle connections, too.
    public static let headTime = Duration.seconds(60)
    /// How long a client may take for the body of a request, and to take a piece of a response.
    public static let bodyTime = Duration.seconds(60)
    /// How long the broker may take for one reply.
    public static let brokerTime = Duration.seconds(10)
    /// The longest last part of a card's path.
    public static let cardName = 255
    /// The longest UID that a client may give a card.
    public static let uid = 1_024
    /// How often a change is tried again because somebody else changed the card meanwhile.
    public static let attempts = 4
    /// Cards of one response of which is remembered what was sent. Of more, a client's later change removes nothing.
    public static let cardsRemembered = 100_000

    // MARK: Internal: how the service works; beyond it a client waits, or gets the same in more parts

    /// How long a client that was refused may go on sending, so that it can read why.
    public static let drainTime = Duration.seconds(2)
    /// Threads that wait for the broker, for all connections.
    public static let brokerThreads = 8
    /// Contacts that one call asks the broker for by identifier.
    public static let batch = 200
    /// A piece of a response is written once it has this size, so that no book is held as a whole.
    public static let piece = 65_536
    /// The longest user name and the longest password that are passed to the broker.
    public static let credential = 256
    /// How long a client should wait while the broker is not there, in seconds.
    public static let retryAfter = 5
}
