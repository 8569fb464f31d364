import ArgumentParser
import BrokerCommandOutput
import BrokerModel
import Contacts
import Foundation

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo the last command of contactbook, or an earlier one.",
        discussion: """
            Your address book keeps for some time (30 days, unless you set another) what a save changed, as long as it has \
            room for it. Without a number, this undoes the last command; a second time, the one before. An undo can be \
            undone, too, by its number.

            If contacts would be removed, more than one, this asks first.

            What was changed since stays as it is, and is named; --force undoes it too. A removed contact comes back as it \
            was, also for other apps.
            """)

    @Argument(help: "The command's number in --list.") var number: Int?
    @Flag(help: "List what can be undone, the last command first.") var list = false
    @Flag(help: "Also undo what was changed since.") var force = false
    @Flag(help: "Show what would happen, and change nothing.") var dryRun = false
    @Flag(help: "Do not ask for confirmation.") var yes = false

    /// The maximum number of conflicts to name.
    private static let named = 100

    func run() throws {
        let task = list ? "list what can be undone" : "undo"
        let book = try AddressBook(to: task)
        let groups = try book.trying { try $0.saveGroups().groups }
        if list { return Self.show(groups) }
        let chosen = try chosen(groups)
        let label = Self.words(chosen)
        let command =
            "\(label), \(RelativeTime.since(Timestamp.text(seconds: Int64(chosen.date.timeIntervalSince1970))))"
        let planned = try trying(book, label) {
            try $0.takeBack(chosen.group, overwriting: force, onlyCounting: true)
        }
        try Self.say(planned, book)
        if dryRun { return print("would undo: \(command)\(planned.count == 0 ? "" : " (\(planned.words))")") }
        if planned.removed > 1, !yes { try Self.confirm(command, planned.removed) }
        let new = CNSaveGroup(label: AddressBook.label("undo: \(label)"))
        var done = CNTakenBack()
        repeat {
            let part = try trying(book, label) { try $0.takeBack(chosen.group, in: new, overwriting: force) }
            done.add(part)
            // Each part takes back something, or there is nothing that could be taken back.
            if part.count == 0 { break }
            if part.hasMore { Speech.progress("\(done.count) of \(planned.count)") }
        } while done.hasMore
        Speech.endProgress()
        print("undone: \(command) (\(done.count == 0 ? "nothing was left to do" : done.words))")
        let conflicts = done.conflicts.count + done.groupConflicts.count
        guard conflicts == 0 else {
            throw CommandFailure(
                conflicts == 1 ? "1 change stays" : "\(conflicts) changes stay",
                try: "to undo these too: contactbook undo --force NUMBER, with the number in contactbook undo --list",
                .refused)
        }
        guard !planned.isPartial else {
            throw CommandFailure("some of it stays as it is: \(Self.whyPartial)", .refused)
        }
    }

    private static let whyPartial =
        "it was removed or changed since where contactbook does not see it, or your address book has it no more"

    private func trying<Result>(
        _ book: AddressBook, _ command: String, _ body: (CNContactStore) throws -> Result
    ) throws -> Result {
        do {
            return try body(book.store)
        } catch let error as CNError where error.brokerError == "SaveDoesNotExist" {
            throw CommandFailure(
                "could not undo \(command): nothing of it can be undone: \(Self.whyPartial)",
                try: "an earlier command: contactbook undo --list", .refused)
        } catch let error as CNError {
            throw ContactsFailure.refused(ContactsFailure.describe(error, could: book.task), could: book.task)
        }
    }

    /// Names what stays because it was changed since.
    private static func say(_ planned: CNTakenBack, _ book: AddressBook) throws {
        let predicate = CNContact.predicateForContacts(withIdentifiers: Array(planned.conflicts.prefix(named)))
        let contacts = planned.conflicts.isEmpty ? [] : try book.contacts(AddressBook.listKeys, predicate, unify: false)
        let groups = planned.groupConflicts.isEmpty ? [] : try book.groups()
        let names =
            contacts.map { ContactCard.name($0.contact) }
            + groups.filter { planned.groupConflicts.contains($0.identifier) }.map {
                "the group \(Speech.clean($0.name))"
            }
        for name in names.prefix(named) { Speech.say("\(name): changed since; stays") }
        let count = planned.conflicts.count + planned.groupConflicts.count
        if count > names.prefix(named).count { Speech.say("and \(count - names.prefix(named).count) more") }
    }

    /// Who undoes the last command may think of another one, such as a command that failed and changed nothing.
    private static func confirm(_ command: String, _ removals: Int) throws {
        let contacts = Count.words(removals, "contact")
        guard let agreed = Speech.confirm("Undo \(command), and remove \(contacts)?") else {
            throw CommandFailure(
                "could not undo \(command): it would remove \(contacts), and there is no terminal to ask on",
                try: "add --yes", .notTried)
        }
        guard agreed else { throw CommandFailure("nothing was undone", .refused) }
    }

    private func chosen(_ groups: [CNSaveGroupRecord]) throws -> CNSaveGroupRecord {
        let list = "contactbook undo --list"
        guard let number else {
            guard let last = groups.first(where: { !$0.isTakenBack && $0.takesBack == nil }) else {
                throw CommandFailure("there is nothing to undo", .refused)
            }
            return last
        }
        guard groups.indices.contains(number - 1) else {
            throw CommandFailure("could not undo: there is no number \(number)", try: list, .refused)
        }
        guard force || !groups[number - 1].isTakenBack else {
            throw CommandFailure("\(Self.words(groups[number - 1])) was undone already", try: list, .refused)
        }
        return groups[number - 1]
    }

    private static func words(_ record: CNSaveGroupRecord) -> String {
        record.group.label.isEmpty ? "a command" : Speech.clean(record.group.label)
    }

    private static func show(_ groups: [CNSaveGroupRecord]) {
        guard !groups.isEmpty else { return Speech.say("there is nothing to undo") }
        var table = Table(["NUMBER", "WHEN", "CONTACTS", "COMMAND"])
        for (place, record) in groups.enumerated() {
            table.add([
                String(place + 1), LocalTime.text(Timestamp.text(seconds: Int64(record.date.timeIntervalSince1970))),
                String(record.added + record.changed + record.deleted),
                words(record) + (record.isTakenBack ? " (undone)" : ""),
            ])
        }
        for line in table.lines { print(line) }
    }
}

extension CNTakenBack {
    /// What was done, or would be.
    fileprivate var words: String {
        [
            (returned, "contact", "brought back"), (changed, "contact", "changed back"),
            (removed, "contact", "removed"),
            (groups, "group", "as before"), (others, "other change", "undone"),
        ]
        .filter { $0.0 > 0 }.map { "\(Count.words($0.0, $0.1)) \($0.2)" }.joined(separator: ", ")
    }

    /// Takes in the next part of the same group.
    fileprivate mutating func add(_ next: CNTakenBack) {
        returned += next.returned
        changed += next.changed
        removed += next.removed
        groups += next.groups
        others += next.others
        // Each part finds those again that stay.
        (conflicts, groupConflicts) = (next.conflicts, next.groupConflicts)
        isPartial = isPartial || next.isPartial
        hasMore = next.hasMore
    }
}

extension AddressBook {
    /// What a person should know before they change something: whether it can be undone.
    func wayBack() throws -> String {
        let days = try trying { try $0.saveGroups().days }
        return days == 0
            ? "this cannot be undone, because your address book keeps nothing of what is changed"
            : "to bring it back, within \(Count.words(days, "day")): contactbook undo"
    }
}
