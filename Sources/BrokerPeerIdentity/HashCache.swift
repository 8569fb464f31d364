import CBrokerCrypto
import CBrokerIdentify
import CBrokerLinux
import Glibc
import Synchronization

/// Caches SHA-256 hashes of executables, so that an unchanged file is usually read only once.
///
/// Safe to use from several threads. If two threads need the same uncached file, both read it.
final class HashCache: Sendable {
    /// The size of the largest file that is hashed, in bytes. A larger file cannot identify an unverified app.
    static let sizeLimit: UInt64 = 1_073_741_824

    private let capacity: Int
    private let settlingTime: Int64
    private let entries = Mutex(Entries())

    private struct Entries {
        var digests: [FileIdentity: (sha256: String, lastUse: UInt64)] = [:]
        var uses: UInt64 = 0
    }

    /// - Parameters:
    ///   - capacity: the maximum number of cached hashes; beyond that, the least recently used one is
    ///     evicted.
    ///   - settlingTime: seconds. A file that changed more recently is not cached: file system clocks are
    ///     coarse, so a further change could leave its timestamps equal.
    init(capacity: Int = 256, settlingTime: Int64 = 2) {
        self.capacity = capacity
        self.settlingTime = settlingTime
    }

    /// Hashes a local file that is open with `O_PATH`.
    func digest(of path: CInt, _ status: clinux_file) -> Executable.Digest {
        let identity = FileIdentity(status)
        if status.is_regular == 1, identity.size <= Self.sizeLimit, let known = remembered(identity) {
            return .sha256(known)
        }
        var status = status
        var sum = [UInt8](repeating: 0, count: Int(CCRYPTO_SHA256_SIZE))
        var reason: Int32 = 0
        let found = identify_hash(path, &status, Self.sizeLimit, &sum, &reason)
        // `identify_hash` returns only results that `Executable.Digest` has; any other would count as
        // unreadable.
        let digest = Executable.Digest(found.rawValue, sha256: sum, reason: reason) ?? .unreadable(errno: EINVAL)
        keep(digest, of: identity)
        return digest
    }

    /// Caches a hash, unless the file changed so recently that a further change could leave its timestamps
    /// equal.
    func keep(_ digest: Executable.Digest, of identity: FileIdentity) {
        if case .sha256(let text) = digest, hasSettled(identity) { remember(text, of: identity) }
    }

    func remembered(_ identity: FileIdentity) -> String? {
        entries.withLock { entries in
            entries.uses += 1
            entries.digests[identity]?.lastUse = entries.uses
            return entries.digests[identity]?.sha256
        }
    }

    private func remember(_ sha256: String, of identity: FileIdentity) {
        entries.withLock { entries in
            entries.uses += 1
            entries.digests[identity] = (sha256, entries.uses)
            guard entries.digests.count > capacity,
                let oldest = entries.digests.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
            else { return }
            entries.digests[oldest] = nil
        }
    }

    private func hasSettled(_ identity: FileIdentity) -> Bool {
        var now = timespec()
        guard clock_gettime(CLOCK_REALTIME, &now) == 0 else { return false }
        return max(identity.modified.seconds, identity.changed.seconds) + settlingTime <= Int64(now.tv_sec)
    }
}
