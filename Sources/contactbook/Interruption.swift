import CBrokerLinux
import Glibc

/// Detects ^C, so that a running operation can stop at a safe point and report its progress. A program can
/// have only one object of this class.
final class Interruption {
    private let descriptor: CInt
    private var isNoted = false

    /// Starts to detect ^C. From then on, ^C does not end the program.
    init() {
        descriptor = clinux_watch_signals([SIGINT], 1)
    }

    /// Whether ^C was pressed.
    var hasCome: Bool {
        var number: UInt8 = 0
        if !isNoted, descriptor >= 0 { isNoted = read(descriptor, &number, 1) == 1 }
        return isNoted
    }

    /// Waits until the input is readable or ^C is pressed.
    ///
    /// - Returns: `false` after ^C, even if the input is readable.
    func hasNotCome(before input: CInt) -> Bool {
        guard descriptor >= 0 else { return true }
        while !hasCome {
            var waiting = [input, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            if poll(&waiting, nfds_t(waiting.count), -1) < 0, errno != EINTR { return true }
            if waiting[0].revents != 0, !hasCome { return true }
        }
        return false
    }

    /// Ends the program with SIGINT, as its parent process expects after ^C.
    func take() -> Never {
        _ = clinux_take_signal(SIGINT)
        exit(130)
    }
}
