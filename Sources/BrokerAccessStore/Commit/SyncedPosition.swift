import CBrokerCrypto
import Glibc
import Synchronization

/// Stores the position of the last synced audit record in a file beside the database.
///
/// SQLite's recovery drops everything after the first damaged frame of its log and reports no error. One
/// flipped bit could therefore undo a synced revocation. At the next start, this position shows that records
/// are missing.
///
/// The position is written after the sync that it describes, so it is never ahead of the database after a
/// power cut. The file is not synced with each write. After a power cut it may contain an earlier position,
/// which cannot reveal the loss of later records.
///
/// The file has two slots in different sectors, written alternately: a torn write leaves the other slot
/// intact. Each slot, little endian: magic (8 bytes), generation (8), sequence (8), revision (8), hash of the
/// record (32), SHA-256 of all these fields (32).
final class SyncedPosition: Sendable {
    /// The file's name, in the folder of the database.
    static let name = "access.synced"
    private static let magic = Array("CBsynced".utf8)
    private static let slotSize = 4_096
    private static let contentSize = 64

    /// The content of a slot.
    struct Content: Equatable {
        var position = AuditPosition.beginning
        /// The last grant revision at the time of the sync.
        var revision: Int64 = 0
    }

    private let descriptor: Int32
    private let path: String
    /// The generation of the slot that was written last.
    private let generation: Mutex<UInt64>
    /// The content when the file was opened. If no slot was valid: the initial content if `isFirst`,
    /// otherwise `nil`.
    let found: Content?

    /// Opens the file, or creates it.
    ///
    /// - Parameter isFirst: whether no position was ever written. If so, a missing file is expected and
    ///   does not mean that records were lost.
    init(folder: String, isFirst: Bool) throws(AccessStoreError) {
        path = folder + "/" + Self.name
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .failed("open", path) }
        var bytes = [UInt8](repeating: 0, count: 2 * Self.slotSize)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let slots = count == bytes.count ? [bytes.prefix(Self.slotSize), bytes.suffix(Self.slotSize)] : []
        let latest = slots.compactMap { Self.content(Array($0)) }.max { $0.generation < $1.generation }
        found = latest?.content ?? (isFirst ? Content() : nil)
        generation = Mutex(latest?.generation ?? 0)
        guard latest == nil else { return }
        // Allocates the full length. Later writes then need no free space.
        let zeros = [UInt8](repeating: 0, count: bytes.count)
        guard pwrite(descriptor, zeros, zeros.count, 0) == zeros.count else { throw .failed("write", path) }
        if let found { try write(found) }
        try sync()
    }

    deinit { close(descriptor) }

    /// Writes a position. Call this after the sync that the position describes, from one thread at a time.
    func write(_ content: Content) throws(AccessStoreError) {
        let next = generation.withLock {
            $0 += 1; return $0
        }
        var bytes = Self.magic
        for number in [next, UInt64(bitPattern: content.position.sequence), UInt64(bitPattern: content.revision)] {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }
        bytes.append(contentsOf: content.position.hash)
        guard let checksum = AuditChain.hash(bytes) else { throw .unavailable(reason: "libcrypto could not hash") }
        bytes.append(contentsOf: checksum)
        let offset = off_t(next % 2) * off_t(Self.slotSize)
        guard pwrite(descriptor, bytes, bytes.count, offset) == bytes.count else { throw .failed("write", path) }
    }

    /// Syncs the position file. Blocks until the data is durable.
    func sync() throws(AccessStoreError) {
        guard fdatasync(descriptor) == 0 else { throw .failed("sync", path) }
    }

    private static func content(_ slot: [UInt8]) -> (generation: UInt64, content: Content)? {
        let end = contentSize + AuditChain.hashSize
        guard slot.starts(with: magic), let checksum = AuditChain.hash(Array(slot[..<contentSize])),
            checksum == Array(slot[contentSize..<end])
        else { return nil }
        func number(_ offset: Int) -> UInt64 {
            slot[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        let position = AuditPosition(
            sequence: Int64(bitPattern: number(16)), hash: Array(slot[32..<32 + AuditChain.hashSize]))
        return (number(8), Content(position: position, revision: Int64(bitPattern: number(24))))
    }
}
