import CommandOutput
import JSON

/// Audit records for people to read.
enum AuditTable {
    static func lines(_ records: [JSONValue], withApp: Bool) -> [String] {
        var table = Table(["TIME"] + (withApp ? ["APP"] : []) + ["WHAT", "STATUS", "CONTACTS", "DETAILS"])
        for record in records {
            let app = record["app"]?.string ?? ""
            var what = record["event"]?.string ?? ""
            if let repeats = record["repeats"]?.integer, repeats > 0 { what += " (\(repeats + 1) times)" }
            let keys = KeyWords.text(record["keys"]) ?? ""
            let detail = record["detail"]?.string ?? ""
            table.add(
                [LocalTime.text(record["time"]?.string ?? "", withSeconds: true)] + (withApp ? [short(app)] : []) + [
                    what, record["status"]?.string ?? "", (record["contacts"]?.integer).map { "\($0)" } ?? "",
                    keys.isEmpty ? detail : detail.isEmpty ? keys : "\(keys) (\(detail))",
                ])
        }
        return table.lines
    }

    /// An app that is known by its file alone has a path and a hash for an identifier: the file's name, for a table.
    static func short(_ app: String) -> String {
        guard app.hasPrefix("/") else { return app }
        return String(
            app.split(whereSeparator: { $0.isWhitespace || $0 == "#" }).first?.split(separator: "/").last ?? "")
    }
}
