import BrokerAccessControl
import BrokerAccessStore
import BrokerLedger
import BrokerModel
import BrokerSystem
import Glibc

/// Copies the audit to the journal. Every record carries its sequence number and its hash, so that records from a log
/// store can be checked against the audit chain.
///
/// The access database has the position, so a broker that ended too early sends the last records again, with the same
/// numbers. No record is skipped.
final class AuditJournal: AuditKeeper {
    private let journal: Journal

    /// - Throws: ``Failure`` if there is no journal.
    init(_ journal: Journal) throws(Failure) {
        guard Journal.isThere else {
            throw Failure(
                "could not start: audit.journal is set in contactbroker.toml, but there is no journal",
                tryThis: "remove audit.journal, or run systemd-journald")
        }
        self.journal = journal
    }

    func take(_ records: [AuditEntry], _ done: @escaping @Sendable (Bool) -> Void) {
        journal.deliver(records.map(JournalRecord.init), done)
    }

    /// Takes over the position from the file in which earlier versions kept it. Removes the file once it is not needed.
    ///
    /// - Returns: a warning if the file does not contain the position. All records are then sent again.
    static func takeOverPosition(in state: String, _ access: AccessStore) -> String? {
        let path = state + "/audit-journal"
        guard access.audit.forwarded == nil else {
            unlink(path)
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 32)
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 || errno != ENOENT else { return nil }
        defer { close(file) }
        let count = read(file, &bytes, bytes.count)
        let line = count > 1 && bytes[count - 1] == 0x0A ? String(decoding: bytes[..<(count - 1)], as: UTF8.self) : ""
        let number = Int64(line).flatMap { $0 >= 0 ? $0 : nil }
        access.audit.forwarded = number ?? 0
        guard number == nil else { return nil }
        return
            "\(path) does not contain the number of an audit record, so the journal gets all records again, each with "
            + "its former number"
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
