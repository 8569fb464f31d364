import BrokerConnection
import BrokerFormatting
import BrokerJSON
import BrokerPasswordPrompt
import BrokerVarlinkClient
import CBrokerLinux
import Glibc

/// Says that prompts wait, for whoever has no agent open. It is told how many there are, and nothing else.
///
/// A line goes to standard output, which is the journal where systemd runs it, and a notification to the desktop if
/// `notify-send` and the user's own message bus are there. No word in either comes from an app.
struct Notifier {
    static let program = "/usr/bin/notify-send"
    /// The desktop is not told more often: apps decide when prompts come.
    static let interval = Duration.seconds(10)

    enum Ending {
        /// The broker cannot be reached, or not any more.
        case lost(String, advice: String?, wasServed: Bool)
        /// The broker does not take it.
        case refused(String)
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
            return .lost("the connection was closed", advice: nil, wasServed: wasServed)
        } catch VarlinkClientError.error(let name, _) {
            return .refused(name)
        } catch let error as BrokerConnectionError {
            return .lost(error.description, advice: error.advice, wasServed: wasServed)
        } catch {
            return .lost("\(error)", advice: nil, wasServed: wasServed)
        }
    }

    private func notify() -> ChildProgram? {
        // Not where the environment says: where the system puts it for this user.
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
        // Nobody listens if this fails, and others may.
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }
}
