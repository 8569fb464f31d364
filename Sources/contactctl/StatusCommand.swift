import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import Glibc

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether the broker serves apps, and its state.",
        discussion: """
            The first line says it. Exits with 3 if every app is refused, or if the policy files are not those of the rules \
            in force.
            """)

    @Flag(help: "Show connections, limits, address books and facts about this machine, too.") var verbose = false
    @Flag(help: "Print JSON.") var json = false

    /// The exit code if apps are refused, or the rules in force are not those of the files.
    private static let unhealthy = ExitCode(3)
    /// The members that are shown without ``verbose``.
    private static let brief: Set = [
        "mode", "startedAt", "agents", "promptsOpen", "grants", "addressBookMB", "lastProblem", "lastProblemAt",
        "policyRules", "policyLoadedAt",
    ]
    /// The members that the first line has.
    private static let inFirstLine: Set = ["state", "version", "policyProblem", "settingsProblem"]

    func run() throws {
        // Root requests the figures of all users; other users get their own.
        let reply = try AdminClient(to: "show the status").call("GetStatus") {
            if getuid() == 0 { $0.member("allUsers", true) }
        }
        guard let status = reply["status"], let members = status.members else {
            throw CommandFailure("could not show the status: the contact broker sent none", .notTried)
        }
        let problem = (status["policyProblem"] ?? status["settingsProblem"])?.string
        // An earlier contact broker sends no state, and refuses every app while there is a problem.
        let state = status["state"]?.string ?? (problem == nil ? "serving" : "refusing")
        if json {
            CommandJSON.print {
                $0.name("status")
                $0.raw(Array(status.text))
            }
        } else {
            let line = "contactbroker \(status["version"]?.string ?? "") \(Self.words(ofState: state, problem))"
            print(Screen.heading(Speech.clean(line)))
            show(members, status)
        }
        if state != "serving" { throw Self.unhealthy }
    }

    private static func words(ofState state: String, _ problem: String?) -> String {
        switch (state, problem) {
        case ("serving", _): "serves apps"
        case ("refusing", let problem): "refuses every app" + (problem.map { ": \(reason($0))" } ?? "")
        case (_, let problem?):
            "serves apps by former rules, because the policy files have a mistake: \(reason(problem))"
        case (_, nil):
            "serves apps, but the policy files changed after they were loaded; to load them: contactctl reload"
        }
    }

    /// A problem without the effect that it begins with, which the line says already. Ordinary users get only the effect.
    private static func reason(_ problem: String) -> String {
        for effect in ["every app is refused", "the former rules stay in force"] where problem.hasPrefix(effect) {
            let reason = problem.dropFirst(effect.count)
            return reason.isEmpty ? "tell the administrator" : String(reason.drop { $0 == ":" || $0 == " " })
        }
        return problem
    }

    private func show(_ members: JSONValue.Members, _ status: JSONValue) {
        let shown = members.filter {
            let name = $0.name.string ?? ""
            return verbose ? !Self.inFirstLine.contains(name) : Self.brief.contains(name)
        }
        var rows = shown.flatMap { Self.rows($0.name.string ?? "", $0.value) }
        if !verbose, Self.isWeak(status) {
            rows.append(("machine", "weaker than it could be; see contactctl status --verbose"))
        }
        let width = rows.map(\.0.count).max() ?? 0
        for (name, value) in rows {
            print("  " + name + String(repeating: " ", count: width - name.count + 2) + Speech.clean(value))
        }
    }

    /// Whether the kernel lets programs do what makes it easier to pass for another program or to type into its terminal.
    private static func isWeak(_ status: JSONValue) -> Bool {
        status["peerPidfd"]?.string?.hasPrefix("no") == true || status["legacyTIOCSTI"]?.string == "1"
            || status["ptraceScope"]?.string == "0"
    }

    /// Returns one row for a member of the status; for `addressBooks`, one row for each book.
    private static func rows(_ name: String, _ value: JSONValue) -> [(String, String)] {
        guard name == "addressBooks", let books = value.elements else { return [(words(name), text(value))] }
        return books.compactMap { book in
            guard let uid = book["uid"], let size = book["MB"] else { return nil }
            return ("address book of user \(text(uid)), MB", text(size))
        }
    }

    /// Splits a member's name into words: `auditRecords` becomes `audit records`, `legacyTIOCSTI` becomes
    /// `legacy TIOCSTI`.
    static func words(_ name: String) -> String {
        var words = ""
        var wasUppercase = true
        for character in Speech.clean(name) {
            if character.isUppercase, !wasUppercase { words += " " }
            words.append(character)
            wasUppercase = character.isUppercase
        }
        return words.split(separator: " ").map {
            $0.dropFirst().contains(where: \.isUppercase) ? String($0) : $0.lowercased()
        }
        .joined(separator: " ")
    }

    static func text(_ value: JSONValue) -> String {
        switch value.kind {
        case .bool: value.bool == true ? "yes" : "no"
        case .string: LocalTime.text(value.string ?? "")
        case .null: "unknown"
        case .integer, .double, .array, .object: String(decoding: value.text, as: UTF8.self)
        }
    }
}
