import ArgumentParser
import CommandOutput
import ContactsModel
import Glibc
import VCard

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add the contacts of vCard files, 3.0 or 4.0.",
        discussion: """
            What cannot be read is named with file, line and reason; all other contacts are added. Contacts that you \
            have already are added again.
            """)

    @Argument(help: ArgumentHelp("vCard files; - is standard input.", valueName: "file")) var files: [String]
    @Flag(help: "Read and report, and add nothing.") var dryRun = false

    func run() throws {
        // All of them before anything is added: a mistyped name is found out at once.
        let descriptors = try files.map { ($0, try Self.open($0)) }
        defer { for (_, descriptor) in descriptors where descriptor != STDIN_FILENO { close(descriptor) } }
        var run = Import(book: dryRun ? nil : try AddressBook(to: Import.task))
        for (name, descriptor) in descriptors { try run.read(descriptor, name: Speech.clean(name)) }
        try run.finish()
        let files = files.count == 1 ? "1 file" : "\(files.count) files"
        let contacts = run.taken == 1 ? "1 contact" : "\(run.taken) contacts"
        print(dryRun ? "\(contacts) in \(files) can be added" : "added \(contacts) of \(files)")
        guard run.refused > 0 || run.taken == 0 else { return }
        throw CommandFailure(
            run.refused == 0
                ? "there is no contact in \(files)"
                : run.refused == 1 ? "1 contact was not added" : "\(run.refused) contacts were not added", .refused)
    }

    private static func open(_ name: String) throws -> CInt {
        if name == "-" { return STDIN_FILENO }
        let descriptor = Glibc.open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno)).lowercased()
            throw CommandFailure("could not \(Import.task): \(Speech.clean(name)): \(reason)", .notTried)
        }
        return descriptor
    }
}
