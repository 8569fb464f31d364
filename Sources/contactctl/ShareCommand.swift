import ArgumentParser

struct ShareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Share single contacts with an app that has limited access.",
        discussion: """
            Needs the password of the user. Root may share another user's contacts only if contactbroker.toml permits it \
            (look_up_contacts), by a whole name, e-mail address or phone number.
            """)

    @OptionGroup var options: ContactOptions

    func run() throws { try options.carryOut("share", to: "share the contacts", done: "shared") }
}
