import BrokerCommandOutput
import BrokerPasswordPrompt
import CBrokerLinux
import Glibc

/// The program `age` (age-encryption.org), which encrypts and decrypts backups. It asks for a passphrase on the terminal
/// itself, so this process never sees it.
final class AgeProgram {
    /// The descriptor to write to while encrypting, or to read from while decrypting.
    private(set) var descriptor: CInt
    private let process: pid_t
    private let task: String

    /// - Parameters:
    ///   - input: the file to decrypt; `nil` to encrypt what is written to ``descriptor``.
    ///   - output: the file for what is encrypted; `nil` to decrypt.
    private init(_ arguments: [String], input: CInt?, output: CInt?, to task: String) throws {
        self.task = task
        var ends: [CInt] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { throw OutputFile.failure(task, "a pipe", errno) }
        let (theirs, ours) = input == nil ? (ends[0], ends[1]) : (ends[1], ends[0])
        defer { close(theirs) }
        // A child that ends early must not end this process by SIGPIPE; its exit status says what happened.
        signal(SIGPIPE, SIG_IGN)
        Speech.discardTyped()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input ?? theirs, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output ?? theirs, STDOUT_FILENO)
        var child: pid_t = 0
        let code = withCStrings(["age"] + arguments) { posix_spawnp(&child, "age", &actions, nil, $0, environ) }
        guard code == 0 else {
            close(ours)
            throw CommandFailure(
                "could not \(task): the program age cannot be run: \(String(cString: strerror(code)).lowercased())",
                try: "install it, for example with: sudo apt install age", .notTried)
        }
        process = child
        descriptor = ours
    }

    deinit { closeDescriptor() }

    /// Encrypts for recipients, or with a passphrase if there are none.
    static func encrypt(to recipients: [String], into output: CInt, to task: String) throws -> AgeProgram {
        let arguments = recipients.isEmpty ? ["--passphrase"] : recipients.flatMap { ["--recipient", $0] }
        return try AgeProgram(["--encrypt"] + arguments, input: nil, output: output, to: task)
    }

    /// - Parameter identities: files with private keys; none for a passphrase.
    static func decrypt(_ input: CInt, with identities: [String], to task: String) throws -> AgeProgram {
        try AgeProgram(["--decrypt"] + identities.flatMap { ["--identity", $0] }, input: input, output: nil, to: task)
    }

    /// Ends the program's input, or the wish to read more of its output, and waits until it has ended.
    ///
    /// - Returns: whether it succeeded. If not, it has said why on standard error.
    func finish() -> Bool {
        closeDescriptor()
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 { guard errno == EINTR else { return false } }
        return status == 0
    }

    private func closeDescriptor() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }
}
