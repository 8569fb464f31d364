import Glibc

/// The value of an environment variable; `nil` if it is not set or empty.
@Sendable public func environmentVariable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
}
