import ArgumentParser
import BrokerCommandOutput
import BrokerJSON

struct BinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bin", abstract: "Show or set how long changes can be put back, and remove them for good.",
        discussion: """
            The bin of the address book keeps what each save changed and deleted: changes lists the saves, and put-back makes \
            contacts as they were. Fewer days take effect after 24 hours. Fewer days, --empty and --remove need the password of \
            the user.
            """)

    @Option(
        help: ArgumentHelp(
            "Keep what a save changed for 0 to 3650 days, or \"default\": 30 days. 0 keeps nothing.", valueName: "days"),
        completion: .nothing, transform: Days.init)
    var days: Days?
    @Flag(help: "Remove everything from the bin at once.") var empty = false
    @Option(
        help: ArgumentHelp(
            "Remove all that the bin has of this contact: a whole name, as in the save.", valueName: "contact"),
        completion: .nothing)
    var remove: String?
    @Option(help: "With --remove, the number of a save that changed the contact.", completion: .nothing)
    var save: Int64?
    @Flag(help: "Do not ask for confirmation.") var yes = false
    @Option(help: "Whose address book: a name or a UID. Only for root.", completion: .words(Completions.users))
    var user: String?
    @Flag(help: "Print JSON.") var json = false

    /// What `--days` says.
    enum Days {
        case number(Int64)
        case standard

        init(_ text: String) throws {
            // The broker's maximum.
            let number = Int64(text).flatMap { (0...3_650).contains($0) ? $0 : nil }
            guard number != nil || text == "default" else {
                throw ValidationError("must be a number from 0 to 3650, or default")
            }
            self = number.map { .number($0) } ?? .standard
        }
    }

    func validate() throws {
        if let remove { try RecordWords.check(contacts: [remove]) }
        guard [days != nil, empty, remove != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("--days, --empty and --remove exclude each other")
        }
        guard (remove == nil) == (save == nil) else { throw ValidationError("--remove and --save go together") }
        if json, empty || remove != nil { throw ValidationError("--json does not go with --empty and --remove") }
    }

    func run() throws {
        if let days { return try set(days) }
        if let remove { return try removeOne(remove) }
        if empty { return try removeAll() }
        let (users, client) = try open(to: "show the bin")
        show(try client.call("GetBin", users.write), of: users)
    }

    private func open(to task: String) throws -> (Users, AdminClient) {
        (try UserName.users(user, to: task), try AdminClient(to: task))
    }

    private func set(_ days: Days) throws {
        let (users, client) = try open(to: "set the days of the bin")
        func request(_ writer: inout JSONWriter) {
            users.write(&writer)
            if case .number(let number) = days { writer.member("days", number) }
        }
        switch try client.call("SetBinDays", unless: ["shorter"], request) {
        case .reply(let bin): show(bin, of: users)
        case .refused:
            show(
                try client.call("SetBinDays") {
                    request(&$0)
                    $0.member("shorter", true)
                }, of: users)
        }
    }

    private func removeAll() throws {
        let (users, client) = try open(to: "empty the bin")
        let saves = try client.call("GetBin", users.write)["saves"]?.integer ?? 0
        guard saves > 0 else { throw client.refused("it is empty already") }
        try confirm(
            "Remove what \(Count.words(saves, "save")) changed from the bin\(users.suffix)?", to: "empty the bin")
        _ = try client.call("EmptyBin", users.write)
        print("emptied the bin\(users.suffix)")
    }

    private func removeOne(_ name: String) throws {
        let task = "remove the contact from the bin"
        let (users, client) = try open(to: task)
        let shown = Speech.clean(name)
        try confirm("Remove all that the bin has of \(shown)?", to: task)
        _ = try client.call("EmptyBin") {
            users.write(&$0)
            $0.member("save", save)
            $0.member("contact", name)
        }
        print("removed \(shown) from the bin")
    }

    private func confirm(_ question: String, to task: String) throws {
        guard !yes else { return }
        Speech.say("Nothing of it can be put back afterwards. The address book itself stays as it is.")
        guard let answer = Speech.confirm(question) else {
            throw CommandFailure(
                "could not \(task): there is no terminal to ask on", try: "without confirmation: --yes", .notTried)
        }
        guard answer else { throw CommandFailure("nothing was removed", .refused) }
    }

    private func show(_ bin: JSONValue, of users: Users) {
        func integer(_ name: String) -> Int64? { bin[name]?.integer }
        guard !json else {
            return CommandJSON.print {
                $0.member("days", integer("days"))
                $0.member("nextDays", integer("nextDays"))
                $0.member("nextAt", bin["nextAt"]?.string)
                $0.member("saves", integer("saves"))
            }
        }
        print(Self.words(integer("days") ?? 0))
        if let next = integer("nextDays"), let at = bin["nextAt"]?.string {
            print("from \(LocalTime.text(at)) on: \(Self.words(next))")
        }
        let saves = integer("saves") ?? 0
        let advice = saves > 0 ? "; to list them: contactctl changes\(users.option)" : ""
        print("has something of \(Count.words(saves, "save"))\(advice)")
    }

    private static func words(_ days: Int64) -> String {
        days == 0 ? "keeps nothing" : "keeps what each save changed and deleted for \(Count.words(days, "day"))"
    }
}
