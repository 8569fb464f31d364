import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

struct GroupsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "groups", abstract: "List, create and change groups.",
        discussion: """
            Examples:
              contactbook groups                          all groups
              contactbook groups show Family              the members of one
              contactbook groups create Family
              contactbook groups add Family "Ada Lovelace" omar
              contactbook groups nest Cousins Family      Cousins within Family
            """,
        subcommands: [
            List.self, Show.self, Create.self, Rename.self, Delete.self, Add.self, Remove.self, Nest.self, Unnest.self,
        ], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the groups.")
        @Flag(help: "Print JSON.") var json = false
        @Flag(help: "Include identifiers.") var identifiers = false

        func run() throws {
            let book = try AddressBook(to: "list the groups", reading: AddressBook.listKeys.union(.groups))
            let groups = try book.groups()
            if json {
                return print(
                    Speech.visible(
                        json: JSONList.groups(groups.map { ($0.identifier, $0.name, $0.parentGroupIdentifiers) })))
            }
            guard !groups.isEmpty else {
                return Speech.say(
                    "there is no group that this program may see; to make one: contactbook groups create NAME")
            }
            let names = Dictionary(groups.map { ($0.identifier, $0.name) }, uniquingKeysWith: { first, _ in first })
            let members = try book.members(of: groups)
            var table = Table(["GROUP", "CONTACTS", "WITHIN"] + (identifiers ? ["IDENTIFIER"] : []))
            for group in groups {
                let count = members[group.identifier]?.count ?? 0
                let within = group.parentGroupIdentifiers.compactMap { names[$0] }.joined(separator: ", ")
                table.add([group.name, String(count), within] + (identifiers ? [group.identifier] : []))
            }
            for line in table.lines { print(line) }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the members of a group.")
        @Argument(help: "The group.", completion: .nothing) var group: String
        @Flag(help: "Print JSON.") var json = false
        @Flag(help: "Include identifiers.") var identifiers = false

        func run() throws {
            let book = try AddressBook(to: "show the group", reading: AddressBook.listKeys.union(.groups))
            let group = try book.group(named: group)
            let keys = json ? AddressBook.cardKeys : AddressBook.listKeys
            let contacts = try book.contacts(
                keys, CNContact.predicateForContactsInGroup(withIdentifier: group.identifier))
            if json { return print(Speech.visible(json: JSONList.contacts(contacts))) }
            guard !contacts.isEmpty else { return Speech.say("nobody is in \(Speech.clean(group.name))") }
            for line in ContactCard.table(contacts, withIdentifiers: identifiers) { print(line) }
        }
    }

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create a group.")
        @Argument(help: "The name of the group.", completion: .nothing) var name: String

        func run() throws {
            let book = try book(for: "groups create \(name)", to: "make the group")
            if try book.groups().contains(where: { $0.name == name && !$0.isNamedByOtherApp }) {
                throw CommandFailure("there is a group called \(Speech.clean(name)) already", .refused)
            }
            let group = CNMutableGroup()
            group.name = name
            try book.save { $0.add(group, toContainerWithIdentifier: nil) }
            print("made \(Speech.clean(name))")
        }
    }

    struct Rename: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Rename a group.")
        @Argument(help: "The group.", completion: .nothing) var group: String
        @Argument(help: "The new name.", completion: .nothing) var name: String

        func run() throws {
            let book = try book(for: "groups rename \(group) \(name)", to: "rename the group")
            let found = try book.group(named: group)
            let renamed = found.renamed(name)
            try book.save { $0.update(renamed) }
            print("\(Speech.clean(found.name)) is called \(Speech.clean(name)) now")
        }
    }

    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a group. Its contacts stay.")
        @Argument(help: "The group.", completion: .nothing) var group: String

        func run() throws {
            let book = try book(for: "groups delete \(group)", to: "delete the group")
            let found = try book.group(named: group)
            try book.save { $0.deleteGroup(withIdentifier: found.identifier) }
            print("deleted \(Speech.clean(found.name)); its contacts stay")
        }
    }

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add contacts to a group.")
        @OptionGroup var members: Members

        func run() throws { try members.change(adding: true) }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove contacts from a group. They stay in the address book.")
        @OptionGroup var members: Members

        func run() throws { try members.change(adding: false) }
    }

    struct Members: ParsableArguments {
        @Argument(help: "The group.", completion: .nothing) var group: String
        @Argument(help: "The contacts' names, each in quotes, or identifiers.", completion: .nothing) var names:
            [String]

        func change(adding: Bool) throws {
            let book = try AddressBook(
                to: adding ? "add to the group" : "take out of the group",
                reading: AddressBook.listKeys.union(.groups))
            let group = try book.group(named: group)
            let contacts = try names.map { try book.contact(named: $0, AddressBook.listKeys) }
            let cards = try contacts.flatMap { try book.cards(of: $0.identifier ?? "") }
            let inside = Set(try book.members(of: group.identifier))
            let changing = cards.filter { inside.contains($0) != adding }
            let called = contacts.map { ContactCard.name($0.contact) }.joined(separator: ", ")
            let name = Speech.clean(group.name)
            let confirmed = cards.filter { adding && inside.contains($0) }
            if !confirmed.isEmpty {
                // The broker does not share a member that another app added, until the person adds it again.
                try book.put(confirmed, into: group.identifier)
            }
            guard !changing.isEmpty else {
                throw CommandFailure(
                    adding ? "\(called) is in \(name) already" : "\(called) is not in \(name)", .refused)
            }
            let command = "groups \(adding ? "add" : "remove") \(self.group) \(names.joined(separator: " "))"
            try book.doing(command).put(changing, into: group.identifier, adding: adding)
            print(adding ? "\(called): in \(name) now" : "\(called): no longer in \(name)")
        }
    }

    struct Nest: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a group a subgroup of another one.")
        @Argument(help: "The group.", completion: .nothing) var group: String
        @Argument(help: "The new parent group.", completion: .nothing) var outer: String

        func run() throws { try GroupsCommand.changeNesting(of: group, outer, adding: true) }
    }

    struct Unnest: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a subgroup from another group.")
        @Argument(help: "The group.", completion: .nothing) var group: String
        @Argument(help: "The parent group.", completion: .nothing) var outer: String

        func run() throws { try GroupsCommand.changeNesting(of: group, outer, adding: false) }
    }

    private static func changeNesting(
        of group: String, _ outer: String, adding: Bool
    ) throws {
        let verb = adding ? "nest" : "unnest"
        let book = try book(for: "groups \(verb) \(group) \(outer)", to: "\(verb) the group")
        let (inner, outer) = (try book.group(named: group), try book.group(named: outer))
        let (name, outerName) = (Speech.clean(inner.name), Speech.clean(outer.name))
        guard inner.parentGroupIdentifiers.contains(outer.identifier) != adding else {
            throw CommandFailure(
                adding ? "\(name) is within \(outerName) already" : "\(name) is not within \(outerName)", .refused)
        }
        try book.save { request in
            if adding {
                request.addSubgroup(inner, to: outer)
            } else {
                request.removeSubgroup(inner, from: outer)
            }
        }
        print(adding ? "\(name) is within \(outerName) now" : "\(name) is no longer within \(outerName)")
    }
}

/// - Parameter command: the text that `undo --list` shows.
private func book(for command: String, to task: String) throws -> AddressBook {
    try AddressBook(to: task, reading: AddressBook.listKeys.union(.groups)).doing(command)
}
