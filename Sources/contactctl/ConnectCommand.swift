import ArgumentParser
import BrokerCommandOutput
import BrokerConnection
import BrokerJSON
import BrokerVarlinkClient

struct ConnectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect", abstract: "Give a program that speaks CardDAV an address book of its own.",
        discussion: """
            Thunderbird, Evolution and vdirsyncer speak CardDAV. contact-agent asks you which contacts the program may have, and then \
            this command prints the address, the user and the password to enter there. The password is shown only once. Whoever knows \
            it can use what you gave, so use one name for one program.
            """)

    @Argument(
        help: "A name for the program, such as thunderbird: 1 to 32 of the characters a to z, 0 to 9 and -.",
        completion: .nothing)
    var name: String
    @Option(
        help: "What it asks to change: none, own, edit or all.",
        completion: .list(["none", "own", "edit", "all"]))
    var changes = "edit"
    @Flag(help: "Give a connection that exists another password. Needs your password.") var newPassword = false
    @Flag(help: "Print JSON.") var json = false

    /// The longest time that keys can keep a prompt open, and some more.
    private static let timeout = Duration.seconds(660)
    private var task: String { newPassword ? "make a new password" : "connect \(Speech.clean(name))" }

    func validate() throws {
        guard ["none", "own", "edit", "all"].contains(changes) else {
            throw ValidationError("--changes must be none, own, edit or all")
        }
    }

    func run() throws {
        let client = try AdminClient(to: task, timeout: Self.timeout)
        if !newPassword { Speech.say("Answer the prompt in contact-agent.") }
        let reply = try client.call("Connect") {
            $0.member("name", name)
            if newPassword { $0.member("newPassword", true) } else { $0.member("changes", changes) }
        }
        guard let user = reply["user"]?.string, let password = reply["password"]?.string else {
            throw client.refused(
                "it was given no contacts",
                try: reply["status"]?.string == "denied"
                    ? "it was denied; to be asked again: contactctl reset \(Speech.clean(name))" : nil)
        }
        let address = reply["port"]?.integer.map { "http://127.0.0.1:\($0)/\(user)/contacts/" }
        guard !json else {
            return CommandJSON.print {
                $0.member("address", address)
                $0.member("user", user)
                $0.member("password", password)
            }
        }
        print("Address:   \(address ?? "not known: contactbroker-dav is not running")")
        print("User:      \(user)")
        print("Password:  \(password)")
        if address == nil { Speech.say("Start contactbroker-dav. It says its address.") }
    }
}

struct DisconnectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect", abstract: "End the address book of a program that speaks CardDAV.",
        discussion: """
            Its password opens nothing any more, so the program keeps the copies that it has. To let it remove them, use revoke: then it \
            gets an empty address book for 30 days.
            """)

    @Argument(help: "The connection's name.", completion: .nothing) var name: String
    @Option(help: "Whose connection: a name or a UID. Only for root.", completion: .words(Completions.users))
    var user: String?

    func run() throws {
        let task = "disconnect \(Speech.clean(name))"
        let users = try UserName.users(user, to: task)
        _ = try AdminClient(to: task).call("Disconnect") {
            users.write(&$0)
            $0.member("name", name)
        }
        print("disconnected \(Speech.clean(name))\(users.suffix)")
    }
}

struct ConnectionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connections",
        abstract: "List the programs that speak CardDAV and have an address book of their own.")

    @Option(help: "Whose connections: a name or a UID. Only for root.", completion: .words(Completions.users))
    var user: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let users = try UserName.users(user, to: "list connections")
        let reply = try AdminClient(to: "list connections").call("ListConnections", users.write)
        let connections = reply["connections"]?.items ?? []
        let port = reply["port"]?.integer
        guard !json else {
            return CommandJSON.print {
                CommandJSON.array("connections", connections, &$0)
                $0.member("port", port)
            }
        }
        guard !connections.isEmpty else {
            return Speech.say("no program is connected\(users.suffix); to connect one: contactctl connect NAME")
        }
        var table = Table(["NAME", "ACCESS", "MADE"])
        for connection in connections {
            table.add([
                connection["name"]?.string ?? "", connection["status"]?.string ?? "",
                connection["made"]?.string.map { RelativeTime.since($0) } ?? "",
            ])
        }
        Screen.show(table.lines(width: Screen.width, heading: Screen.heading))
        Speech.say(port.map { "served at http://127.0.0.1:\($0)/" } ?? "contactbroker-dav is not running")
    }
}
