import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import Contacts

struct GroupsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "groups", abstract: "List, make and change groups.",
        discussion: """
            Examples:
              contactbook groups                          all groups
              contactbook groups show Family              who is in one
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
        @Flag(help: "Print identifiers too.") var identifiers = false

        func run() throws {
            let book = try AddressBook(to: "list the groups", reading: AddressBook.listKeys.union(.groups))
            let groups = try book.groups()
            if json {
                return print(JSONList.groups(groups.map { ($0.identifier, $0.name, $0.parentGroupIdentifiers) }))
            }
            guard !groups.isEmpty else {
                return Speech.say(
                    "there is no group that this program may see; to make one: contactbook groups create NAME")
            }
            let names = Dictionary(groups.map { ($0.identifier, $0.name) }, uniquingKeysWith: { first, _ in first })
            var table = Table(["GROUP", "CONTACTS", "WITHIN"] + (identifiers ? ["IDENTIFIER"] : []))
            for group in groups {
                let count = try book.members(of: group.identifier).count
                let within = group.parentGroupIdentifiers.compactMap { names[$0] }.joined(separator: ", ")
                table.add([group.name, String(count), within] + (identifiers ? [group.identifier] : []))
            }
            for line in table.lines { print(line) }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List who is in a group.")
        @Argument(help: "The group.") var group: String
        @Flag(help: "Print JSON.") var json = false
        @Flag(help: "Print identifiers too.") var identifiers = false

        func run() throws {
            let book = try AddressBook(to: "show the group", reading: AddressBook.listKeys.union(.groups))
            let group = try book.group(named: group)
            let keys = json ? AddressBook.cardKeys : AddressBook.listKeys
            let contacts = try book.contacts(
                keys, CNContact.predicateForContactsInGroup(withIdentifier: group.identifier))
            if json { return print(JSONList.contacts(contacts)) }
            guard !contacts.isEmpty else { return Speech.say("nobody is in \(Speech.clean(group.name))") }
            for line in ContactCard.table(contacts, withIdentifiers: identifiers) { print(line) }
        }
    }

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a group.")
        @Argument(help: "What it is called.") var name: String
        @OptionGroup var undo: UndoOption

        func run() throws {
            let change = GroupChange("make the group", "groups create \(name)", undo)
            if try change.book().groups().contains(where: { $0.name == name }) {
                throw CommandFailure("there is a group called \(Speech.clean(name)) already", .refused)
            }
            let group = CNMutableGroup()
            group.name = name
            try change.save { $0.add(group, toContainerWithIdentifier: nil) }
            try change.journal?.note([.groupAdded(identifier: group.identifier, name: name)])
            print("made \(Speech.clean(name))")
        }
    }

    struct Rename: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Call a group otherwise.")
        @Argument(help: "The group.") var group: String
        @Argument(help: "What it is called from now on.") var name: String
        @OptionGroup var undo: UndoOption

        func run() throws {
            let change = GroupChange("rename the group", "groups rename \(group) \(name)", undo)
            let found = try change.book().group(named: group)
            let renamed = found.renamed(name)
            try change.save([.groupRenamed(identifier: found.identifier, before: found.name, after: name)]) {
                $0.update(renamed)
            }
            print("\(Speech.clean(found.name)) is called \(Speech.clean(name)) now")
        }
    }

    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a group. Its contacts stay.")
        @Argument(help: "The group.") var group: String
        @OptionGroup var undo: UndoOption

        func run() throws {
            let change = GroupChange("delete the group", "groups delete \(group)", undo)
            let book = try change.book()
            let found = try book.group(named: group)
            let inner = try book.groups().filter { $0.parentGroupIdentifiers.contains(found.identifier) }
                .map(\.identifier)
            let steps: [UndoStep] = [
                .groupDeleted(
                    identifier: found.identifier, name: found.name, members: try book.members(of: found.identifier),
                    parents: found.parentGroupIdentifiers, subgroups: inner)
            ]
            try change.save(steps) { $0.deleteGroup(withIdentifier: found.identifier) }
            print("deleted \(Speech.clean(found.name)); its contacts stay")
        }
    }

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Put contacts into a group.")
        @Argument(help: "The group.") var group: String
        @Argument(help: "The contacts' names, each in quotes, or identifiers.") var names: [String]
        @OptionGroup var undo: UndoOption

        func run() throws {
            let change = GroupChange("add to the group", "groups add \(group) \(names.joined(separator: " "))", undo)
            let (group, cards, called, inside) = try change.members(group, names)
            let new = cards.filter { !inside.contains($0) }
            let name = Speech.clean(group.name)
            guard !new.isEmpty else { throw CommandFailure("\(called) is in \(name) already", .refused) }
            let identifier = group.identifier
            try change.save(new.map { .memberAdded(group: identifier, member: $0) }) {
                for card in new { $0.addMember(withIdentifier: card, toGroupWithIdentifier: identifier) }
            }
            print("\(called): in \(name) now")
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take contacts out of a group. They stay in the book.")
        @Argument(help: "The group.") var group: String
        @Argument(help: "The contacts' names, each in quotes, or identifiers.") var names: [String]
        @OptionGroup var undo: UndoOption

        func run() throws {
            let change = GroupChange(
                "take out of the group", "groups remove \(group) \(names.joined(separator: " "))", undo)
            let (group, cards, called, inside) = try change.members(group, names)
            let old = cards.filter { inside.contains($0) }
            let name = Speech.clean(group.name)
            guard !old.isEmpty else { throw CommandFailure("\(called) is not in \(name)", .refused) }
            let identifier = group.identifier
            try change.save(old.map { .memberRemoved(group: identifier, member: $0) }) {
                for card in old { $0.removeMember(withIdentifier: card, fromGroupWithIdentifier: identifier) }
            }
            print("\(called): no longer in \(name)")
        }
    }

    struct Nest: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Put a group into another one.")
        @Argument(help: "The group.") var group: String
        @Argument(help: "The one that it is within from now on.") var outer: String
        @OptionGroup var undo: UndoOption

        func run() throws {
            let change = GroupChange("nest the group", "groups nest \(group) \(outer)", undo)
            let (inner, outer) = (try change.book().group(named: group), try change.book().group(named: outer))
            guard !inner.parentGroupIdentifiers.contains(outer.identifier) else {
                throw CommandFailure(
                    "\(Speech.clean(inner.name)) is within \(Speech.clean(outer.name)) already", .refused)
            }
            try change.save([.subgroupAdded(group: outer.identifier, member: inner.identifier)]) {
                $0.addSubgroup(inner, to: outer)
            }
            print("\(Speech.clean(inner.name)) is within \(Speech.clean(outer.name)) now")
        }
    }

    struct Unnest: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Take a group out of another one.")
        @Argument(help: "The group.") var group: String
        @Argument(help: "The one that it is within.") var outer: String
        @OptionGroup var undo: UndoOption

        func run() throws {
            let change = GroupChange("unnest the group", "groups unnest \(group) \(outer)", undo)
            let (inner, outer) = (try change.book().group(named: group), try change.book().group(named: outer))
            guard inner.parentGroupIdentifiers.contains(outer.identifier) else {
                throw CommandFailure("\(Speech.clean(inner.name)) is not within \(Speech.clean(outer.name))", .refused)
            }
            try change.save([.subgroupRemoved(group: outer.identifier, member: inner.identifier)]) {
                $0.removeSubgroup(inner, from: outer)
            }
            print("\(Speech.clean(inner.name)) is no longer within \(Speech.clean(outer.name))")
        }
    }
}

/// One change of groups, and how it is taken back.
private final class GroupChange {
    let task: String
    let journal: UndoJournal?
    private var opened: AddressBook?

    init(_ task: String, _ command: String, _ undo: UndoOption) {
        self.task = task
        journal = undo.journal(command, to: task)
    }

    func book() throws -> AddressBook {
        if let opened { return opened }
        let book = try AddressBook(to: task, reading: AddressBook.listKeys.union(.groups))
        opened = book
        return book
    }

    /// The group, the cards of the contacts, what to call these, and who is in it now.
    func members(
        _ group: String, _ names: [String]
    ) throws -> (group: CNGroup, cards: [String], called: String, inside: Set<String>) {
        let book = try book()
        let group = try book.group(named: group)
        let contacts = try names.map { try book.contact(named: $0, AddressBook.listKeys) }
        let cards = try contacts.flatMap { try book.cards(of: $0.identifier ?? "") }
        let called = contacts.map { ContactCard.name($0.contact) }.joined(separator: ", ")
        return (group, cards, called, Set(try book.members(of: group.identifier)))
    }

    func save(_ steps: [UndoStep] = [], _ fill: (CNSaveRequest) -> Void) throws {
        do {
            try journal?.open()
            try journal?.note(steps)
            try book().save(fill)
        } catch {
            journal?.discard()
            throw ContactsFailure.refused(error, could: task)
        }
    }
}
