import BrokerJSON

/// One call of one connection, from its frame to its last reply. It lives on the loop.
///
/// A call is answered once: by ``reply(_:continues:sensitive:)`` without `continues`, or by ``fail(_:)``. Before that, and only where the
/// caller asked for `more`, any number of replies with `continues`. Answering a call that is over, or whose
/// connection is gone, does nothing: the person may take two minutes to answer, and the caller may not wait.
public final class Call {
    /// Fully qualified, for example `io.contactbroker.Contacts.FetchContacts`.
    public let method: String
    /// An object; empty where the caller sent none.
    public let parameters: JSONValue
    public let more: Bool
    public let oneway: Bool
    public let connection: any Connection

    /// Over: answered for good, or its connection is closed.
    public private(set) var isOver = false
    /// Runs once when the connection closes before the call was answered. Set it to learn that nobody waits any more.
    public var onAbandoned: (() -> Void)?

    public init(method: String, parameters: JSONValue, more: Bool, oneway: Bool, connection: any Connection) {
        self.method = method
        self.parameters = parameters
        self.more = more
        self.oneway = oneway
        self.connection = connection
    }

    /// The method's own name, without its interface.
    public var name: Substring { method[(method.lastIndex(of: ".").map(method.index(after:)) ?? method.startIndex)...] }

    /// Answers.
    ///
    /// - Parameters:
    ///   - parameters: a JSON object, written out.
    ///   - continues: another reply follows. Only for a caller that asked for `more`.
    ///   - sensitive: the reply discloses something that can be taken back: ``Connection/withdraw(_:)`` drops it as
    ///     long as the kernel does not have it.
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

    /// Runs the body once the peer has taken what it was sent before: at once, or when it has read enough.
    /// Never runs after the connection has closed.
    public func whenWritable(_ body: @escaping () -> Void) {
        guard !isOver else { return }
        connection.whenWritable(body)
    }

    /// The connection closed. Only connections call this.
    public func abandon() {
        guard !isOver else { return }
        isOver = true
        let heard = onAbandoned
        onAbandoned = nil
        heard?()
    }

    private func finish() {
        isOver = true
        onAbandoned = nil
    }
}

/// What a connection is given to send for a call.
public enum Reply {
    case parameters([UInt8], continues: Bool, sensitive: Bool)
    case error(VarlinkError)
}

/// One connection as those who answer its calls see it. It lives on the loop.
public protocol Connection: AnyObject {
    /// What the server's owner keeps with the connection, such as who is calling.
    var context: AnyObject? { get set }
    var isClosed: Bool { get }

    /// Sends a reply. Calls are dispatched one after the other, so replies are in the order of the calls;
    /// for a `oneway` call nothing is sent.
    func send(_ reply: Reply, for call: Call)

    func whenWritable(_ body: @escaping () -> Void)

    /// Takes back what was disclosed but has not left: sensitive replies that the kernel does not have yet.
    ///
    /// A final reply is replaced by the error, so that the caller's count of replies stays right. If a sensitive
    /// reply has partly left, the connection is closed.
    /// - Returns: how many replies were taken back.
    @discardableResult
    func withdraw(_ error: VarlinkError) -> Int

    func close()
}
