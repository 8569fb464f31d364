import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import Glibc

struct PurgeUserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge-user",
        abstract: "Remove everything that is kept for a user: their contacts, and what they allowed apps.",
        discussion: """
            For the administrator, when a user has left, or when their number was given to somebody else: until then the \
            next person of that number gets no answer. The audit keeps its records, and they name no contact any more.
            """)

    @Argument(help: "The user's name, or their number.") var user: String
    @Flag(help: "Do not ask.") var yes = false

    func run() throws {
        let (uid, name) = try Self.resolve(user)
        let client = try AdminClient(to: "remove what is kept for \(Speech.clean(user))")
        let who = name.map { "\(Speech.clean($0)) (user \(uid))" } ?? "user \(uid), who has no name now"
        if !yes {
            Speech.say(
                "Everything kept for \(who) will be gone: contacts, and what was decided for apps. Nothing brings it back."
            )
            guard let answer = Speech.confirm("Remove it?") else {
                throw CommandFailure(
                    "could not remove anything: there is no terminal to ask on", try: "without asking: --yes", .notTried
                )
            }
            guard answer else {
                throw CommandFailure("nothing was removed", .refused)
            }
        }
        _ = try client.call("PurgeUser") { $0.member("uid", uid) }
        print("everything kept for \(who) is removed")
    }

    /// Interprets a number as a UID, even if no user has it, and any other text as a user name.
    static func resolve(_ user: String) throws -> (uid: UInt32, name: String?) {
        if let uid = UInt32(user), uid != .max {
            return (uid, getpwuid(uid)?.pointee.pw_name.map { String(cString: $0) })
        }
        // The non-reentrant getpwnam(3) is safe here, because nothing else looks up users at the same time,
        // and the result is copied at once.
        guard !user.utf8.contains(0), let uid = getpwnam(user)?.pointee.pw_uid else {
            throw CommandFailure(
                "could not remove anything: no user is called \(Speech.clean(user))",
                try: "a user who has left is named by number: ls /var/lib/contactbroker/users", .refused)
        }
        return (uid, user)
    }
}
