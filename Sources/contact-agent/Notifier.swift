import BrokerFormatting
import BrokerJSON
import BrokerPasswordPrompt
import BrokerVarlinkClient
import CBrokerLinux
import Glibc

/// Runs the notify-only agent, which reports waiting prompts. The broker sends it only the number of prompts.
///
/// It writes a line to standard output, which systemd sends to the journal. It also sends a desktop
/// notification if `notify-send` and the user's message bus exist. Neither the line nor the notification
/// contains text from an app.
struct Notifier {
    static let program = "/usr/bin/notify-send"
    /// The minimum time between desktop notifications, because apps control when prompts arrive.
    static let interval = Duration.seconds(10)

    enum Ending {
        /// The broker cannot be reached, or the connection ended.
        case lost(any Error, wasServed: Bool)
        /// The broker does not accept this notify-only agent.
        case refused(any Error)
    }

    let environment: Environment
    let names: LocalizedNames

    /// Serves on one connection until it ends.
    func run(_ connect: () throws -> VarlinkClient) -> Ending {
        var wasServed = false
        do {
            let client = try connect()
            try client.begin("io.contactbroker.Agent.Serve", more: true) { $0.member("notifyOnly", true) }
            var before = 0
            var notified: ContinuousClock.Instant?
            var notification: ChildProgram?
            while let (reply, continues) = try client.nextReply(timeout: nil), continues {
                wasServed = true
                let waiting = Int(reply["waiting"]?.integer ?? 0)
                defer { before = waiting }
                guard waiting > before else { continue }
                say(names.text(.promptsWait, count: waiting))
                if let notified, ContinuousClock.now < notified + Self.interval { continue }
                notified = ContinuousClock.now
                notification?.end()
                notification = notify()
            }
            return .lost(VarlinkClientError.closed, wasServed: wasServed)
        } catch {
            if case VarlinkClientError.error = error { return .refused(error) }
            return .lost(error, wasServed: wasServed)
        }
    }

    private func notify() -> ChildProgram? {
        // Use the system's path for this user, and not a path from the environment.
        let folder = "/run/user/\(getuid())"
        var status = stat()
        guard lstat(folder + "/bus", &status) == 0, status.st_uid == getuid(), status.st_mode & S_IFMT == S_IFSOCK
        else { return nil }
        return ChildProgram(
            Self.program, ["--app-name=contact-agent", names.text(.contacts), names.text(.promptWaits)],
            environment: environment.lines + [
                "XDG_RUNTIME_DIR=\(folder)", "DBUS_SESSION_BUS_ADDRESS=unix:path=\(folder)/bus",
            ])
    }

    private func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // A failed write is ignored, because the desktop notification may still work.
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }
}
