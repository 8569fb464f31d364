import CCrypto
import CLinux
import Glibc
import Synchronization

/// SHA-256 of executables, each read once for as long as it does not change.
///
/// Safe to use from several threads; two that meet the same new file both read it.
public final class HashCache: Sendable {
    /// Largest file that is hashed, in bytes. A larger one identifies nobody.
    public static let sizeLimit: UInt64 = 1_073_741_824
    /// Bytes read at a time.
    private static let pieceSize = 1_048_576

    private let capacity: Int
    private let settlingTime: Int64
    private let entries = Mutex(Entries())

    private struct Entries {
        var digests: [FileIdentity: (sha256: String, lastUse: UInt64)] = [:]
        var uses: UInt64 = 0
    }

    public convenience init() { self.init(capacity: 256, settlingTime: 2) }

    /// - Parameters:
    ///   - capacity: files remembered; beyond it the one that was not asked for longest is forgotten.
    ///   - settlingTime: seconds. A file changed more recently is not remembered: clocks of file systems are coarse,
    ///     and a further change could leave it with the same times.
    init(capacity: Int, settlingTime: Int64) {
        self.capacity = capacity
        self.settlingTime = settlingTime
    }

    /// Hashes a local file that is open as a path.
    func digest(of path: CInt, _ status: clinux_file) -> Executable.Digest {
        guard status.is_regular == 1 else { return .notRegular }
        let identity = FileIdentity(status)
        guard identity.size <= Self.sizeLimit else { return .tooLarge }
        if let known = remembered(identity) { return .sha256(known) }
        let file = clinux_open_for_reading(path)
        guard file >= 0 else { return .unreadable(errno: -file) }
        defer { close(file) }
        let digest = Self.read(file, expecting: identity)
        if case .sha256(let text) = digest, hasSettled(identity) { remember(text, of: identity) }
        return digest
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

    private static func read(_ file: CInt, expecting identity: FileIdentity) -> Executable.Digest {
        guard let state = ccrypto_sha256_begin() else { return .unreadable(errno: ENOMEM) }
        var piece = [UInt8](repeating: 0, count: min(pieceSize, Int(identity.size) + 1))
        let size = piece.count
        var total: UInt64 = 0
        while true {
            let count = Glibc.read(file, &piece, size)
            if count < 0, errno == EINTR { continue }
            // Bounded also where the file grows as fast as it is read.
            if count > 0, total + UInt64(count) > identity.size {
                ccrypto_sha256_discard(state)
                return .changing
            }
            guard count >= 0, count == 0 || ccrypto_sha256_update(state, piece, count) == 1 else {
                let reason = count < 0 ? errno : ENOMEM
                ccrypto_sha256_discard(state)
                return .unreadable(errno: reason)
            }
            if count == 0 { break }
            total += UInt64(count)
        }
        var sum = [UInt8](repeating: 0, count: Int(CCRYPTO_SHA256_SIZE))
        guard ccrypto_sha256_finish(state, &sum) == 1 else { return .unreadable(errno: ENOMEM) }
        var after = clinux_file()
        guard clinux_file_status(file, &after) == 0, FileIdentity(after) == identity, total == identity.size else {
            return .changing
        }
        return .sha256(sum.map(hexadecimal).joined())
    }
}
