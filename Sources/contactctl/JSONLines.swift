import BrokerJSON

/// JSON for scripts: an array with one value per line.
enum JSONLines {
    static func text(_ values: [JSONValue]) -> String {
        guard !values.isEmpty else { return "[]" }
        return "[\n" + values.map { String(decoding: $0.text, as: UTF8.self) }.joined(separator: ",\n") + "\n]"
    }
}
