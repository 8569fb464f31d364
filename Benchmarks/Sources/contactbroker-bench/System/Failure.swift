import Glibc

/// Why the benchmark has no figures.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// With what the system says of its last error.
    init(system task: String, _ code: CInt = errno) {
        description = "\(task): \(String(cString: strerror(code)).lowercased())"
    }
}
