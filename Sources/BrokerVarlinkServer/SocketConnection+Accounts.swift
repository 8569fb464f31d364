import BrokerVarlink

/// Counts the resources of a connection in its accounts.
extension SocketConnection {
    /// Whether closing the connection would interrupt a call.
    var isBusy: Bool { isOccupied || decoder.bufferedBytes > 0 || outgoing.unsentBytes > 0 }
    var hasUnfinishedLongCall: Bool { !isOccupied && decoder.bufferedBytes > limits.pipelinedBytes }

    var heldBytes: Int { callBytes + replyBytes }
    /// The unread reply bytes of all connections of this connection's app.
    var unreadOfApp: Int { account.replyBytes }

    /// Counts the bytes of the buffered calls and of the call that is not answered yet.
    func countCallBytes() {
        let held = isClosed ? 0 : decoder.bufferedBytes + (isOccupied ? currentSize : 0)
        guard held != callBytes else { return }
        let difference = held - callBytes
        // This is set before the account is changed. The account may close this connection, and closing calls
        // this method again.
        callBytes = held
        account.holdCallBytes(difference)
        if decoder.bufferedBytes <= limits.pipelinedBytes || isClosed { account.finishedLongCall(self) }
    }

    /// Counts the reply bytes that the kernel has not accepted.
    func countReplyBytes() {
        let held = isClosed ? 0 : outgoing.unsentBytes
        if isClosed { account.user.unstall(self) }
        guard held != replyBytes else { return }
        let difference = held - replyBytes
        replyBytes = held
        account.holdReplyBytes(difference)
    }

    /// Closes the socket. Until it is closed, it counts as one of the app's connections.
    func closeSocket() {
        let user = account.user
        user.budget.closer.close(peer.descriptor, of: user.owner, on: loop) { [self] in
            account.close(self)
            server.released(user)
        }
    }
}
