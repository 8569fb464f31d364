import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import BrokerVCard
import Contacts
import Glibc

/// The output formats of `export`.
enum ExportFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case vcard3, vcard4, vdir, ldif

    var writer: Export.Writer {
        switch self {
        case .vcard3, .vdir: .vcard(VCardWriter(version: .v3_0))
        case .vcard4: .vcard(VCardWriter(version: .v4_0))
        case .ldif: .ldif(LDIFWriter())
        }
    }
}

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write contacts as vCards or LDIF, into a file or into a folder of files.",
        discussion: """
            Without names, this exports all contacts that contactbook may see, with groups. Most programs read vcard3. A vdir \
            is a folder with one such card in each file, the format of khard and vdirsyncer. ldif is for Thunderbird and \
            directories, and has fewer fields and no labels. A file is written completely or not at all, and only you \
            may read it.

            Each card keeps its UID, by which other programs recognize it, if contactbook may see whole cards. Otherwise \
            the cards get new UIDs, and contactbook does not write into a folder that has cards of other programs.

            In a folder, a contact always has the same file. Files that another program added or changed stay as they are, \
            and are named. The file of a deleted contact is deleted only if it is as contactbook wrote it.

            Examples:
              contactbook export --output contacts.vcf
              contactbook export --format vdir --output ~/contacts --notes
              contactbook export "Ada Lovelace" | less
            """)

    @Option(help: "vcard3, vcard4, vdir or ldif. Default: vcard3; vdir if the output is a folder.")
    var format: ExportFormat?
    @Option(
        help: ArgumentHelp("File, or folder for vdir. Default: standard output.", valueName: "path"),
        completion: .file())
    var output: String?
    @Option(help: "Only the members of this group.", completion: .nothing) var group: String?
    @Flag(help: "Include notes and unrecognized vCard properties. You are asked separately for notes.")
    var notes = false
    @Flag(help: "Leave out photos.") var noPhotos = false
    @Flag(help: "Leave out groups.") var noGroups = false
    @Flag(help: "In a folder: overwrite files that another program changed.") var overwrite = false
    @Argument(help: "Only these contacts: their names, each in quotes, or identifiers.", completion: .nothing)
    var names: [String] = []

    private static let task = "export the contacts"

    func validate() throws {
        if group != nil, !names.isEmpty { throw ValidationError("either --group or names") }
        if format == .vdir, output == nil || output == "-" {
            throw ValidationError("a vdir is a folder: say which with --output")
        }
    }

    func run() throws {
        let path = output == "-" ? nil : output
        let format = format ?? (path.map(Self.isFolder) == true ? .vdir : .vcard3)
        let wanted = ContactKeySet.all.subtracting(notes ? [] : .named)
        let book = try AddressBook(to: Self.task, reading: noGroups ? wanted : wanted.union(.groups))
        // The UID of a card is an extra property, by which other programs recognise the card.
        let fetchable = try book.fetchableKeys()
        let hasUIDs = fetchable.contains(.extraProperties)
        var keys = wanted.union(ContactKeySet(.extraProperties)).intersection(fetchable)
            .subtracting(ContactKeySet(.thumbnailImageData))
        if notes { try refuse(ContactKeySet.named.subtracting(book.readableKeys())) }
        if noPhotos { keys = keys.subtracting(.images) }
        let hasGroups = !noGroups && names.isEmpty
        let groupUIDs = hasGroups && hasUIDs ? try GroupUIDs(to: Self.task) : nil
        let place: any CardOutput
        switch (format, path) {
        case (.vdir, let path?):
            let isWhole = names.isEmpty && group == nil
            let folder = try VdirOutput(at: path, overwrites: overwrite, isWhole: isWhole, to: Self.task)
            if !hasUIDs { try folder.refuseUnlessAlone() }
            place = folder
        case (_, let path?): place = try OutputFile(at: path, to: Self.task)
        case (_, nil): place = StandardOutput()
        }
        var run = Export(
            book: book, keys: keys, hasNotes: notes, groupUIDs: groupUIDs, writer: format.writer, output: place)
        try run.write(try contacts(book))
        if hasGroups { try run.writeGroups(only: group.map { try book.group(named: $0) }) }
        Speech.endProgress()
        try place.finish()
        if !run.leftOut.isEmpty { Speech.say("LDIF has no attribute for: \(run.leftOut); vcard3 and vcard4 keep it") }
        guard let path else { return }
        let groups = run.groups == 0 ? "" : " and \(Count.words(run.groups, "group"))"
        print("exported \(Count.words(run.contacts, "contact"))\(groups) to \(Speech.clean(path))")
        if !notes { Speech.say("without notes and unrecognized vCard properties; to include them: --notes") }
        if !hasUIDs {
            Speech.say(
                "with new UIDs, because contactbook may not see whole cards; other programs take them for new contacts")
        }
    }

    /// Throws if what `--notes` adds may not be read, and names it.
    private func refuse(_ missing: ContactKeySet) throws {
        let names = [(ContactKey.note, "notes"), (ContactKey.extraProperties, "unrecognized vCard properties")]
            .filter { missing.contains($0.0) }.map(\.1)
        guard !names.isEmpty else { return }
        throw CommandFailure(
            "could not \(Self.task): contactbook may not see \(names.joined(separator: " and "))",
            try: "export without --notes; \(ContactsFailure.decided)", .refused)
    }

    /// The cards to export: all, the members of a group, or the cards of the named contacts.
    private func contacts(_ book: AddressBook) throws -> Export.Selection {
        if let group {
            return .search(
                CNContact.predicateForContactsInGroup(withIdentifier: try book.group(named: group).identifier))
        }
        guard !names.isEmpty else { return .search(nil) }
        let found = try names.map { try book.contact(named: $0, AddressBook.listKeys) }
        return .cards(try found.flatMap { try book.cards(of: $0.identifier ?? "") })
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
