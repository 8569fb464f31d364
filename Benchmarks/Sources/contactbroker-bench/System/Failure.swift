import Glibc

/// The reason why a measurement failed.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Appends the system's text for an error number, by default the last one.
    init(system task: String, _ code: CInt = errno) {
        description = "\(task): \(String(cString: strerror(code)).lowercased())"
    }
}
