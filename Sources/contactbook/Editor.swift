import BrokerCommandOutput
import Glibc

/// Lets the person edit text in `$VISUAL`, falling back to `$EDITOR`, then vi.
///
/// The text is in a file that only the user can read, in its own folder. The deinit deletes both, unless
/// ``keep()`` was called.
final class Editor {
    let task: String
    private let folder: String
    private var path: String { folder + "/contact.txt" }
    private var isKept = false

    init(to task: String) throws {
        self.task = task
        let place = environmentVariable("XDG_RUNTIME_DIR") ?? environmentVariable("TMPDIR") ?? "/tmp"
        var template = Array("\(place)/contactbook-XXXXXX".utf8CString)
        // mkdtemp(3) creates the folder with mode 0700.
        guard mkdtemp(&template) != nil else { throw OutputFile.failure(task, place, errno) }
        folder = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    deinit {
        guard !isKept else { return }
        unlink(path)
        rmdir(folder)
    }

    /// Keeps the file with the person's text, and returns its path.
    func keep() -> String {
        isKept = true
        return path
    }

    /// Saves what the person typed with `save`. If that fails, the file is kept, and the error says where.
    func keepingText(_ save: () throws -> Void) throws {
        do {
            try save()
        } catch {
            let path = keep()
            guard let refused = error as? CommandFailure else { throw error }
            throw CommandFailure(
                refused.message,
                try: [refused.advice, "what you typed is kept in \(path)"].compactMap { $0 }.joined(separator: "\n"),
                refused.code)
        }
    }

    /// Opens the text in the editor, waits for the editor to end, and reads the file.
    func edit(_ text: String) throws -> String {
        let file = try OutputFile(at: path, to: task)
        try file.write(Array(text.utf8))
        try file.finish()
        try run()
        let bytes: [UInt8]
        do throws(PlainFile.Failure) {
            bytes = try PlainFile.read(path, atMost: 32 * 1_048_576)
        } catch {
            throw CommandFailure("could not \(task): \(path): \(error)", .notTried)
        }
        guard let edited = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(
                "could not \(task): what the editor wrote is not UTF-8", try: "it is kept in \(keep())", .notTried)
        }
        return edited
    }

    /// Runs the editor through a shell, because the variables can contain arguments. Meanwhile only the editor reacts to
    /// ^C: system(3) ignores it in this program.
    private func run() throws {
        let command = environmentVariable("VISUAL") ?? environmentVariable("EDITOR") ?? "vi"
        let status = system("\(command) '\(path.replacing("'", with: "'\\''"))'")
        guard status >= 0 else { throw OutputFile.failure(task, "/bin/sh", errno) }
        guard status == 0 else {
            throw CommandFailure(
                "the editor (\(Speech.clean(command))) did not end well; nothing is saved",
                try: "another editor: EDITOR=nano contactbook …", .refused)
        }
    }
}
