import CBrokerCrypto
import CBrokerIdentify
import Glibc

// The only one of the broker's programs that has the privilege to inspect every process. It confines itself
// and then answers one kind of request (worker.h). It reads no configuration file. From the environment it
// uses only systemd's socket variables.

/// Writes a message to standard error.
func warn(_ message: String) {
    let text = "contactbroker-identify: \(message)\n"
    _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
}

/// Writes the reason to standard error and exits.
func stop(_ message: String, tryThis: String? = nil) -> Never {
    warn(message + (tryThis.map { "\n" + $0 } ?? ""))
    exit(2)
}

func reason(_ code: some BinaryInteger) -> String { String(cString: strerror(-CInt(code))) }

let arguments: Arguments
do {
    arguments = try Arguments(CommandLine.arguments.dropFirst())
} catch {
    stop("could not start: \(error.message)", tryThis: Arguments.usage)
}
signal(SIGPIPE, SIG_IGN)
// The parent process may have left other descriptors open.
identify_close_from(arguments.socket == nil ? 4 : 3)

let listener: CInt
if let path = arguments.socket {
    listener = identify_listen(path)
    guard listener >= 0 else { stop("could not start: cannot listen at \(path): \(reason(listener))") }
} else {
    guard let passed = PassedSocket.descriptor else {
        stop(
            "could not start: systemd passed no socket",
            tryThis: "start contactbroker-identify.socket, or name a path with --socket")
    }
    guard identify_is_listener(passed) == 1 else {
        stop("could not start: the socket that systemd passed does not listen for sequential packets")
    }
    listener = passed
}

let owner = arguments.uid.map { Int64($0) } ?? identify_owner(listener)
guard let uid = UInt32(exactly: owner) else {
    stop("could not start: cannot read the socket's owner: \(reason(owner))", tryThis: "name the user with --for-uid")
}

// libcrypto loads its algorithms at first use, and a confined worker cannot load them. This process therefore
// loads them, and its workers inherit them.
var sum = [UInt8](repeating: 0, count: Int(CCRYPTO_SHA256_SIZE))
guard let state = ccrypto_sha256_begin(), ccrypto_sha256_finish(state, &sum) == 1 else {
    stop("could not start: libcrypto has no SHA-256")
}

identify_begin()

let confined = identify_confine()
guard confined == 0 else {
    stop(
        "could not start: cannot confine the process: \(reason(confined))",
        tryThis: "it needs the capabilities CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, and no others")
}
var workers = Workers(listener: listener, uid: uid)
workers.keep()
