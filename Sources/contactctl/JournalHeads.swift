import BrokerCommandOutput
import BrokerJSON
import BrokerModel
import Glibc

/// The positions of the audit that the broker reported to the system's journal. Anyone who can replace the
/// broker's files still cannot change what journald already has.
struct JournalHeads {
    struct Head: Hashable {
        let sequence: Int64
        /// 64 hexadecimal digits.
        let hash: String
        /// When journald got the report, in seconds since 1970.
        let time: Int64
    }

    private(set) var heads: [Head] = []
    /// The last record of each removal by retention.
    private(set) var removals: [Head] = []

    /// The broker's messages, as `MessageIdentifier.auditHead` and `.auditRemoved` name them.
    static let identifier = "b0151bd1ab164e4d8b4c808049595010"
    static let removalIdentifier = "b0151bd1ab164e4d8b4c808049595012"
    /// The broker compares at most so many: more than a year's hours.
    private static let most = 10_000
    // systemd knows the unit of the process that sent a message, so no other service can send these. Everything here
    // is constant, so the shell that popen(3) starts gets no text from elsewhere.
    private static let command =
        "/usr/bin/journalctl --quiet --no-pager --output=json --lines=\(most) MESSAGE_ID=\(identifier) "
        + "MESSAGE_ID=\(removalIdentifier) _SYSTEMD_UNIT=contactbroker.service 2>/dev/null"

    /// Reads the journal; `nil` if it cannot be read.
    ///
    /// - Parameter since: leave out earlier reports; in seconds since 1970.
    static func read(since: Int64) -> JournalHeads? {
        guard let pipe = popen(command, "r") else { return nil }
        var lines: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { lines += buffer[..<count] }
        guard pclose(pipe) == 0 else { return nil }
        var journal = JournalHeads(lines: lines)
        journal.heads.removeAll { $0.time < since }
        journal.removals.removeAll { $0.time < since }
        return journal
    }

    /// - Parameter lines: one JSON object per line, as journalctl prints them. A line without a position is skipped.
    init(lines: [UInt8]) {
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            guard let entry = try? JSONDocument(parsing: Array(line)).root,
                let sequence = entry["CONTACTBROKER_SEQUENCE"]?.string.flatMap({ Int64($0) }), sequence > 0,
                let hash = entry["CONTACTBROKER_HASH"]?.string, hash.utf8.count == 64,
                let time = entry["__REALTIME_TIMESTAMP"]?.string.flatMap({ Int64($0) })
            else { continue }
            let head = Head(sequence: sequence, hash: hash, time: time / 1_000_000)
            if entry["MESSAGE_ID"]?.string == Self.removalIdentifier {
                removals.append(head)
            } else {
                heads.append(head)
            }
        }
    }

    /// Writes the parameter of `VerifyAudit`.
    func write(_ writer: inout JSONWriter) {
        writer.name("heads")
        writer.array(heads) { writer, head in
            writer.object {
                $0.member("sequence", head.sequence)
                $0.member("hash", head.hash)
            }
        }
    }
}

/// What the journal says about the audit, for a failed verification.
struct JournalContradiction: Equatable {
    /// The first position that the audit contradicts.
    let head: JournalHeads.Head
    /// When the record was made that the audit has there, in seconds since 1970; `nil` if it has none.
    let recordTime: Int64?
    /// The last position before it that the audit has.
    let confirmed: Int64

    /// - Returns: `nil` if the audit contradicts no position.
    init?(_ heads: [JournalHeads.Head], contradicted: [JSONValue]) {
        var times: [Int64: Int64?] = [:]
        for each in contradicted {
            guard let sequence = each["sequence"]?.integer else { continue }
            times[sequence] = .some(each["time"]?.string.flatMap(Timestamp.seconds))
        }
        let sorted = heads.sorted { ($0.sequence, $0.time) < ($1.sequence, $1.time) }
        guard let first = sorted.firstIndex(where: { times[$0.sequence] != nil }) else { return nil }
        head = sorted[first]
        recordTime = times[head.sequence] ?? nil
        confirmed = first > 0 ? sorted[first - 1].sequence : 0
    }

    /// - Parameter last: the audit's last record.
    func reason(last: Int64) -> String {
        let named =
            "record \(head.sequence), which the journal names on \(LocalTime.text(Timestamp.text(seconds: head.time)))"
        return recordTime == nil ? "the audit ends at record \(last), before \(named)" : "the audit lacks \(named)"
    }

    var advice: String {
        let before = confirmed == 0 ? "" : "; up to record \(confirmed) it matches the journal"
        switch recordTime {
        case nil:
            return "its end was removed, or an older access.sqlite was put back\(before); compare it with a backup"
        case let time? where time > head.time:
            return
                "an older access.sqlite was put back, and the audit went on from it\(before); compare it with a backup"
        case .some: return "the records were rewritten\(before); compare access.sqlite with a backup"
        }
    }
}
