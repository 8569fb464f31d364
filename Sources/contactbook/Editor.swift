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
        let place = Environment.variable("XDG_RUNTIME_DIR") ?? Environment.variable("TMPDIR") ?? "/tmp"
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

    /// Runs the editor through a shell, because the variables can contain arguments.
    private func run() throws {
        let command = Environment.variable("VISUAL") ?? Environment.variable("EDITOR") ?? "vi"
        let arguments = ["/bin/sh", "-c", "\(command) \"$@\"", "editor", path]
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // While the editor runs, this program ignores ^C, as system(3) does. Only the editor reacts to it.
        var ignoring = sigaction()
        ignoring.__sigaction_handler.sa_handler = SIG_IGN
        var interrupt = sigaction()
        var quit = sigaction()
        sigaction(SIGINT, &ignoring, &interrupt)
        sigaction(SIGQUIT, &ignoring, &quit)
        defer {
            sigaction(SIGINT, &interrupt, nil)
            sigaction(SIGQUIT, &quit, nil)
        }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGINT)
        sigaddset(&defaults, SIGQUIT)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var process: pid_t = 0
        let code = posix_spawn(&process, "/bin/sh", nil, &attributes, &words, environ)
        guard code == 0 else { throw OutputFile.failure(task, "/bin/sh", code) }
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            throw CommandFailure(
                "the editor (\(Speech.clean(command))) did not end well; nothing is saved",
                try: "another editor: EDITOR=nano contactbook …", .refused)
        }
    }
}

enum Environment {
    /// The value of a variable; `nil` if it is unset or empty.
    static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
