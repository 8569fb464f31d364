import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract:
            "Add the contacts of files: vCards, CSV of Google, Outlook or Thunderbird, LDIF, or a folder of vCards.",
        discussion: """
            The format is detected from the content. A folder is read as a vdir, the format of khard and vdirsyncer: files \
            with one card each. Its subfolders become groups. Labels, categories, and vCards and LDIF entries of groups \
            become groups, too.

            The columns of CSV may have English, German, French, Spanish, Italian or Japanese names (those of Google \
            are always English). If contacts have no field for more than three columns with values, nothing is added \
            and the columns are named; --drop-columns adds the contacts without them.

            A contact is a duplicate if it has the same UID, the same name with a common e-mail address or phone \
            number, or the same contents. Within one import, contacts with different UIDs are no duplicates. \
            If the file has more or other values, both are shown, and you choose: skip, merge \
            (adds what is missing, and replaces names, other texts and labels only of a contact with the same UID) or \
            keep both. Without a terminal, such contacts are skipped and \
            named; if the birthdays differ, both are kept. --duplicates answers for all of them.

            What cannot be read is named with file, line and reason; all other contacts are added. If one value of a \
            contact exceeds a limit, such as a large photo, only that value is left out, and named. ^C stops after the \
            contacts that are being added, and names the last one. contactbook undo removes what an import added.

            Example: contactbook import ~/Downloads/contacts.csv
            """)

    @Argument(help: ArgumentHelp("Files or folders; - is standard input.", valueName: "file"), completion: .file())
    var files: [String]
    @Option(help: "Treatment of duplicates: ask, skip, merge or keep (both).")
    var duplicates: DuplicateTreatment?
    @Option(help: "Format of the files, instead of detecting it: vcard, csv or ldif.") var format: FileFormat?
    @Flag(help: "In CSV, dates like 1/2/1990 have the day first.") var dayFirst = false
    @Flag(help: "Leave out columns for which contacts have no field, even if there are more than three.")
    var dropColumns = false
    @Flag(help: "Ignore groups: labels, categories and folders.") var noGroups = false
    @Flag(help: "Only read the files and report; add nothing.") var dryRun = false

    func run() throws {
        // All files are opened before any contact is added, so that a mistyped name fails at once.
        let opened = try files.map(ImportedFile.init)
        let reading = ImportReading(
            format: format, dates: dayFirst ? .dayFirst : .monthFirst, makesGroups: !noGroups)
        if !dropColumns { for file in opened { try ImportedColumns.check(file, reading) } }
        let book = dryRun ? nil : try AddressBook(to: Import.task).doing("import \(files.joined(separator: " "))")
        let known = book ?? AddressBook(ifOpenTo: Import.task)
        // A dry run asks no questions.
        let canAsk = !dryRun && Speech.canAsk
        let wanted = duplicates ?? (canAsk ? .ask : .skip)
        let treatment = dryRun && wanted == .ask ? .skip : wanted
        if treatment == .ask, !canAsk {
            throw CommandFailure(
                "could not \(Import.task): there is no terminal to ask on", try: "say --duplicates skip, merge or keep",
                .notTried)
        }
        // The interruption is created only after the access prompt, so ^C ends the program at once during the
        // prompt.
        let interruption = Interruption()
        let run = try Import(
            book: book, knowing: known, duplicates: treatment, isUnanswered: duplicates == nil && treatment == .skip,
            size: ImportedFile.size(of: opened), interruption: interruption)
        var reader = ImportReader(run)
        do {
            do {
                for file in opened { try reader.read(file, reading) }
            } catch is Import.Stopped {
                Speech.say("stopped; what follows is not added")
            }
            try reader.run.finish()
        } catch is Import.Interrupted {
            Speech.say("contactbook: interrupted; \(run.report.soFar)")
            interruption.take()
        }
        try report(run.report, run.groups.names, of: Self.places(opened), isCompared: known != nil)
    }

    private static func places(_ opened: [ImportedFile]) -> String {
        let folders = opened.count { $0.isFolder }
        let files = opened.count - folders
        return [(files, "file"), (folders, "folder")].filter { $0.0 > 0 }
            .map { Count.words($0.0, $0.1) }.joined(separator: " and ")
    }

    private func report(
        _ run: ImportReport, _ groups: [String], of places: String, isCompared: Bool
    ) throws {
        let contacts = Count.words(run.taken, "contact")
        let duplicates = run.duplicates.isEmpty ? "" : "; \(run.duplicates)"
        print((dryRun ? "\(contacts) in \(places) can be added" : "added \(contacts) of \(places)") + duplicates)
        if dryRun, !groups.isEmpty {
            print("groups: \(groups.map(Speech.clean).joined(separator: ", "))")
        }
        if dryRun, !isCompared {
            Speech.say("whether they are there already is not known: contactbook may not see your contacts yet")
        }
        if run.unseen > 0 {
            Speech.say(
                "\(Count.words(run.unseen, "contact")): notes and unrecognized properties were not compared or merged, because "
                    + "contactbook may not see them")
        }
        guard run.refused > 0 || run.taken == 0 && run.duplicates.isEmpty else { return }
        let refused = Count.words(run.refused, "contact")
        throw CommandFailure(
            run.refused == 0
                ? "there is no contact in \(places)"
                : dryRun ? "\(refused) cannot be added" : "\(refused) \(run.refused == 1 ? "was" : "were") not added",
            .refused)
    }
}

extension FileFormat: ExpressibleByArgument {}
