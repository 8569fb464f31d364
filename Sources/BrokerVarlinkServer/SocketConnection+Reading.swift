import BrokerVarlink

/// Decides when a connection reads.
extension SocketConnection {
    private var mayRead: Bool {
        guard isAdmitted, !isClosed, !inputHasEnded else { return false }
        guard decoder.bufferedBytes > limits.pipelinedBytes else { return true }
        // Beyond the limit, reads only the missing part of one long call; complete calls stay buffered.
        guard !isOccupied, unsentBytes <= limits.unsentBytes, !decoder.hasFrame(), account.mayRead(self) else {
            return false
        }
        return keepsPace
    }

    /// Whether the app's long calls may be read now. If not, reads on when they may.
    private var keepsPace: Bool {
        pause?.cancel()
        pause = account.pause.map { pause in loop.after(pause) { [weak self] in self?.readOn() } }
        return pause == nil
    }

    var isWithheld: Bool { isAdmitted && !inputHasEnded && !interest.contains(.readable) }

    /// Stops reading when enough is buffered, and resumes later. The frame timeout does not count the pause.
    func readOn() {
        guard !isClosed, isWithheld == mayRead else { return }
        listen(to: isWithheld ? interest.union(.readable) : interest.subtracting(.readable))
        watchFrame(isNew: true)
    }

    func watchFrame(isNew: Bool) {
        if decoder.bufferedBytes > 0, !inputHasEnded, !isWithheld, !decoder.hasFrame() {
            if isNew || !frameWatch.isRunning { frameWatch.start() }
        } else {
            frameWatch.stop()
        }
    }
}
