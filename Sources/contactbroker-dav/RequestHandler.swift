import BrokerBounds
import BrokerCardDAV
import BrokerDAV
import NIOCore
import NIOHTTP1
import NIOPosix

/// Reads the requests of one connection, one after the other, and writes the responses.
///
/// NIO parses HTTP, with our bounds on header fields. It refuses folded fields, two lengths, and a length with chunks. What
/// it does not check is checked here and in ``RequestHead/refusal(host:)``.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case waiting
        case receiving(RequestHead, XMLReader?, keepAlive: Bool)
        /// A job runs, or a response is being written.
        case answering(isHead: Bool, keepAlive: Bool)
        /// The request is refused; the rest of it is dropped until the client ends the connection.
        case refused
    }

    private let session: ServiceSession
    private let connections: Connections
    private let host: String
    private let threads: NIOThreadPool
    private var state = State.waiting
    /// The size of the body so far.
    private var received = 0
    /// The body so far, if it is a card.
    private var card: [UInt8] = []
    /// Whether the next piece waits until the client has taken more of the response.
    private var waitsForClient = false
    private var hasFailed = false
    private var deadline: Scheduled<Void>?

    init(_ session: ServiceSession, _ connections: Connections, host: String, _ threads: NIOThreadPool) {
        (self.session, self.connections, self.host, self.threads) = (session, connections, host, threads)
    }

    func channelActive(context: ChannelHandlerContext) {
        expect(within: CardDAVLimits.headTime, context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        switch state {
        // A job has the body until it is done.
        case .answering: break
        // The client ended the connection. A client that leaves something unread resets it instead.
        case .waiting where !hasFailed:
            threads.runIfActive(eventLoop: context.eventLoop) { [session] in session.delivered() }.whenFailure { _ in }
        case .waiting, .receiving, .refused: forgetBody()
        }
        state = .refused
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        hasFailed = true
        context.close(promise: nil)
    }

    /// Closes the connection unless the next call comes in time.
    private func expect(within time: Duration?, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = time.map { time in
            context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) { context.close(promise: nil) }
        }
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .waiting): begin(head, context)
        case (.body(let bytes), .receiving(_, let reader, _)): receive(bytes, reader, context)
        case (.end, .receiving(let head, let reader, let keepAlive)): finish(head, reader, keepAlive, context)
        default: break
        }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        expect(within: CardDAVLimits.bodyTime, context)
        let request = RequestHead(
            method: head.method.rawValue, target: head.uri, fields: head.headers.map { ($0.name, $0.value) })
        guard head.version == .http1_1 else { return refuse(.plain(505), context) }
        if let refusal = request.refusal(host: host) { return refuse(refusal, context) }
        if request.expectsContinue {
            guard !request.values("authorization").isEmpty else { return refuse(.unauthorized, context) }
            let proceed = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(proceed)), promise: nil)
        }
        state = .receiving(request, request.hasXMLBody ? XMLReader() : nil, keepAlive: head.isKeepAlive)
    }

    private func receive(_ bytes: ByteBuffer, _ reader: XMLReader?, _ context: ChannelHandlerContext) {
        let count = bytes.readableBytes
        guard received + count <= CardDAVLimits.body else { return refuse(.plain(413), context) }
        guard connections.takeBody(count) else { return refuse(.unavailable, context) }
        received += count
        if case .receiving(let head, _, _) = state, head.hasCard { card += Array(buffer: bytes) }
        do throws(XMLError) {
            try reader?.append(bytes.readableBytesSpan)
        } catch {
            refuse(.plain(error.status), context)
        }
    }

    private func finish(
        _ head: RequestHead, _ reader: XMLReader?, _ keepAlive: Bool, _ context: ChannelHandlerContext
    ) {
        let document: XMLDocument?
        do throws(XMLError) {
            document = try reader?.finish()
        } catch {
            return refuse(.plain(error.status), context)
        }
        state = .answering(isHead: head.method == "HEAD", keepAlive: keepAlive)
        expect(within: nil, context)
        let (session, host) = (session, host)
        let body: RequestBody = head.hasXMLBody ? .xml(document) : head.hasCard ? .card(card) : .unused
        threads.runIfActive(eventLoop: context.eventLoop) { session.respond(to: head, body, host: host) }
            .assumeIsolated().whenComplete { [self] result in
                forgetBody()
                guard case .success(let response) = result, case .answering = state else {
                    return context.close(promise: nil)
                }
                guard response.delay > .zero else { return write(response, context) }
                context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(response.delay)) {
                    self.write(response, context)
                }
            }
    }

    private func forgetBody() {
        connections.free(body: received)
        received = 0
        card = []
    }

    // MARK: Writing

    private func write(_ response: Response, _ context: ChannelHandlerContext) {
        guard case .answering(let isHead, let keepAlive) = state else { return }
        var head = Self.head(of: response, keepAlive: keepAlive)
        switch response.body {
        case .none:
            if response.status != 304, response.status != 204 { head.headers.add(name: "Content-Length", value: "0") }
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            end(keepAlive, context)
        case .whole(let bytes):
            head.headers.add(name: "Content-Length", value: "\(bytes.count)")
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            if !isHead { write(bytes, context) }
            end(keepAlive, context)
        // NIO frames such a body in chunks.
        case .pieces:
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            writeNextPiece(context)
        }
    }

    private static func head(of response: Response, keepAlive: Bool) -> HTTPResponseHead {
        var head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: response.status))
        for (name, value) in response.fields { head.headers.add(name: name, value: value) }
        if !keepAlive { head.headers.add(name: "Connection", value: "close") }
        return head
    }

    private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        let part = HTTPServerResponsePart.body(.byteBuffer(context.channel.allocator.buffer(bytes: bytes)))
        context.writeAndFlush(wrapOutboundOut(part), promise: nil)
    }

    private func writeNextPiece(_ context: ChannelHandlerContext) {
        guard context.channel.isWritable else {
            waitsForClient = true
            return expect(within: CardDAVLimits.bodyTime, context)
        }
        let session = session
        threads.runIfActive(eventLoop: context.eventLoop) { try session.nextPiece() }
            .assumeIsolated().whenComplete { [self] result in
                guard case .answering(_, let keepAlive) = state else { return }
                switch result {
                case .success(let piece?):
                    write(piece, context)
                    writeNextPiece(context)
                case .success(nil): end(keepAlive, context)
                // Without its last chunk, the response cannot be taken for a complete one.
                case .failure: context.close(promise: nil)
                }
            }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if waitsForClient, context.channel.isWritable {
            waitsForClient = false
            expect(within: nil, context)
            writeNextPiece(context)
        }
        context.fireChannelWritabilityChanged()
    }

    private func end(_ keepAlive: Bool, _ context: ChannelHandlerContext) {
        let written = context.eventLoop.makePromise(of: Void.self)
        if !keepAlive {
            written.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        }
        state = keepAlive ? .waiting : .refused
        expect(within: CardDAVLimits.headTime, context)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    /// Answers before the whole request is there. A connection that is closed while it has unread bytes is reset, and the
    /// client may lose the response; so its bytes are dropped for a while.
    private func refuse(_ response: Response, _ context: ChannelHandlerContext) {
        forgetBody()
        state = .refused
        expect(within: CardDAVLimits.drainTime, context)
        var head = Self.head(of: response, keepAlive: false)
        head.headers.add(name: "Content-Length", value: "0")
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in context.close(mode: .output, promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }
}
