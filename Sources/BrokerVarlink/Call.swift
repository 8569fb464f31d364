import BrokerJSON

/// One call on one connection, from its frame to its last reply. It is used only on the event loop.
///
/// A call has one final reply: ``reply(_:continues:sensitive:)`` without `continues`, or ``fail(_:)``. If the
/// caller set `more`, any number of replies with `continues` may precede it. A reply after the final one, or
/// on a closed connection, does nothing: the person may take minutes to answer, and the caller may have ended
/// by then.
public final class Call {
    /// Fully qualified, for example `io.contactbroker.Contacts.FetchContacts`.
    public let method: String
    /// An object; empty if the caller sent none.
    public let parameters: JSONValue
    public let more: Bool
    public let oneway: Bool
    public let connection: any Connection

    /// Whether the final reply was sent or the connection is closed.
    public private(set) var isOver = false
    /// Runs once if the connection closes before the final reply, so that work for the call can stop.
    public var onAbandoned: (() -> Void)?
    /// Runs once before the final reply is sent.
    public var onFinal: (() -> Void)?

    public init(
        method: String, parameters: JSONValue = JSONDocument.emptyObject.root, more: Bool = false, oneway: Bool = false,
        connection: any Connection
    ) {
        self.method = method
        self.parameters = parameters
        self.more = more
        self.oneway = oneway
        self.connection = connection
    }

    /// The method's own name, without its interface.
    public var name: Substring { method[(method.lastIndex(of: ".").map(method.index(after:)) ?? method.startIndex)...] }

    /// Sends a reply.
    ///
    /// - Parameters:
    ///   - parameters: an encoded JSON object.
    ///   - continues: whether another reply follows. Allowed only if the caller set `more`.
    ///   - sensitive: whether the reply discloses something that may be revoked: ``Connection/withdraw(_:)``
    ///     drops it as long as the kernel has not taken any of its bytes.
    public func reply(_ parameters: [UInt8], continues: Bool = false, sensitive: Bool = false) {
        precondition(!continues || more, "only a call with more has replies that continue")
        guard !isOver else { return }
        if !continues { finish() }
        connection.send(.parameters(parameters, continues: continues, sensitive: sensitive), for: self)
    }

    public func reply(continues: Bool = false, _ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.object(write)
        reply(writer.bytes, continues: continues)
    }

    public func fail(_ error: VarlinkError) {
        guard !isOver else { return }
        finish()
        connection.send(.error(error), for: self)
    }

    /// Runs the body when the connection has few unsent bytes: at once, or after the peer has read enough.
    /// Never runs it after the connection has closed.
    public func whenWritable(_ body: @escaping () -> Void) {
        guard !isOver else { return }
        connection.whenWritable(body)
    }

    /// Marks the call as over, because the connection closed. Only connections call this.
    public func abandon() {
        guard !isOver else { return }
        isOver = true
        onFinal = nil
        let abandoned = onAbandoned
        onAbandoned = nil
        abandoned?()
    }

    private func finish() {
        isOver = true
        onAbandoned = nil
        onFinal?()
        onFinal = nil
    }
}

/// A reply that a connection sends for a call.
public enum Reply {
    case parameters([UInt8], continues: Bool, sensitive: Bool)
    case error(VarlinkError)
}

/// One connection, as seen by the code that answers its calls. It is used only on the event loop.
public protocol Connection: AnyObject {
    /// Data that is stored with the connection, such as the caller's identity.
    var context: AnyObject? { get set }
    var isClosed: Bool { get }

    /// Sends a reply. Calls are dispatched one after the other, so replies are sent in the order of the calls.
    /// Nothing is sent for a `oneway` call.
    func send(_ reply: Reply, for call: Call)

    func whenWritable(_ body: @escaping () -> Void)

    /// Withdraws queued disclosures: sensitive replies of which the kernel has taken no byte yet.
    ///
    /// If a withdrawn reply was final, `error` is sent instead: every call still gets a final reply. If a
    /// sensitive reply was sent in part, the connection is closed.
    /// - Returns: the number of withdrawn replies, including one that was sent in part.
    @discardableResult
    func withdraw(_ error: VarlinkError) -> Int

    func close()
}
