import Foundation
import Testing

/// Documentation/Limits.md names each limit in the last column of its tables. A row has exactly the values of the limits
/// that it names. A limit that no row names is in a section of its type that begins with `MARK: Internal:` and a reason.
@Suite("Documentation/Limits.md has the values of the module")
struct LimitsDocumentTests {
    private struct Declared {
        let name: String
        /// In bytes, seconds or pieces.
        let values: Set<Double>
        let isInternal: Bool
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The limits that the sources of the module declare.
    private static func declared() throws -> [Declared] {
        let folder = "Sources/BrokerBounds/Limits"
        var found: [Declared] = []
        for file in try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path).sorted() {
            var type = ""
            var isInternal = false
            for line in try text("\(folder)/\(file)").split(separator: "\n") {
                if let match = line.firstMatch(of: /^public (?:struct|enum) (\w+)/) {
                    (type, isInternal) = (String(match.1), false)
                } else if let match = line.firstMatch(of: /\/\/ MARK: (.*)/) {
                    isInternal = match.1.wholeMatch(of: /Internal: .{20,}/) != nil
                } else if let match = line.firstMatch(of: /public (?:static let|var|let) (\w+)(?:: \w+)? = (.*)/) {
                    let values = values(ofExpression: match.2)
                    // Other limits are parts of this one, and are declared themselves.
                    guard !values.isEmpty || !match.2.hasSuffix("()") else { continue }
                    try #require(!values.isEmpty, "no value: \(line)")
                    found.append(Declared(name: "\(type).\(match.1)", values: values, isInternal: isInternal))
                }
            }
        }
        let helper = try text("Sources/CBrokerIdentify/include/worker.h")
        let time = try #require(helper.firstMatch(of: /#define (IDENTIFY_WORKER_MILLISECONDS) (\d+)/))
        let seconds = try #require(Double(time.2)) / 1_000
        return found + [Declared(name: String(time.1), values: [seconds], isInternal: false)]
    }

    private static func values(ofExpression text: Substring) -> Set<Double> {
        let unit = text.contains(".milliseconds(") ? 1_000.0 : text.contains(".microseconds(") ? 1_000_000 : 1
        return Set(
            text.matches(of: /[\d_]+(?: \* [\d_]+)*/).map { match in
                match.output.split(separator: " * ")
                    .reduce(1.0) { $0 * (Double($1.replacing("_", with: "")) ?? .nan) } / unit
            })
    }

    private static func values(ofRow text: String) -> Set<Double> {
        let units: [Substring: Double] = [
            "KiB": 1_024, "MB": 1_048_576, "MiB": 1_048_576, "ms": 0.001, "minute": 60, "hour": 3_600, "day": 86_400,
        ]
        let numbers = /(\d[\d,]*\d|\d)(?: (KiB|MB|MiB|ms|minute|hour|day)s?\b)?/
        return Set(
            text.replacing(/`[^`]*`/, with: "").matches(of: numbers).map { match in
                (Double(match.1.replacing(",", with: "")) ?? .nan) * (match.2.flatMap { units[$0] } ?? 1)
            })
    }

    /// The rows of the tables that name limits.
    private static func rows() throws -> [(cells: String, names: [String])] {
        try text("Documentation/Limits.md").split(separator: "\n").filter { $0.hasPrefix("| ") }.compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard let last = cells.last, last.contains("`") else { return nil }
            return (
                cells.dropLast().joined(separator: " | "), last.matches(of: /`([\w.]+)`/).map { String($0.1) }
            )
        }
    }

    @Test("Each row has the values of the limits that it names, and no others")
    func values() throws {
        let declared = Dictionary(uniqueKeysWithValues: try Self.declared().map { ($0.name, $0) })
        let rows = try Self.rows()
        #expect(rows.count > 40)
        for row in rows {
            var expected: Set<Double> = []
            for name in row.names {
                let limit = try #require(declared[name], "no limit has the name \(name): \(row.cells)")
                expected.formUnion(limit.values)
            }
            #expect(Self.values(ofRow: row.cells) == expected, "\(row.names): \(row.cells)")
        }
    }

    @Test("A row names each limit, or it is internal with a reason")
    func names() throws {
        let named = Set(try Self.rows().flatMap(\.names))
        let declared = try Self.declared()
        #expect(declared.count > 120)
        #expect(declared.filter { !$0.isInternal && !named.contains($0.name) }.map(\.name) == [])
        #expect(declared.filter { $0.isInternal && named.contains($0.name) }.map(\.name) == [])
    }
}
