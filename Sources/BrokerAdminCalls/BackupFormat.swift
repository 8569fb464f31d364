import BrokerAccessControl
import BrokerAccessStore
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerJSON
import BrokerModel

/// The lines of a backup, each a JSON object with one member, in this order:
///
/// - `backup`: the version of the format, the user, and the time.
/// - `settings` and `container` (``BookRow``), `card` for each card, then the other rows.
/// - `app` for each app, each followed by the contacts and groups of its grant (``Grant/recordLines``).
/// - `end`: the number of cards, so that a backup that was cut off does not look complete.
enum BackupFormat {
    static let version = 1
    /// The contacts of a granted set in one line.
    static let recordsPerLine = 10_000
    /// Record numbers are microseconds. Numbers far in the future would leave too few for new records.
    static let records: ClosedRange<Int64> = 1...1 << 61

    static func header(user: String, uid: UInt32, seconds: Int64) -> BackupLine {
        line("backup") {
            $0.member("version", version)
            $0.member("user", user)
            $0.member("uid", uid)
            $0.member("time", Timestamp.text(seconds: seconds))
        }
    }

    static func line(_ row: BookRow) -> BackupLine {
        var writer = JSONWriter()
        writer.object {
            $0.name(row.table.rawValue)
            $0.array(row.values) { writer, value in
                switch value {
                case .none: writer.null()
                case .integer(let integer): writer.value(integer)
                case .text(let text): writer.value(text)
                case .bytes(let bytes): writer.value(Hexadecimal.text(bytes))
                }
            }
        }
        return BackupLine(withoutContact: writer.bytes)
    }

    /// - Returns: `nil` if the disclosure does not permit the card.
    static func line(_ card: CopiedCard, by disclosure: Disclosure) -> BackupLine? {
        disclosure.backUp((card.record, card.contact, card.images ?? ContactImages())) {
            $0.member("record", card.record.rawValue)
            $0.member("container", card.details.container?.rawValue)
            if !card.details.app.isEmpty { $0.member("app", Hexadecimal.text(card.details.app)) }
            $0.member("identifiers", Hexadecimal.text(card.details.identifiers))
            if card.details.isUnsure { $0.member("isUnsure", true) }
            if card.details.isMe { $0.member("isMe", true) }
        }
    }

    static func lines(_ app: BackedUpApp) -> [BackupLine] {
        var lines = [
            line("app") {
                $0.member("strength", app.strength.rawValue)
                $0.member("app", app.app)
                $0.member("displayName", app.displayName)
                $0.member("key", app.identifierKey.map(Hexadecimal.text))
                $0.member("silencedSince", app.silencedSince)
                guard let grant = app.grant else { return }
                $0.name("grant")
                $0.object {
                    $0.member("status", grant.access.status.rawValue)
                    $0.member("keys", grant.keys.keys.map(\.rawValue))
                    $0.member("changes", grant.changes.rawValue)
                    if case .untilTime(let end) = grant.lifetime { $0.member("expires", end) }
                    $0.member("decidedBy", grant.decidedBy.rawValue)
                    $0.member("decidedThrough", grant.decidedThrough)
                    $0.member("decidedAt", grant.decidedAt)
                }
            }
        ]
        guard let grant = app.grant else { return lines }
        for (name, records) in grant.recordLines {
            let sorted = records.sorted()
            for start in stride(from: 0, to: sorted.count, by: recordsPerLine) {
                var writer = JSONWriter()
                writer.object {
                    $0.name(name)
                    $0.array(sorted[start...].prefix(recordsPerLine)) { $0.value($1.rawValue) }
                }
                lines.append(BackupLine(withoutContact: writer.bytes))
            }
        }
        return lines
    }

    static func end(cards: Int, damaged: Int) -> BackupLine {
        line("end") {
            $0.member("cards", cards)
            $0.member("damaged", damaged)
        }
    }

    private static func line(_ name: String, _ write: (inout JSONWriter) -> Void) -> BackupLine {
        var writer = JSONWriter()
        writer.object {
            $0.name(name)
            $0.object(write)
        }
        return BackupLine(withoutContact: writer.bytes)
    }
}

extension Grant {
    /// The names of the lines with record numbers that follow an app.
    static let recordLineNames: Set<String> = ["granted", "own", "sharedGroups", "joined", "withheld"]

    /// The contacts and groups of the grant, by the names of their lines.
    var recordLines: [(name: String, records: Set<RecordNumber>)] {
        [
            ("granted", access.records), ("own", own), ("sharedGroups", groups.records), ("joined", groups.joined),
            ("withheld", groups.withheld),
        ]
    }
}
