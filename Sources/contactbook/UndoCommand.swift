import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo the last command of contactbook, or an earlier one.",
        discussion: """
            Each command that changes something stores how to undo it, for 30 days, in a folder that only you may read \
            ($XDG_STATE_HOME/contactbook/undo). Without a number, this undoes the last command; a second time, the one before. \
            If nothing can be undone of the last command, for example because it was killed, this changes nothing: add the \
            number of an earlier command to undo that one.

            If contacts would be removed, more than one, this asks first.

            What was changed since stays as it is, and is named; --force undoes it too. A removed contact that is restored is \
            a new one to other apps: apps that you had shared only this contact with have to ask for it again.
            """)

    @Argument(help: "The command's number in --list.") var number: Int?
    @Flag(help: "List what can be undone, the last command first.") var list = false
    @Flag(help: "Also undo what was changed since.") var force = false
    @Flag(help: "Show what would happen, and change nothing.") var dryRun = false
    @Flag(help: "Do not ask for confirmation.") var yes = false

    /// The maximum number of conflicts to list.
    private static let reported = 100

    func run() throws {
        let task = list ? "list what can be undone" : "undo"
        let recorded = try UndoJournal.recorded(to: task)
        if list { return show(recorded) }
        let (file, entry) = try Self.chosen(number, of: recorded)
        let command = "\(entry.command), \(RelativeTime.since(entry.time))"
        let book = try AddressBook(to: task)
        let journal = UndoJournal("undo: \(entry.command)", to: task, isUndoing: true)
        // The oldest entry comes first. If a record was recreated more than once, each undo maps the previous
        // identifier to the next one.
        var run = try UndoRun(
            book: book, names: recorded.reversed().compactMap(\.entry?.renamed), force: force,
            journal: dryRun ? nil : journal)
        try run.plan(entry)
        for line in run.conflicts.prefix(Self.reported) { Speech.say(line) }
        if run.conflicts.count > Self.reported { Speech.say("and \(run.conflicts.count - Self.reported) more") }
        if dryRun {
            print("would undo: \(command)\(run.summary.isEmpty ? "" : " (\(run.summary))")")
            return
        }
        if run.removals > 1, !yes { try Self.confirm(command, run.removals) }
        do {
            try run.save()
        } catch {
            if run.saved > 0 { try UndoJournal.markUndone(file, renamed: run.renamed, isWhole: false, to: task) }
            if run.saved == 0 { journal.discard() }
            throw ContactsFailure.refused(error, could: task)
        }
        let isWhole = run.conflicts.isEmpty
        try UndoJournal.markUndone(file, renamed: run.renamed, isWhole: isWhole, to: task)
        let summary = run.summary.isEmpty ? "nothing was left to do" : run.summary
        print(run.returned.map { "\($0) is back (undone: \(command))" } ?? "undone: \(command) (\(summary))")
        if !run.lost.isEmpty {
            Speech.say(
                "missing, if there were any, because contactbook could not read them: \(Removal.words(run.lost))")
        }
        if run.hasReturns { Speech.say("apps that you had shared only a removed contact with must ask again") }
        guard isWhole else {
            throw CommandFailure(
                run.conflicts.count == 1 ? "1 change stays" : "\(run.conflicts.count) changes stay",
                try: "to take back these too: contactbook undo \(number.map(String.init) ?? "") --force", .refused)
        }
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

    /// Without a number, this is the last command that was not undone. If nothing can be undone of that one, this does
    /// not go back to an earlier command, of which the person may not think.
    private static func chosen(
        _ number: Int?, of recorded: [UndoJournal.Recorded]
    ) throws -> (file: String, entry: UndoEntry) {
        let list = "contactbook undo --list"
        let file: UndoJournal.Recorded
        if let number {
            guard recorded.indices.contains(number - 1) else {
                throw CommandFailure("could not undo: there is no number \(number)", try: list, .refused)
            }
            file = recorded[number - 1]
        } else {
            guard let last = recorded.first(where: { $0.entry?.isUndone != true && $0.entry?.isUndoing != true }) else {
                throw CommandFailure("there is nothing to undo", .refused)
            }
            file = last
        }
        if let entry = file.entry, entry.isUndone {
            throw CommandFailure("\(entry.command) was undone already", try: list, .refused)
        }
        guard let entry = file.entry, file.problem == nil else {
            throw CommandFailure(
                "could not undo \(file.command): \(file.problem ?? "")",
                try: "nothing was changed; to undo an earlier command, add its number in: \(list)", .refused)
        }
        return (file.path, entry)
    }

    private func show(_ recorded: [UndoJournal.Recorded]) {
        guard !recorded.isEmpty else { return Speech.say("there is nothing to undo") }
        var table = Table(["NUMBER", "WHEN", "CHANGES", "COMMAND"])
        for (place, file) in recorded.enumerated() {
            table.add([
                String(place + 1), file.entry.map { LocalTime.text($0.time) } ?? "unknown",
                file.problem == nil ? String(file.entry?.steps.count ?? 0) : "unknown",
                file.command + (file.entry?.isUndone == true ? " (undone)" : file.problem.map { " (\($0))" } ?? ""),
            ])
        }
        for line in table.lines { print(line) }
    }
}
