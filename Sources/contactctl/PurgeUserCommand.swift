import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import Glibc

struct PurgeUserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge-user",
        abstract: "Remove everything that is stored for a user: contacts, grants and denials.",
        discussion: """
            Needs an administrator's password, or root. Use it when a user has left, or when their UID was assigned to \
            another person: until then the new owner is refused. The audit keeps its records, but nothing links them to \
            contacts any more.
            """)

    @Argument(help: "The user's name or UID.", completion: .words(Completions.users)) var user: String
    @Flag(help: "Do not ask for confirmation.") var yes = false

    func run() throws {
        let (uid, name) = try UserName.resolve(user, to: "remove anything")
        let client = try AdminClient(to: "remove what is stored for \(Speech.clean(user))")
        let who = name.map { "\(Speech.clean($0)) (user \(uid))" } ?? "user \(uid), who has no name"
        if !yes {
            Speech.say("This removes all contacts, grants and denials of \(who). It cannot be undone.")
            guard let answer = Speech.confirm("Remove them?") else {
                throw CommandFailure(
                    "could not remove anything: there is no terminal to ask on", try: "without confirmation: --yes",
                    .notTried
                )
            }
            guard answer else {
                throw CommandFailure("nothing was removed", .refused)
            }
        }
        _ = try client.call("PurgeUser") { $0.member("uid", uid) }
        print("removed everything that was stored for \(who)")
    }
}
