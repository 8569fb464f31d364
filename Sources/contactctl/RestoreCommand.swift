import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import Glibc

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore an address book and the access of apps from a backup.",
        discussion: """
            Needs your password. The backup replaces the address book; nothing changes if any part of it cannot be read. An \
            app never gets more access than it has now. Only if the contact broker knows nothing of the user, as on a new \
            machine, apps get the access of the backup back. Only root can restore other users.
            """)

    @Argument(help: "The backup.", completion: .file()) var file: String
    @Option(
        help: ArgumentHelp("Decrypt with the private keys in this file. Repeat it for several.", valueName: "file"),
        completion: .file())
    var identity: [String] = []
    @Option(help: "Restore this user: a name or a UID.", completion: .words(Completions.users))
    var user: String?
    @Flag(help: "Restore all users in the file.") var allUsers = false
    @Flag(
        help: """
            Restore only contacts, as new ones: no groups, no links, no identifiers and no access. For a backup that may not \
            be authentic, or of another user.
            """)
    var contactsOnly = false
    @Flag(help: "Replace the contacts that are there, without a question.") var replace = false

    func validate() throws {
        if user != nil, allUsers { throw ValidationError("--user and --all-users exclude each other") }
    }

    private static let task = "restore the backup"

    func run() throws {
        let users: Users = allUsers ? .all : try UserName.users(user, to: Self.task)
        let backup = try BackupFile(file, identities: identity, to: Self.task)
        // A file that was encrypted with a passphrase can only be from somebody who knows it.
        let isAuthentic = getuid() == 0 && backup.kind == .passphrase && !contactsOnly
        let client = try AdminClient(to: Self.task)
        var sections: [(uid: UInt32, section: BackupSection)] = []
        var others: [String] = []
        var section = BackupSection()
        var uid: UInt32?
        var isInside = false
        while let piece = try backup.next() {
            let lines = piece.lines.map { (try? JSONDocument(parsing: $0))?.root }
            if !isInside {
                section = BackupSection()
                guard let first = lines.first, let header = first, header["backup"] != nil else {
                    throw BackupFile.isNone(Self.task)
                }
                section.note(header)
                uid = try target(section, among: users, restored: sections.map(\.uid))
                if let uid { try begin(uid, client, isAuthentic: isAuthentic) } else { others.append(section.user) }
            }
            for line in lines.dropFirst(isInside ? 0 : 1) {
                guard let line else { throw BackupFile.isNone(Self.task) }
                section.note(line)
            }
            isInside = !section.isComplete
            guard let uid else { continue }
            try send(piece, uid, client)
            Speech.progress("reading the backup: \(Count.words(section.contacts, "contact"))")
            if section.isComplete { sections.append((uid, section)) }
        }
        guard !isInside else {
            throw CommandFailure("could not \(Self.task): the end of the backup is missing", .notTried)
        }
        guard !sections.isEmpty else { throw nothingToRestore(users, others) }
        try finish(sections, client)
    }

    /// The user to whom a part of the backup belongs; `nil` if it is not wanted.
    private func target(
        _ section: BackupSection, among users: Users, restored: [UInt32]
    ) throws -> UInt32? {
        switch users {
        case .all:
            return try UserName.resolve(section.user, to: Self.task).uid
        case .own, .one:
            let uid = if case .one(let uid, _) = users { uid } else { getuid() }
            guard !restored.contains(uid) else { return nil }
            return contactsOnly || UserName.text(uid) == Speech.clean(section.user) ? uid : nil
        }
    }

    private func nothingToRestore(_ users: Users, _ others: [String]) -> CommandFailure {
        let names = others.map(Speech.clean).joined(separator: ", ")
        guard !others.isEmpty else { return BackupFile.isNone(Self.task) }
        return CommandFailure(
            "could not \(Self.task): it has no address book of \(users.name ?? UserName.text(getuid())), but of \(names)",
            try: "to get the contacts only: --contacts-only", .refused)
    }

    private func begin(_ uid: UInt32, _ client: AdminClient, isAuthentic: Bool) throws {
        _ = try client.call("BeginRestore") {
            $0.member("uid", uid)
            if contactsOnly { $0.member("contactsOnly", true) }
            if isAuthentic { $0.member("isAuthentic", true) }
        }
    }

    private func send(_ piece: BackupFile.Piece, _ uid: UInt32, _ client: AdminClient) throws {
        let answer = try client.call("RestoreLines", unless: ["code"]) {
            $0.member("uid", uid)
            $0.name("lines")
            $0.array(piece.lines) { $0.raw($1) }
            $0.member("code", piece.code)
        }
        guard case .refused(_, let reason) = answer else { return }
        throw client.refused(
            reason,
            try: "to restore contacts only, without groups, links and the access of apps: --contacts-only; to accept "
                + "the backups of another machine, copy its /var/lib/contactbroker/backup.key to this one")
    }

    /// Restores the users who have no contacts yet. Then asks about all others, before the contacts of the first of them are
    /// replaced.
    private func finish(_ sections: [(uid: UInt32, section: BackupSection)], _ client: AdminClient) throws {
        var restored: [String] = []
        func stopped(_ failure: CommandFailure) -> CommandFailure {
            guard !restored.isEmpty else { return failure }
            let message = "\(failure.message); restored only: \(restored.joined(separator: ", "))"
            return CommandFailure(message, try: failure.advice, failure.code)
        }
        /// - Returns: why it needs an answer first; `nil` if the user is restored.
        func restore(_ uid: UInt32, replaces: Bool) throws -> String? {
            let answer: AdminClient.Answer
            Speech.progress("restoring the contacts of \(UserName.text(uid))…")
            do {
                answer = try client.call("FinishRestore", unless: ["replaces"]) {
                    $0.member("uid", uid)
                    $0.member("replaces", replaces)
                }
            } catch let failure as CommandFailure {
                throw stopped(failure)
            }
            switch answer {
            case .refused(_, let reason): return reason
            case .reply(let reply):
                Speech.endProgress()
                report(reply, uid)
                restored.append(UserName.text(uid))
                return nil
            }
        }
        var waiting: [(uid: UInt32, section: BackupSection, reason: String)] = []
        for (uid, section) in sections {
            if let reason = try restore(uid, replaces: replace) { waiting.append((uid, section, reason)) }
        }
        for (uid, section, reason) in waiting {
            Speech.say("\(UserName.text(uid)): \(reason)")
            guard let isConfirmed = Speech.confirm("Replace them with \(section.words)?") else {
                throw stopped(
                    client.refused("there is no terminal to ask on", try: "without a question: --replace"))
            }
            guard isConfirmed else {
                throw stopped(client.refused(restored.isEmpty ? "nothing was changed" : "no contacts were replaced"))
            }
        }
        for (uid, _, _) in waiting {
            if let reason = try restore(uid, replaces: true) {
                throw stopped(client.refused("\(UserName.text(uid)): \(reason)"))
            }
        }
    }

    private func report(_ reply: JSONValue, _ uid: UInt32) {
        func number(_ name: String) -> Int64 { reply[name]?.integer ?? 0 }
        let who = UserName.text(uid)
        let time = LocalTime.text(reply["time"]?.string ?? "")
        print("restored \(Count.words(number("contacts"), "contact")) of \(who), from the backup of \(time)")
        if contactsOnly, number("removed") > 0 {
            print("removed \(Count.words(number("removed"), "contact")) that the address book had before")
        } else if number("removed") > 0 {
            print("removed \(Count.words(number("removed"), "contact")) that the backup does not have")
        }
        if number("restored") > 0 { print("restored the access of \(Count.words(number("restored"), "app"))") }
        if number("lowered") > 0 {
            let have = number("lowered") == 1 ? "has the lower access that it" : "have the lower access that they"
            print("\(Count.words(number("lowered"), "app")) now \(have) had when the backup was made")
        }
        if number("asking") > 0 {
            Speech.say(
                "\(Count.words(number("asking"), "app")) of the backup no longer had access and did not get it back; "
                    + "they can ask again")
        }
        if number("damaged") > 0 {
            Speech.say("\(Count.words(number("damaged"), "contact")) could not be read when the backup was made")
        }
    }
}
