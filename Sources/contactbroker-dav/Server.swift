import BrokerBounds
import BrokerCardDAV
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// Listens on the loopback. One event loop serves all connections; calls to the broker run on a few threads of their own.
final class Server {
    private let socket: String
    private let user: UInt32
    private let sent: SentCards
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let threads = NIOThreadPool(numberOfThreads: CardDAVLimits.brokerThreads)
    private var listening: [Channel] = []

    /// - Parameters:
    ///   - socket: the broker's.
    ///   - user: whose programs are served.
    ///   - sent: what the service remembers.
    init(socket: String, user: UInt32, _ sent: SentCards) {
        (self.socket, self.user, self.sent) = (socket, user, sent)
        threads.start()
    }

    /// Listens on both addresses. A machine without IPv6 has only the first; but a port that another program has on either
    /// one is not free, because clients may find that program there.
    ///
    /// - Returns: `false` if another program has the port.
    func listen(on port: UInt16) throws(Failure) -> Bool {
        let loop = group.next()
        let connections: NIOLoopBound<Connections>
        do {
            connections = try loop.submit { NIOLoopBound(Connections(), eventLoop: loop) }.wait()
        } catch {
            throw Failure("could not start: \(error)")
        }
        for address in ["127.0.0.1", "::1"] {
            do {
                listening.append(try bootstrap(connections, address, port).bind(host: address, port: Int(port)).wait())
            } catch let error as IOError where error.errnoCode == EADDRINUSE {
                for channel in listening { try? channel.close().wait() }
                listening = []
                return false
            } catch let error as IOError
                where address == "::1" && [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode)
            {
                continue
            } catch {
                throw Failure("could not start: cannot listen on \(address) port \(port): \(error)")
            }
        }
        return true
    }

    func close() {
        for channel in listening { try? channel.close().wait() }
        try? group.syncShutdownGracefully()
    }

    private func bootstrap(
        _ connections: NIOLoopBound<Connections>, _ address: String, _ port: UInt16
    ) -> ServerBootstrap {
        let (socket, user, sent, threads) = (socket, user, sent, threads)
        let host = (address.contains(":") ? "[\(address)]" : address) + ":\(port)"
        return ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 128)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let gate = PeerGate(connections.value, user: user) { channel in
                        let session = ServiceSession(socket: socket, user: user, sent) {
                            Log.writeSometimes("the broker: \($0)")
                        }
                        try Self.addHandlers(
                            to: channel,
                            RequestHandler(session, connections.value, host: host, threads))
                    }
                    try channel.pipeline.syncOperations.addHandler(gate)
                }
            }
    }

    private static func addHandlers(to channel: Channel, _ handler: RequestHandler) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = CardDAVLimits.field
        limits.maxHeaderListSize = CardDAVLimits.fields
        limits.maxHeaderFieldCount = CardDAVLimits.fieldCount
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)
        try channel.pipeline.syncOperations.addHandlers([
            HTTPResponseEncoder(), ByteToMessageHandler(decoder), HTTPServerPipelineHandler(),
            HTTPServerProtocolErrorHandler(), handler,
        ])
    }
}
