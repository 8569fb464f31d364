import BrokerCommandOutput
import BrokerJSON

/// Formats audit records as a table.
enum AuditTable {
    static func lines(_ records: [JSONValue], withApp: Bool) -> [String] {
        var table = Table(["TIME"] + (withApp ? ["APP"] : []) + ["WHAT", "STATUS", "CONTACTS", "DETAILS"])
        for record in records {
            var cells = cells(record)
            if !withApp { cells.remove(at: 1) }
            table.add(cells)
        }
        return table.lines
    }

    /// The cells: time, app, event, status, contacts, details.
    static func cells(_ record: JSONValue) -> [String] {
        var what = record["event"]?.string ?? ""
        if let repeats = record["repeats"]?.integer, repeats > 0 { what += " (\(repeats) more)" }
        let keys = KeyWords.text(record["keys"]) ?? ""
        let detail = record["detail"]?.string ?? ""
        return [
            LocalTime.text(record["time"]?.string ?? "", withSeconds: true), short(record["app"]?.string ?? ""), what,
            record["status"]?.string ?? "", (record["contacts"]?.integer).map { "\($0)" } ?? "",
            keys.isEmpty ? detail : detail.isEmpty ? keys : "\(keys) (\(detail))",
        ]
    }

    /// Returns the file name from an unverified app's identifier, which consists of a path and a hash. Any
    /// other identifier is returned unchanged.
    static func short(_ app: String) -> String {
        guard app.hasPrefix("/") else { return app }
        return String(
            app.split(whereSeparator: { $0.isWhitespace || $0 == "#" }).first?.split(separator: "/").last ?? "")
    }
}
