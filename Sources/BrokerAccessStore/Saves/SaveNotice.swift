import BrokerAccessControl
import BrokerModel
import CBrokerCrypto

/// A message about one save, from the user's book to the access database. The book stores the message in its
/// outbox together with the contacts.
///
/// The message names the app itself, not a row of the access database. After a crash, or after somebody
/// restores a copy of the file, such a row could belong to a different app.
struct SaveNotice: Hashable, Sendable {
    /// Its number in the outbox of the user's book.
    var number: Int64
    var uid: UInt32
    var strength: IdentityStrength
    var app: String
    /// Microseconds since 1970.
    var time: Int64
    /// The number of changes, if the save concerns no contacts.
    var count: Int
    /// As in ``AuditRecord/detail``.
    var detail: String?
    /// New contacts.
    var adds: [RecordNumber]
    var deletes: [RecordNumber]
    /// The contacts that the audit names.
    var contacts: [RecordNumber]
    /// The last record number in use when the save began.
    var lastNumber: Int64
    /// The value of ``StoredGrant/decision`` in the app's grant when the save began. After a restart, the new
    /// contacts join the granted set only if the grant still has this value. `nil` if the principal is not
    /// persistent or has no grant, or if the save adds no contacts.
    var decision: Int64?
    /// As in ``SaveContents/isKeptToSingle``.
    var isKeptToSingle: Bool
}

/// The encoded form of a notice in a book's outbox:
///
///     version    1 byte, 1
///     flags      1 byte: 1 with a decision, 2 if `isKeptToSingle`, 4 with a detail
///     time, lastNumber, decision (if there is one): 8 bytes each, little endian
///     strength, app, detail (if there is one): a length and UTF-8
///     count, then adds, deletes, contacts: each a count and the differences between successive numbers
///     hash       the first 16 bytes of SHA-256 over uid, number (8 bytes each) and all bytes before the hash
///
/// Lengths, counts and differences are written in groups of seven bits, lowest first, as in LEB128.
/// Differences are zigzag-encoded. The broker does not use the contents of a notice with a wrong hash,
/// because a damaged notice could name other contacts.
extension SaveNotice {
    private static let version: UInt8 = 1
    private static let hashSize = 16

    /// Returns `nil` if libcrypto is out of memory.
    func encoded() -> [UInt8]? {
        let flags = (decision == nil ? 0 : 1) | (isKeptToSingle ? 2 : 0) | (detail == nil ? 0 : 4)
        var bytes: [UInt8] = [Self.version, UInt8(flags)]
        bytes.reserveCapacity(192 + adds.count + contacts.count)
        for number in [time, lastNumber, decision].compactMap(\.self) { Self.append(number, to: &bytes) }
        for text in [strength.rawValue, app, detail].compactMap(\.self) {
            Self.append(groups: UInt64(text.utf8.count), to: &bytes)
            bytes += text.utf8
        }
        Self.append(groups: UInt64(count), to: &bytes)
        for records in [adds, deletes, contacts] {
            Self.append(groups: UInt64(records.count), to: &bytes)
            var last: Int64 = 0
            for record in records {
                // Neighbouring records mostly have successive numbers, in either direction.
                let difference = record.rawValue &- last
                Self.append(groups: UInt64(bitPattern: difference << 1 ^ difference >> 63), to: &bytes)
                last = record.rawValue
            }
        }
        guard let hash = Self.hash(bytes, uid, number) else { return nil }
        return bytes + hash
    }

    /// Fails unless the bytes are an intact notice of this user and number.
    init?(_ bytes: [UInt8], uid: UInt32, number: Int64) {
        guard bytes.count > Self.hashSize + 2 else { return nil }
        let form = bytes.dropLast(Self.hashSize)
        guard Self.hash(Array(form), uid, number) == Array(bytes.suffix(Self.hashSize)), form[0] == Self.version
        else { return nil }
        let flags = form[1]
        guard flags < 8 else { return nil }
        var rest = form.dropFirst(2)
        guard let time = Self.number(&rest), let lastNumber = Self.number(&rest),
            let decision = flags & 1 == 0 ? .some(nil) : Self.number(&rest).map(Optional.some),
            let strength = Self.text(&rest).flatMap(IdentityStrength.init(rawValue:)), let app = Self.text(&rest),
            let detail = flags & 4 == 0 ? .some(nil) : Self.text(&rest).map(Optional.some),
            let count = Self.groups(&rest).flatMap(Int.init(exactly:)),
            let adds = Self.records(&rest), let deletes = Self.records(&rest), let contacts = Self.records(&rest),
            rest.isEmpty
        else { return nil }
        self.init(
            number: number, uid: uid, strength: strength, app: app, time: time, count: count, detail: detail,
            adds: adds, deletes: deletes, contacts: contacts, lastNumber: lastNumber, decision: decision,
            isKeptToSingle: flags & 2 != 0)
    }

    private static func hash(_ bytes: [UInt8], _ uid: UInt32, _ number: Int64) -> [UInt8]? {
        var hashed: [UInt8] = []
        hashed.reserveCapacity(16 + bytes.count)
        append(Int64(uid), to: &hashed)
        append(number, to: &hashed)
        return AuditChain.hash(hashed + bytes).map { Array($0.prefix(hashSize)) }
    }

    // MARK: Parts

    private static func append(_ number: Int64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private static func append(groups number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard rest.count >= 8 else { return nil }
        defer { rest = rest.dropFirst(8) }
        return Int64(bitPattern: rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    private static func groups(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            number |= UInt64(byte & 0x7f) << UInt64(shift)
            if byte & 0x80 == 0 { return number }
        }
        return nil
    }

    private static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard let size = groups(&rest), size <= rest.count else { return nil }
        defer { rest = rest.dropFirst(Int(size)) }
        return String(validating: rest.prefix(Int(size)), as: UTF8.self)
    }

    private static func records(_ rest: inout ArraySlice<UInt8>) -> [RecordNumber]? {
        // Each record takes at least one byte, so a larger count is wrong. This check also bounds the
        // reserved memory.
        guard let count = groups(&rest), count <= rest.count else { return nil }
        var records: [RecordNumber] = []
        records.reserveCapacity(Int(count))
        var last: Int64 = 0
        for _ in 0..<count {
            guard let difference = groups(&rest) else { return nil }
            last = last &+ (Int64(bitPattern: difference >> 1) ^ -Int64(bitPattern: difference & 1))
            records.append(RecordNumber(last))
        }
        return records
    }
}
