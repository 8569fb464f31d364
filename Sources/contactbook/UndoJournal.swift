import ArgumentParser
import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
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
    /// Whether changes without a step may have been saved. The file then stays, so that `undo` does not take an earlier
    /// command for the last one.
    var isUncertain = false
    private var descriptor: CInt = -1

    /// - Parameter command: the text that `undo --list` shows.
    init(_ command: String, to task: String, isUndoing: Bool = false) {
        self.task = task
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let time = Timestamp.text(seconds: Int64(now.tv_sec))
        entry = UndoEntry(command: Speech.clean(command), time: time, isUndoing: isUndoing)
        name = "\(time.filter { $0 != ":" })-\(Timestamp.padded(now.tv_nsec / 1_000, 6))-\(getpid()).jsonl"
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    /// Creates the file. If this fails, the command fails before it changes anything.
    func open() throws {
        guard descriptor < 0 else { return }
        do {
            guard let folder = Self.folder else {
                throw CommandFailure("could not \(task): there is no place to note it: HOME is not set", .notTried)
            }
            try StateFolder.make(folder, to: task)
            Self.prune(folder)
            let path = "\(folder)/\(name)"
            let file = try OutputFile(at: path, to: task, followsLink: false)
            try file.write(entry.head)
            try file.finish()
            self.path = path
            descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { throw OutputFile.failure(task, folder, errno) }
        } catch let failure as CommandFailure {
            throw unwritable(failure)
        }
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
            throw unwritable(OutputFile.failure(task, path ?? "", errno))
        }
    }

    /// Deletes the file. Call this if the command changed nothing.
    func discard() {
        if let path { unlink(path) }
        path = nil
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Ends the journal. If no step was recorded and nothing can have been saved, this deletes the file.
    func end() {
        if isEmpty, !isUncertain { discard() } else { fdatasync(descriptor) }
    }

    private func unwritable(_ failure: CommandFailure) -> CommandFailure {
        CommandFailure(
            failure.message,
            try: entry.isUndoing
                ? "correct that (if the disk is full, free some space), then retry"
                : "to do it without being able to undo it: add --no-undo", .notTried)
    }

    // MARK: Reading

    /// The file of a command, also of one that was undone.
    struct Recorded {
        let path: String
        /// `nil` if not even the command is readable.
        let entry: UndoEntry?
        /// Why the command cannot be undone from the file; `nil` if it can.
        let problem: String?

        /// The command, for a message or a list.
        var command: String { entry?.command ?? "a command" }
    }

    /// Returns the recorded commands, newest first. A file from which nothing can be undone is among them, because its
    /// command may have changed the address book. This ignores files that contactbook did not name.
    static func recorded(to task: String) throws -> [Recorded] {
        guard let folder else { return [] }
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return [] }
        guard descriptor >= 0 else { throw OutputFile.failure(task, folder, errno) }
        defer { close(descriptor) }
        prune(folder)
        let names: [String]
        do throws(PlainFile.Failure) {
            names = try PlainFile.names(in: descriptor)
        } catch {
            throw CommandFailure("could not \(task): \(Speech.clean(folder)): \(error)", .notTried)
        }
        return names.reversed().filter { $0.hasSuffix(".jsonl") && $0.first?.isNumber == true }.compactMap { name in
            let path = "\(folder)/\(name)"
            do throws(PlainFile.Failure) {
                let entry = UndoEntry(file: try PlainFile.read(name, in: descriptor, atMost: longest))
                return Recorded(path: path, entry: entry, problem: problem(entry))
            } catch {
                // A command that runs at the same time may have discarded its file.
                if case .system(ENOENT) = error { return nil }
                return Recorded(path: path, entry: nil, problem: "its file cannot be read (\(error))")
            }
        }
    }

    private static func problem(_ entry: UndoEntry?) -> String? {
        guard let entry else { return "its file is damaged, or of another version of contactbook" }
        if entry.isDamaged { return "its file is damaged" }
        return entry.steps.isEmpty ? "it was interrupted, and what it changed is not recorded" : nil
    }

    /// Records that a command was undone, completely or in part.
    static func markUndone(_ file: String, renamed: [String: String], isWhole: Bool, to task: String) throws {
        try StateFolder.append(UndoEntry.undoneLine(renamed: renamed, isWhole: isWhole), to: file, task: task)
    }

    // MARK: The folder

    /// `nil` if neither XDG_STATE_HOME nor a home folder is known.
    private static var folder: String? { StateFolder.path.map { $0 + "/undo" } }

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
}

/// The options shared by all commands that change something.
struct UndoOption: ParsableArguments {
    @Flag(help: "Store no undo step, so that contactbook undo cannot revert this.") var noUndo = false

    /// - Parameter command: the text that `undo --list` shows.
    func journal(_ command: String, to task: String) -> UndoJournal? {
        noUndo ? nil : UndoJournal(command, to: task)
    }
}
