import BrokerBounds
import BrokerCardDAV
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOPosix
import Testing

@testable import contactbroker_dav

@Suite("Clients that are slow")
struct SlowClientTests {
    private let host = "127.0.0.1:20001"
    private let second = TimeAmount.seconds(1)

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A connection whose requests no broker answers.
    private func connection() throws -> EmbeddedChannel {
        let session = ServiceSession(socket: "/nowhere", user: 0, try SentCards(folder: folder.path)) { _ in }
        let handler = RequestHandler(session, Connections(), host: host, NIOThreadPool(numberOfThreads: 1))
        let channel = EmbeddedChannel(handler: handler)
        try channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func head(_ method: HTTPMethod) -> HTTPServerRequestPart {
        .head(HTTPRequestHead(version: .http1_1, method: method, uri: "/", headers: ["Host": host]))
    }

    private func advance(_ channel: EmbeddedChannel, _ time: Duration) {
        channel.embeddedEventLoop.advanceTime(by: TimeAmount(time) - second)
    }

    @Test("A connection without a request is closed after a minute")
    func idle() throws {
        let channel = try connection()
        advance(channel, CardDAVLimits.headTime)
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: second)
        #expect(!channel.isActive)
    }

    @Test("A body has a minute from its head, however often a byte of it comes")
    func body() throws {
        let channel = try connection()
        advance(channel, CardDAVLimits.headTime)
        try channel.writeInbound(head(.PROPFIND))
        for _ in 0..<59 {
            channel.embeddedEventLoop.advanceTime(by: second)
            try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: " ")))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: second)
        #expect(!channel.isActive)
    }

    @Test("A client that was refused can read why, and is closed soon after")
    func refused() throws {
        let channel = try connection()
        try channel.writeInbound(
            HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")))
        guard case .head(let response) = try channel.readOutbound(as: HTTPServerResponsePart.self) else {
            return #expect(Bool(false), "no response")
        }
        #expect(response.status == .badRequest && response.headers["connection"] == ["close"])
        try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: " ")))
        channel.embeddedEventLoop.advanceTime(by: TimeAmount(CardDAVLimits.drainTime))
        #expect(!channel.isActive)
    }
}
