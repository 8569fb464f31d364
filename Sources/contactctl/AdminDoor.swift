import BrokerCommandOutput
import BrokerConnection
import BrokerJSON
import BrokerPasswordPrompt
import BrokerVarlinkClient
import Glibc

/// The broker's door for people who manage access, as these commands use it.
struct AdminDoor {
    /// What the command is about, to stand after `could not`.
    private let task: String
    private let client: VarlinkClient

    /// Longest wait for an answer: the person has two minutes for a password, and then something may have to be done.
    static let timeout = Duration.seconds(180)

    /// Whether a person sits there who can be asked for a password.
    private static var isAtTerminal: Bool { isatty(STDIN_FILENO) != 0 || isatty(STDERR_FILENO) != 0 }

    /// Calls, first without a password. Where one is wanted and somebody sits here, it is asked for: by their desktop, or on
    /// this terminal by polkit's own agent, which speaks to the terminal itself.
    private static func asking<Result>(_ call: ((inout JSONWriter) -> Void) throws -> Result) throws -> Result {
        do {
            return try call { _ in }
        } catch VarlinkClientError.error("io.systemd.InteractiveAuthenticationRequired", _) where isAtTerminal {
            let agent = PasswordAgent()
            agent.prepare()
            defer { agent.end() }
            return try call { $0.member("allowInteractiveAuthentication", true) }
        }
    }

    /// - Parameter waitingForEver: for answers that come when something happens.
    init(to task: String, waitingForEver: Bool = false) throws {
        self.task = task
        do {
            client = try BrokerConnection.connect(to: .admin, timeout: waitingForEver ? nil : Self.timeout)
        } catch {
            throw CommandFailure(could: task, error)
        }
    }

    func call(_ method: String, _ write: (inout JSONWriter) -> Void = { _ in }) throws -> JSONValue {
        do {
            return try Self.asking { password in
                try client.call("io.contactbroker.Admin.\(method)") {
                    write(&$0)
                    password(&$0)
                }
            }
        } catch let error as VarlinkClientError {
            throw failure(error)
        }
    }

    /// Calls with `more`, and hands each reply on.
    func stream(
        _ method: String, _ write: (inout JSONWriter) -> Void, each: (JSONValue) throws -> Void
    ) throws {
        do {
            try Self.asking { password in
                try client.stream("io.contactbroker.Admin.\(method)") {
                    write(&$0)
                    password(&$0)
                } each: { reply, _ in
                    try each(reply)
                    return true
                }
            }
        } catch let error as VarlinkClientError {
            throw failure(error)
        }
    }

    /// The caller's grants, and nobody else's.
    func grants() throws -> [AppGrant] {
        guard let grants = try call("ListGrants")["grants"]?.elements else { return [] }
        return grants.map(AppGrant.init)
    }

    private func failure(_ error: VarlinkClientError) -> CommandFailure {
        guard case .error(let name, let parameters) = error else { return CommandFailure(could: task, error) }
        func text(_ name: String) -> String { Speech.clean(parameters[name]?.string ?? "") }
        switch name {
        case "io.contactbroker.Admin.NotAuthorized" where !text("reason").isEmpty:
            return CommandFailure("could not \(task): \(text("reason"))", .refused)
        case "io.contactbroker.Admin.NotAuthorized":
            return CommandFailure(
                "could not \(task): the contact broker does not let you",
                try: """
                    it wants the password of the user whose contacts these are, or an administrator's; where polkit's \
                    pkttyagent is not installed, nothing asks for it at a terminal: try it as root
                    """, .refused)
        case "io.systemd.InteractiveAuthenticationRequired":
            return CommandFailure(
                "could not \(task): it wants a password, and there is no terminal to ask for it at",
                try: "run it at a terminal, or as root", .refused)
        case "io.contactbroker.Admin.UnknownApp":
            return CommandFailure(
                "could not \(task): no app is called \(text("app"))", try: "see them all: contactctl apps", .refused)
        case "io.contactbroker.Admin.InvalidValue" where parameters["parameter"]?.string == "policy":
            return CommandFailure(
                "could not \(task): \(text("reason"))",
                try: "every app is refused until it is mended: mend it, then contactctl reload", .refused)
        case "io.contactbroker.Admin.InvalidValue" where parameters["parameter"]?.string == "settings":
            return CommandFailure(
                "could not \(task): the settings could not be read when the contact broker started: \(text("reason"))",
                try: "every app is refused: correct the file, then restart the contact broker", .refused)
        case "io.contactbroker.Admin.InvalidValue":
            return CommandFailure("could not \(task): \(text("parameter")): \(text("reason"))", .refused)
        default: return CommandFailure(could: task, error)
        }
    }
}
