import BrokerTrustedFiles

/// Parses time spans in the administrator's files: a number followed by `m`, `h` or `d`.
enum Lifespan {
    /// Ten years, in seconds; a longer span is an error.
    static let longest: Int64 = 3_650 * 86_400

    /// - Parameter wanted: the expected value, for the error message.
    /// - Returns: seconds; `nil` if there is no such key.
    static func read(_ name: String, of table: TOMLTable, _ wanted: String) throws(TrustedFileError) -> Int64? {
        guard let text = try table.string(name) else { return nil }
        guard let seconds = seconds(text) else { throw table.wrong(name, wanted) }
        return seconds
    }

    /// Returns seconds; `nil` unless the text is a whole number of minutes, hours or days, from a minute to
    /// ``longest``.
    static func seconds(_ text: String) -> Int64? {
        guard let unit = text.last, text.utf8.count <= 12, text.dropLast().utf8.allSatisfy({ (48...57).contains($0) }),
            let number = Int64(text.dropLast())
        else { return nil }
        let factor: Int64
        switch unit {
        case "m": factor = 60
        case "h": factor = 3_600
        case "d": factor = 86_400
        default: return nil
        }
        // At most 11 digits, so this does not overflow.
        let seconds = number * factor
        return (60...longest).contains(seconds) ? seconds : nil
    }
}
