import Glibc

/// The thread sanitizer, with which `make tsan` builds the tests.
public enum ThreadSanitizer {
    /// Whether it is in this program. It slows everything down about tenfold and makes system calls of its own.
    public static let isPresent = dlsym(nil, "__tsan_acquire") != nil
}
