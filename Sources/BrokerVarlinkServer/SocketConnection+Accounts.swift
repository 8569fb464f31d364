import BrokerVarlink

/// What the accounts know of a connection, and how it counts there.
extension SocketConnection {
    /// Whether closing it would interrupt a call.
    var isBusy: Bool { current != nil || decoder.bufferedBytes > 0 || outgoing.unsentBytes > 0 }
    var hasUnfinishedLongCall: Bool { current == nil && decoder.bufferedBytes > limits.pipelinedBytes }

    var heldBytes: Int { callBytes + replyBytes }
    /// Unread bytes of all connections of its app.
    var unreadOfApp: Int { account.replyBytes }

    /// Counts the buffered calls, and the one that is not answered yet.
    func countCallBytes() {
        let held = isClosed ? 0 : decoder.bufferedBytes + (current == nil ? 0 : currentSize)
        guard held != callBytes else { return }
        let difference = held - callBytes
        // Before the account is told: it may close this connection, which counts again.
        callBytes = held
        account.holdCallBytes(difference)
        if decoder.bufferedBytes <= limits.pipelinedBytes || isClosed { account.finishedLongCall(self) }
    }

    /// Counts the replies that the kernel has not taken.
    func countReplyBytes() {
        let held = isClosed ? 0 : outgoing.unsentBytes
        if isClosed { account.user.unstall(self) }
        guard held != replyBytes else { return }
        let difference = held - replyBytes
        replyBytes = held
        account.holdReplyBytes(difference)
    }
}
