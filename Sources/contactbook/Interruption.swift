import CBrokerLinux
import Glibc

/// Notices that the person wants to stop (^C), so that what runs can come to a place where it may, and say how far it
/// came. There may be one in a program.
final class Interruption {
    private let descriptor: CInt
    private var isNoted = false

    /// From now on, ^C no longer ends the program by itself.
    init() {
        descriptor = clinux_watch_signals([SIGINT], 1)
    }

    /// Whether it has come.
    var hasCome: Bool {
        var number: UInt8 = 0
        if !isNoted, descriptor >= 0 { isNoted = read(descriptor, &number, 1) == 1 }
        return isNoted
    }

    /// Waits until there is something to read, or the interruption comes.
    ///
    /// - Returns: whether there is something to read. What was under way before is not.
    func hasNotCome(before input: CInt) -> Bool {
        guard descriptor >= 0 else { return true }
        while !hasCome {
            var waiting = [input, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            if poll(&waiting, nfds_t(waiting.count), -1) < 0, errno != EINTR { return true }
            if waiting[0].revents != 0, !hasCome { return true }
        }
        return false
    }

    /// Ends the program by the signal, as whoever sent it expects.
    func take() -> Never {
        _ = clinux_take_signal(SIGINT)
        exit(130)
    }
}
