import BrokerCommandOutput
import BrokerConnection
import BrokerJSON
import BrokerPasswordPrompt
import BrokerVarlinkClient
import Glibc

/// A connection to the broker's socket for administrators.
struct AdminClient {
    /// The command's task: the verb phrase that follows `could not` in an error.
    private let task: String
    private let client: VarlinkClient
    /// Whether the person may be asked for a password.
    private let mayAsk: Bool

    /// The maximum wait for a reply: 120 seconds for the password, and 60 seconds for the broker's work. While the broker reads
    /// the audit, it replies every second, so there is no limit for that.
    static let timeout = Duration.seconds(180)

    /// Whether standard input or standard error is a terminal. Only then can a person be asked for a
    /// password.
    private static var isAtTerminal: Bool { isatty(STDIN_FILENO) != 0 || isatty(STDERR_FILENO) != 0 }

    /// Makes the call without a password first. If the broker requires a password and this program has a
    /// terminal, makes the call again and lets polkit ask for the password. Either the desktop's polkit agent
    /// asks, or polkit's own agent does so on this terminal.
    private func asking<Result>(_ call: ((inout JSONWriter) -> Void) throws -> Result) throws -> Result {
        do {
            do {
                return try call { _ in }
            } catch VarlinkClientError.error("io.systemd.InteractiveAuthenticationRequired", _)
                where mayAsk && Self.isAtTerminal
            {
                let agent = PasswordAgent()
                agent.prepare()
                defer { agent.end() }
                return try call { $0.member("allowInteractiveAuthentication", true) }
            }
        } catch let error as VarlinkClientError {
            throw failure(error)
        }
    }

    /// - Parameter timeout: the maximum wait for each reply; `nil` waits without a limit. Use that if the broker sends
    ///   replies as new records arrive.
    init(to task: String, timeout: Duration? = timeout, mayAsk: Bool = true) throws {
        do {
            self.init(
                to: task, over: try BrokerConnection.connect(to: .admin, timeout: timeout), mayAsk: mayAsk)
        } catch {
            throw CommandFailure(could: task, error)
        }
    }

    init(to task: String, over client: VarlinkClient, mayAsk: Bool = true) {
        self.task = task
        self.client = client
        self.mayAsk = mayAsk
    }

    func call(_ method: String, _ write: (inout JSONWriter) -> Void = { _ in }) throws -> JSONValue {
        try asking { password in
            try client.call("io.contactbroker.Admin.\(method)") {
                write(&$0)
                password(&$0)
            }
        }
    }

    /// Like ``call(_:_:)``, but returns the reason if the broker refuses the value of one of these parameters.
    func call(
        _ method: String, unless parameters: Set<String>, _ write: (inout JSONWriter) -> Void
    ) throws -> Answer {
        do {
            return .reply(try client.call("io.contactbroker.Admin.\(method)", write))
        } catch VarlinkClientError.error("io.contactbroker.Admin.InvalidValue", let error)
            where parameters.contains(error["parameter"]?.string ?? "")
        {
            return .refused(error["parameter"]?.string ?? "", reason: Speech.clean(error["reason"]?.string ?? ""))
        } catch {
            throw failure(error)
        }
    }

    enum Answer {
        case reply(JSONValue)
        case refused(_ parameter: String, reason: String)
    }

    /// Like ``call(_:_:)``, for a method that may read all of the audit. Meanwhile shows how far the broker is.
    func read(_ method: String, _ write: (inout JSONWriter) -> Void) throws -> JSONValue {
        var last: JSONValue?
        try stream(method, write) { last = $0 }
        return last ?? JSONDocument.emptyObject.root
    }

    /// Calls with `more`, and passes each reply to `each`. Meanwhile shows how far the broker is, if it says so.
    func stream(
        _ method: String, _ write: (inout JSONWriter) -> Void, each: (JSONValue) throws -> Void
    ) throws {
        var progress = ReadingProgress()
        defer { progress.hide() }
        try asking { password in
            try client.stream("io.contactbroker.Admin.\(method)") {
                write(&$0)
                password(&$0)
            } each: { reply, _ in
                // What it prints must not be on the line of the progress.
                progress.hide()
                try each(reply)
                progress.show(reply["progress"]?.integer)
                return true
            }
        }
    }

    func grants(of users: Users) throws -> [AppGrant] {
        AppGrant.all(try call("ListGrants", users.write)["grants"])
    }

    /// Returns the grants of the app that the arguments name, as ``matching(_:strength:in:_:takesAll:)`` does.
    func grants(of target: AppOptions, _ users: Users) throws -> [AppGrant] {
        try matching(target.app, strength: target.strength, in: grants(of: users), users)
    }

    /// Returns the grants of the app that matches the word. The word can be the app's identifier, its path, its name in
    /// any case, or a part of any of these, in this order of preference.
    ///
    /// - Parameter takesAll: whether the word may be the name of several apps, such as copies of one program in the folders
    ///   of several users. A part of a name must match one app.
    /// - Throws: ``CommandFailure`` if the word matches no app, or several.
    func matching(
        _ word: String, strength: String? = nil, in grants: [AppGrant], _ users: Users, takesAll: Bool = false
    ) throws -> [AppGrant] {
        let candidates = grants.filter { strength == nil || $0.strength == strength }
        let ways: [(AppGrant) -> Bool] = [
            { $0.app == word || $0.name.placeAndHash == word }, { $0.name.place == word },
            { $0.displayName.lowercased() == word.lowercased() }, { $0.isCalled(word) },
        ]
        for (place, way) in ways.enumerated() {
            let found = candidates.filter(way)
            guard !found.isEmpty else { continue }
            let apps = Set(found.map(\.app))
            guard apps.count > 1, !takesAll || place == ways.count - 1 else {
                return candidates.filter { apps.contains($0.app) }
            }
            throw refused(
                "\"\(Speech.clean(word))\" matches \(apps.count) apps",
                try: "name one of them: " + Set(AppName.identities(found.map(\.name))).sorted().joined(separator: ", "))
        }
        let among = strength.map { " at strength \(Speech.clean($0))" } ?? ""
        throw refused(
            "no app matches \"\(Speech.clean(word))\"\(among)", try: "list all apps: contactctl apps\(users.option)")
    }

    func refused(_ reason: String, try advice: String? = nil) -> CommandFailure {
        CommandFailure("could not \(task): \(reason)", try: advice, .refused)
    }

    private func failure(_ error: VarlinkClientError) -> CommandFailure {
        guard case .error(let name, let parameters) = error else { return CommandFailure(could: task, error) }
        func text(_ name: String) -> String { Speech.clean(parameters[name]?.string ?? "") }
        switch name {
        case "io.contactbroker.Admin.NotAuthorized" where !text("reason").isEmpty: return refused(text("reason"))
        case "io.contactbroker.Admin.NotAuthorized":
            return refused(
                "the contact broker refused",
                try: """
                    it needs the password of the user whose contacts these are, or an administrator's; without polkit's \
                    pkttyagent nothing can ask for it at a terminal: run it as root
                    """)
        case "io.systemd.InteractiveAuthenticationRequired":
            return refused(
                "a password is required, and there is no terminal to ask for it",
                try: "run it in a terminal, or as root")
        case "io.contactbroker.Admin.UnknownApp":
            return refused("no app matches \"\(text("app"))\"", try: "list all apps: contactctl apps")
        case "io.contactbroker.Admin.ConnectionExists":
            return refused(
                "there is a connection with this name",
                try: """
                    for another password: contactctl connect \(text("name")) --new-password; if it has no access any more, first: \
                    contactctl reset \(text("name")); or name this one otherwise, such as \(text("name"))-2
                    """)
        case "io.contactbroker.Admin.UnknownConnection":
            return refused("there is no connection with this name", try: "list them: contactctl connections")
        case "io.contactbroker.Contacts.NoAgent":
            return refused(
                "contact-agent is not running, so nobody can answer", try: "in another terminal: contact-agent")
        case "io.contactbroker.Admin.InvalidValue" where parameters["parameter"]?.string == "policy":
            return refused(
                text("reason"),
                try: parameters["formerRules"]?.bool == true
                    ? "The former rules stay in force. Correct the file, then run: contactctl reload"
                    : "Every app is refused until the file is corrected. Correct it, then run: contactctl reload")
        case "io.contactbroker.Admin.InvalidValue" where parameters["parameter"]?.string == "settings":
            return refused(
                "the settings could not be read when the contact broker started: \(text("reason"))",
                try: "Every app is refused until then. Correct the file, then restart the contact broker")
        case "io.contactbroker.Admin.InvalidValue":
            // Only a reason such as "must be in the future" needs the parameter's name to be a sentence.
            let reason = text("reason")
            let isWhole = !["must ", "excludes "].contains(where: reason.hasPrefix)
            return refused(isWhole ? reason : "\(text("parameter")) \(reason)")
        default: return CommandFailure(could: task, error)
        }
    }
}
