import ArgumentParser

struct NarrowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "narrow", abstract: "Let an app keep only some of the contacts that it sees.",
        discussion: """
            The app's access becomes limited to the contacts that you name and that it sees now. Needs the password of the \
            user, because it looks up contacts. Root may name another user's contacts only if contactbroker.toml permits \
            it (look_up_contacts), by a whole name, e-mail address or phone number.
            """)

    @OptionGroup var options: ContactOptions

    func run() throws { try options.carryOut("narrow", to: "narrow the access", done: "narrowed") }
}
