import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import Glibc

/// Records the changes that commands make, so that `contactbook undo` can undo them. Each command has one
/// file, in a folder that only the user can read (`$XDG_STATE_HOME/contactbook/undo`).
///
/// A file is created atomically with its complete first line. Further lines are appended, and an incomplete
/// last line is ignored.
final class UndoJournal {
    /// The age at which files are deleted, in seconds.
    static let keptFor: time_t = 30 * 86_400
    /// The maximum size of a file to read, in bytes. It allows for the deletion of a large book.
    private static let longest = 1_024 * 1_048_576

    private let entry: UndoEntry
    private let task: String
    /// The file's name. Names sort in the order in which commands started.
    private let name: String
    private var path: String?
    private var isEmpty = true
    private var descriptor: CInt = -1

    /// - Parameter command: the text that `undo --list` shows.
    init(_ command: String, to task: String, isUndoing: Bool = false) {
        self.task = task
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let time = Self.text(now.tv_sec)
        entry = UndoEntry(command: Speech.clean(command), time: time, isUndoing: isUndoing)
        let fraction = String(now.tv_nsec / 1_000)
        let digits = String(repeating: "0", count: 6 - fraction.utf8.count) + fraction
        name = "\(time.filter { $0 != ":" })-\(digits)-\(getpid()).jsonl"
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    /// Creates the file. If this fails, the command fails before it changes anything.
    func open() throws {
        guard descriptor < 0 else { return }
        let folder = try Self.folder(to: task, making: true)
        Self.prune(folder)
        let path = "\(folder)/\(name)"
        do {
            let file = try OutputFile(at: path, to: task)
            try file.write(entry.head)
            try file.finish()
        } catch let failure as CommandFailure {
            throw Self.unwritable(task, failure)
        }
        self.path = path
        descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw Self.unwritable(task, OutputFile.failure(task, folder, errno)) }
    }

    /// Records steps. Call this before or after the change is saved; see `isSynced`.
    ///
    /// - Parameter isSynced: whether to sync the file to disk. Steps that delete or overwrite data must be
    ///   synced before the save. Additions need no sync, because they stay visible in the book.
    func note(_ steps: [UndoStep], isSynced: Bool = true) throws {
        guard !steps.isEmpty else { return }
        try open()
        isEmpty = false
        guard OutputFile.write(steps.flatMap(UndoEntry.line), to: descriptor), !isSynced || fdatasync(descriptor) == 0
        else {
            throw Self.unwritable(task, OutputFile.failure(task, path ?? "", errno))
        }
    }

    /// Deletes the file. Call this if the command changed nothing.
    func discard() {
        if let path { unlink(path) }
        path = nil
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Ends the journal. If no step was recorded, this deletes the file.
    func end() {
        if isEmpty { discard() } else { fdatasync(descriptor) }
    }

    private static func unwritable(_ task: String, _ failure: CommandFailure) -> CommandFailure {
        CommandFailure(failure.message, try: "to do it without being able to undo it: add --no-undo", .notTried)
    }

    // MARK: Reading

    /// Returns the recorded commands, newest first, including those that were already undone. This ignores
    /// files without steps, damaged files and files of other programs.
    static func entries(to task: String) throws -> [(file: String, entry: UndoEntry)] {
        let folder = try folder(to: task, making: false)
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        prune(folder)
        let names = (try? PlainFile.names(in: descriptor)) ?? []
        return names.reversed().filter { $0.hasSuffix(".jsonl") }.compactMap { name in
            guard let bytes = try? PlainFile.read(name, in: descriptor, atMost: longest),
                let entry = UndoEntry(file: bytes), !entry.steps.isEmpty
            else { return nil }
            return ("\(folder)/\(name)", entry)
        }
    }

    /// Records that a command was undone, completely or in part.
    static func markUndone(_ file: String, renamed: [String: String], isWhole: Bool, to task: String) throws {
        let descriptor = Glibc.open(file, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw OutputFile.failure(task, file, errno) }
        defer { close(descriptor) }
        guard OutputFile.write(UndoEntry.undoneLine(renamed: renamed, isWhole: isWhole), to: descriptor),
            fdatasync(descriptor) == 0
        else { throw OutputFile.failure(task, file, errno) }
    }

    // MARK: The folder

    private static func folder(to task: String, making: Bool) throws -> String {
        guard let state = StateFolder.path else {
            throw CommandFailure(
                "could not \(task): there is no place to note it", try: "set HOME, or add --no-undo", .notTried)
        }
        let folder = state + "/undo"
        guard making else { return folder }
        do {
            try StateFolder.make(folder, to: task)
        } catch let failure as CommandFailure {
            throw unwritable(task, failure)
        }
        return folder
    }

    private static func prune(_ folder: String) {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        for name in (try? PlainFile.names(in: descriptor)) ?? [] where name.contains(".jsonl") {
            var status = stat()
            guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
                status.st_mtim.tv_sec < time(nil) - keptFor
            else { continue }
            unlinkat(descriptor, name, 0)
        }
    }

    /// Formats a time in UTC, such as `2026-03-01T12:00:00Z`.
    private static func text(_ moment: time_t) -> String {
        var seconds = moment
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The options shared by all commands that change something.
struct UndoOption: ParsableArguments {
    @Flag(help: "Store no undo step, so that contactbook undo cannot revert this.") var noUndo = false

    /// - Parameter command: the text that `undo --list` shows.
    func journal(_ command: String, to task: String) -> UndoJournal? {
        noUndo ? nil : UndoJournal(command, to: task)
    }
}
