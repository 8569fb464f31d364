import Glibc

/// The thread sanitizer, where `make tsan` runs the tests.
public enum ThreadSanitizer {
    /// Whether it is in this program. Everything takes about ten times as long with it, and it makes system calls of its own.
    public static let isPresent = dlsym(nil, "__tsan_acquire") != nil
}
