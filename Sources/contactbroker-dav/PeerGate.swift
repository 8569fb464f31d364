import CBrokerLinux
import Glibc
import NIOCore

/// Finds out whose program is at the other end of a new connection, before a byte of it is read.
///
/// The order matters. The kernel is asked for the user of the other end's socket; then our own end must still be
/// established. So no other program can have taken over the addresses of a connection that was reset.
final class PeerGate: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let connections: Connections
    /// Whose connections are accepted.
    private let user: UInt32
    /// Adds the handlers that read.
    private let accept: (Channel) throws -> Void
    private var isCounted = false

    init(_ connections: Connections, user: UInt32, accept: @escaping (Channel) throws -> Void) {
        (self.connections, self.user, self.accept) = (connections, user, accept)
    }

    func channelActive(context: ChannelHandlerContext) {
        guard let peer = peer(of: context.channel), let options = context.channel as? SocketOptionProvider else {
            context.close(promise: nil)
            return
        }
        guard peer == user else {
            Log.writeSometimes("refused a connection of user \(peer)")
            context.close(promise: nil)
            return
        }
        guard connections.admit(peer) else {
            Log.writeSometimes("refused a connection: too many are open")
            context.close(promise: nil)
            return
        }
        isCounted = true
        options.getTCPInfo().assumeIsolated().whenComplete { [accept] result in
            guard case .success(let info) = result, CInt(info.tcpi_state) == CInt(TCP_ESTABLISHED),
                (try? accept(context.channel)) != nil
            else {
                context.close(promise: nil)
                return
            }
            context.fireChannelActive()
            context.channel.setOption(.autoRead, value: true).whenFailure { _ in }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isCounted { connections.leave(user) }
        isCounted = false
        context.fireChannelInactive()
    }

    private func peer(of channel: Channel) -> UInt32? {
        guard let own = channel.localAddress, let peer = channel.remoteAddress else { return nil }
        var uid: uid_t = 0
        let code = own.withSockAddr { own, _ in
            peer.withSockAddr { peer, _ in clinux_tcp_peer_user(own, peer, &uid) }
        }
        return code == 0 ? uid : nil
    }
}
