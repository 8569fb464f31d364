import BrokerAccessControl
import BrokerAccessStore
import BrokerCore
import BrokerModel
import BrokerSystem
import Glibc

/// Copies the audit to the journal. Every record carries its sequence number and its hash, so that records from a log
/// store can be checked against the audit chain.
///
/// `STATE/audit-journal` contains the sequence number of the last record that the journal took. If the broker
/// ends before it updates that file, the next broker sends the last records again, with the same numbers. No
/// record is skipped.
final class AuditJournal: AuditKeeper {
    private let journal: Journal
    private let path: String
    let position: Int64?

    /// - Throws: ``Failure`` if there is no journal, or if the position cannot be read.
    init(_ journal: Journal, state: String) throws(Failure) {
        guard Journal.isThere else {
            throw Failure(
                "could not start: audit.journal is set in contactbroker.toml, but there is no journal",
                tryThis: "remove audit.journal, or run systemd-journald")
        }
        self.journal = journal
        path = state + "/audit-journal"
        position = try Self.read(path)
    }

    func begin(after sequence: Int64) { _ = Self.write(sequence, path) }

    func take(_ records: [AuditEntry], _ done: @escaping @Sendable (Bool) -> Void) {
        guard let last = records.last else { return done(true) }
        journal.deliver(records.map(JournalRecord.init)) { [path] taken in
            // If the position cannot be written, the records are sent again after the next start. Their
            // sequence numbers identify the duplicates.
            if taken { _ = Self.write(last.sequence, path) }
            done(taken)
        }
    }

    private static func read(_ path: String) throws(Failure) -> Int64? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure("could not start: \(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count > 1, bytes[count - 1] == 0x0A,
            let number = Int64(String(decoding: bytes[..<(count - 1)], as: UTF8.self)), number >= 0
        else {
            throw Failure(
                "could not start: \(path) does not contain the number of an audit record",
                tryThis: "remove it: the journal then gets only new records")
        }
        return number
    }

    /// Replaces the number in the file, and returns whether that succeeded. On failure, the file keeps the
    /// previous number.
    private static func write(_ number: Int64, _ path: String) -> Bool {
        let draft = path + ".new"
        let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return false }
        let bytes = Array("\(number)\n".utf8)
        let isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count
        return close(file) == 0 && isWritten && rename(draft, path) == 0
    }
}

extension JournalRecord {
    /// A journal record with the facts that `contactctl audit --json` shows, except the contacts' pseudonyms.
    init(_ record: AuditEntry) {
        var facts: [(name: String, value: String)] = [
            ("sequence", "\(record.sequence)"), ("time", Timestamp.text(seconds: record.time / 1_000_000)),
            ("uid", "\(record.uid)"), ("event", record.event.rawValue),
        ]
        func add(_ name: String, _ value: String?) {
            if let value, !value.isEmpty { facts.append((name, value)) }
        }
        add("app", record.app)
        add("strength", record.strength?.rawValue)
        add("status", record.status?.rawValue)
        add("keys", record.keys?.grantNames.joined(separator: " "))
        add("contacts", record.count.map(String.init))
        add("revision", record.revision.map(String.init))
        add("repeats", record.repeats.map(String.init))
        add("detail", record.detail)
        add("previous", record.previous)
        add("hash", record.hash)
        let whose = record.app.isEmpty ? "" : " of \(record.app)"
        let what = record.count.map { ", \($0) \($0 == 1 ? "contact" : "contacts")" } ?? ""
        let again = record.repeats.map { ", \($0) more" } ?? ""
        self.init(
            .info, "audit \(record.sequence): \(record.event.rawValue)\(whose), user \(record.uid)\(what)\(again)",
            identifier: .audited, facts: facts)
    }
}
