import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo the last command of contactbook, or an earlier one.",
        discussion: """
            Each command that changes something stores how to undo it, for 30 days, in a folder that only you may read \
            ($XDG_STATE_HOME/contactbook/undo). Without a number, this undoes the last command; a second time, the one before.

            What was changed since stays as it is, and is named; --force undoes it too. A removed contact that is restored is \
            a new one to other apps: apps that you had shared only this contact with have to ask for it again.
            """)

    @Argument(help: "The command's number in --list.") var number: Int?
    @Flag(help: "List what can be undone, the last command first.") var list = false
    @Flag(help: "Also undo what was changed since.") var force = false
    @Flag(help: "Show what would happen, and change nothing.") var dryRun = false

    /// The maximum number of conflicts to list.
    private static let reported = 100

    func run() throws {
        let task = list ? "list what can be undone" : "undo"
        let entries = try UndoJournal.entries(to: task)
        if list { return show(entries.map(\.entry)) }
        let place: Int
        if let number {
            guard entries.indices.contains(number - 1) else {
                throw CommandFailure(
                    "could not undo: there is no number \(number)", try: "contactbook undo --list", .refused)
            }
            place = number - 1
        } else {
            guard let last = entries.firstIndex(where: { !$0.entry.isUndone && !$0.entry.isUndoing }) else {
                throw CommandFailure("there is nothing to undo", .refused)
            }
            place = last
        }
        let (file, entry) = entries[place]
        guard !entry.isUndone else {
            throw CommandFailure("\(entry.command) was undone already", try: "contactbook undo --list", .refused)
        }
        let book = try AddressBook(to: task)
        let journal = UndoJournal("undo: \(entry.command)", to: task, isUndoing: true)
        // The oldest entry comes first. If a record was recreated more than once, each undo maps the previous
        // identifier to the next one.
        var run = try UndoRun(
            book: book, names: entries.reversed().map(\.entry.renamed), force: force, journal: dryRun ? nil : journal)
        try run.plan(entry)
        for line in run.conflicts.prefix(Self.reported) { Speech.say(line) }
        if run.conflicts.count > Self.reported { Speech.say("and \(run.conflicts.count - Self.reported) more") }
        if dryRun {
            print("would undo: \(entry.command)\(run.summary.isEmpty ? "" : " (\(run.summary))")")
            return
        }
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
        print("undone: \(entry.command) (\(summary))")
        guard isWhole else {
            throw CommandFailure(
                run.conflicts.count == 1 ? "1 change stays" : "\(run.conflicts.count) changes stay",
                try: "to take back these too: contactbook undo \(number.map(String.init) ?? "") --force", .refused)
        }
    }

    private func show(_ entries: [UndoEntry]) {
        guard !entries.isEmpty else { return Speech.say("there is nothing to undo") }
        var table = Table(["NUMBER", "WHEN", "CHANGES", "COMMAND"])
        for (place, entry) in entries.enumerated() {
            table.add([
                String(place + 1), LocalTime.text(entry.time), String(entry.steps.count),
                entry.command + (entry.isUndone ? " (undone)" : ""),
            ])
        }
        for line in table.lines { print(line) }
    }
}
