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
        } catch Import.Stop.interrupted {
            Speech.endProgress()
            Speech.say("contactbook: interrupted; \(run.soFar)")
            interruption.take()
        }
        let files = files.count == 1 ? "1 file" : "\(files.count) files"
        let contacts = Self.contacts(run.taken)
        print(dryRun ? "\(contacts) in \(files) can be added" : "added \(contacts) of \(files)")
        guard run.refused > 0 || run.taken == 0 else { return }
        let refused = Self.contacts(run.refused)
        throw CommandFailure(
            run.refused == 0
                ? "there is no contact in \(files)"
                : dryRun ? "\(refused) cannot be added" : "\(refused) \(run.refused == 1 ? "was" : "were") not added",
            .refused)
    }

    private static func contacts(_ count: Int) -> String { count == 1 ? "1 contact" : "\(count) contacts" }
}

/// A file of cards that is open.
final class ImportedFile {
    let descriptor: CInt
    /// As it is named to the person.
    let name: String
    /// Its bytes, where that is known before reading.
    private let size: Int?

    init(_ path: String) throws {
        guard path != "-" else {
            (descriptor, name, size) = (STDIN_FILENO, "standard input", nil)
            return
        }
        name = Speech.clean(path)
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw Self.failure(name, errno) }
        size = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
        if status.st_mode & S_IFMT == S_IFDIR {
            throw Self.failure(name, EISDIR, try: "name the files in it, such as \(name)/*.vcf")
        }
    }

    deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

    static func size(of files: [ImportedFile]) -> Int? {
        let sizes = files.compactMap(\.size)
        return sizes.count == files.count ? sizes.reduce(0, +) : nil
    }

    /// Reads on; nothing at the end.
    func read(into buffer: inout [UInt8]) throws -> ArraySlice<UInt8> {
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(name, errno) }
            return buffer[..<count]
        }
    }

    private static func failure(_ name: String, _ code: CInt, try advice: String? = nil) -> CommandFailure {
        let reason = String(cString: strerror(code)).lowercased()
        return CommandFailure("could not \(Import.task): \(name): \(reason)", try: advice, .notTried)
    }
}
