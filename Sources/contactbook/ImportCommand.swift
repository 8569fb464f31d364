import ArgumentParser
import CommandOutput

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add the contacts of vCard files, 2.1, 3.0 or 4.0.",
        discussion: """
            What cannot be read is named with file, line and reason; all other contacts are added. Contacts that you \
            have already are added again. ^C stops after the contacts that are being added, and says which the last \
            one was.
            """)

    @Argument(help: ArgumentHelp("vCard files; - is standard input.", valueName: "file")) var files: [String]
    @Flag(help: "Read and report, ask nobody, and add nothing.") var dryRun = false

    func run() throws {
        // All of them before anything is added: a mistyped name is found out at once.
        let opened = try files.map(ImportedFile.init)
        let book = dryRun ? nil : try AddressBook(to: Import.task)
        // Not before: while the person is asked, ^C ends the program at once.
        let interruption = Interruption()
        var run = Import(book: book, size: ImportedFile.size(of: opened), interruption: interruption)
        do {
            for file in opened { try run.read(file) }
            try run.finish()
        } catch is Import.Interrupted {
            Speech.endProgress()
            Speech.say("contactbook: interrupted; \(run.soFar)")
            interruption.take()
        }
        let files = files.count == 1 ? "1 file" : "\(files.count) files"
        let contacts = Import.contacts(run.taken)
        print(dryRun ? "\(contacts) in \(files) can be added" : "added \(contacts) of \(files)")
        guard run.refused > 0 || run.taken == 0 else { return }
        let refused = Import.contacts(run.refused)
        throw CommandFailure(
            run.refused == 0
                ? "there is no contact in \(files)"
                : dryRun ? "\(refused) cannot be added" : "\(refused) \(run.refused == 1 ? "was" : "were") not added",
            .refused)
    }
}
