import ArgumentParser
import BrokerCommandOutput

struct NarrowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "narrow", abstract: "Let an app keep only some of the contacts that it sees.",
        discussion: """
            The app's access becomes limited to the contacts that you name and that it sees now; contact groups are no \
            longer shared with it. Needs the password of the \
            user, because it looks up contacts. Root may name another user's contacts only if contactbroker.toml permits \
            it (look_up_contacts), by a whole name, e-mail address or phone number.
            """)

    @OptionGroup var target: AppOptions
    @Option(help: ContactWord.help, completion: .nothing) var contact: [String]
    @OptionGroup var owner: ContactOwnerOptions

    func validate() throws { try ContactWord.check(contact) }

    func run() throws {
        let users = try UserName.users(owner.user, to: "narrow the access")
        try ContactChange(change: "narrow", contacts: contact, task: "narrow the access", done: "narrowed")
            .carryOut(target, users, json: owner.json)
    }
}
