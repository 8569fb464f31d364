import ArgumentParser
import BrokerCommandOutput

struct ShareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Share contacts or contact groups with an app that has limited access.",
        discussion: """
            With a group, the app sees the group's members, and contacts that you add to the group later join: only \
            those that you add with a program that may see all contacts, and never contacts of subgroups or of another \
            container. For an app that other programs can imitate (contactctl show), contacts that are added later do \
            not join; share the group again to add them. Needs the password of the user. Root may share another user's \
            contacts only if contactbroker.toml permits it (look_up_contacts), by a whole name, e-mail address or phone \
            number.
            """)

    @OptionGroup var target: AppOptions
    @Option(help: RecordWords.contacts, completion: .nothing) var contact: [String] = []
    @Option(help: RecordWords.groups, completion: .nothing) var group: [String] = []
    @OptionGroup var owner: ContactOwnerOptions

    func validate() throws {
        try RecordWords.check(contacts: contact, groups: group)
        guard !contact.isEmpty || !group.isEmpty else {
            throw ValidationError("name what to share with --contact or --group")
        }
    }

    func run() throws {
        let users = try UserName.users(owner.user, to: "share the contacts")
        try ContactChange(
            change: "share", contacts: contact, groups: group, task: "share the contacts", done: "shared"
        )
        .carryOut(target, users, json: owner.json)
    }
}

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
    @Option(help: RecordWords.contacts, completion: .nothing) var contact: [String]
    @OptionGroup var owner: ContactOwnerOptions

    func validate() throws { try RecordWords.check(contacts: contact) }

    func run() throws {
        let users = try UserName.users(owner.user, to: "narrow the access")
        try ContactChange(change: "narrow", contacts: contact, task: "narrow the access", done: "narrowed")
            .carryOut(target, users, json: owner.json)
    }
}
