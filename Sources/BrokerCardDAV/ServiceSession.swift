import BrokerBounds
import BrokerDAV
import BrokerModel
import Synchronization

/// The broker's side of one HTTP connection. It answers one request at a time, and waits for the broker meanwhile: never
/// call it on an event loop.
///
/// It keeps the last connection to the broker for as long as the client sends the same password.
public final class ServiceSession: Sendable {
    private struct Opened {
        let credentials: BasicCredentials
        let book: BrokerBook
    }

    private struct State {
        var opened: Opened?
        /// The rest of a response's body.
        var listing: (rest: CardListing, first: [UInt8]?)?
        /// What the client knows once it has the whole response.
        var sent: [(identifier: String, properties: [UInt8])] = []
    }

    private let socket: String
    private let user: UInt32
    private let sent: SentCards
    private let report: @Sendable (String) -> Void
    /// A connection answers one request after the other. Only ``delivered()`` may wait for an answer.
    private let state = Mutex(State())

    /// - Parameters:
    ///   - socket: the broker's.
    ///   - user: whose program is at the other end of the connection, as the kernel says.
    ///   - sent: what the service remembers.
    ///   - report: logs a problem with the broker. Called on the thread of the call.
    public init(socket: String, user: UInt32, _ sent: SentCards, report: @escaping @Sendable (String) -> Void) {
        (self.socket, self.user, self.sent, self.report) = (socket, user, sent, report)
    }

    /// Returns the response. If its body comes in pieces, ``nextPiece()`` returns them.
    ///
    /// - Parameters:
    ///   - host: how the client names this server.
    public func respond(to head: RequestHead, _ body: RequestBody, host: String) -> Response {
        // Clients find the book from here before they have a password.
        if head.target == "/.well-known/carddav" { return Response(301, [("Location", "/")]) }
        let fields = head.values("authorization")
        guard fields.count == 1, let credentials = BasicCredentials(authorization: fields[0]),
            credentials.user.utf8.count <= CardDAVLimits.credential,
            credentials.password.count <= CardDAVLimits.credential
        else { return .unauthorized }
        return state.withLock { state in
            // A client that asks again on the connection has the response before.
            keepSent(&state)
            state.listing = nil
            do throws(BrokerFailure) {
                let book = try open(credentials, &state)
                let answer = try Answering(
                    head, body, host: host, name: credentials.user, book, sent, try book.access()
                ).answer()
                switch answer {
                case .whole(let response): return response
                case .card(let response, let identifier, let properties):
                    state.sent = properties.map { [(identifier, SentCards.bytes($0))] } ?? []
                    return response
                case .listing(var listing):
                    // The first reply of the broker can still decide the status.
                    let first = try listing.next(from: book)
                    state.listing = (listing, first)
                    return .xml(207, .pieces)
                }
            } catch {
                return refusal(error, &state)
            }
        }
    }

    /// Returns the next piece of the body; `nil` after the last.
    ///
    /// - Throws: if the rest cannot be read. The response must then not look complete.
    public func nextPiece() throws -> [UInt8]? {
        try state.withLock { state in
            guard var listing = state.listing, let book = state.opened?.book else { return nil }
            do throws(BrokerFailure) {
                var piece = listing.first.take()
                if piece == nil { piece = try listing.rest.next(from: book) }
                if piece == nil { state.sent = listing.rest.sent }
                state.listing = piece == nil ? nil : listing
                return piece
            } catch {
                _ = refusal(error, &state)
                throw error
            }
        }
    }

    /// Call this when the client has ended the connection after it read all of it.
    public func delivered() { state.withLock { keepSent(&$0) } }

    private func keepSent(_ state: inout State) {
        guard let book = state.opened?.book, !state.sent.isEmpty else { return }
        do throws(BrokerFailure) {
            try sent.keep(state.sent, of: book.connection)
        } catch {
            report(error.reason)
        }
        state.sent = []
    }

    private func open(_ credentials: BasicCredentials, _ state: inout State) throws(BrokerFailure) -> BrokerBook {
        // The same client compares here what it sent itself, so the time of the comparison tells it nothing.
        if let opened = state.opened, opened.credentials.user == credentials.user,
            opened.credentials.password == credentials.password, opened.book.isOpen
        {
            return opened.book
        }
        state.opened?.book.close()
        state.opened = nil
        let book = try BrokerBook(socket: socket, user: user, credentials)
        state.opened = Opened(credentials: credentials, book: book)
        return book
    }

    private func refusal(_ failure: BrokerFailure, _ state: inout State) -> Response {
        // Replies of a call that failed halfway must not be taken for those of the next.
        state.opened?.book.close()
        (state.opened, state.listing) = (nil, nil)
        switch failure {
        case .wrongPassword(let wait):
            var response = Response.unauthorized
            response.delay = wait
            return response
        case .unavailable(let reason):
            report(reason)
            return .unavailable
        }
    }
}
