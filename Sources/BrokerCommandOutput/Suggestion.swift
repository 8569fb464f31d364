/// Finds the word that a person probably meant.
enum Suggestion {
    /// Returns the candidate that differs least from the word; `nil` if all differ much.
    static func closest(to word: String, among candidates: [String]) -> String? {
        let near = candidates.map { ($0, distance(Array(word.lowercased()), Array($0))) }.min { $0.1 < $1.1 }
        return near.flatMap { $0.1 <= max(1, $0.0.count / 3) ? $0.0 : nil }
    }

    /// The number of characters to insert, delete, replace or swap with their neighbour.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        guard left.count <= 64 else { return .max }
        var rows = [Array(0...right.count)]
        for (i, a) in left.enumerated() {
            var row = [i + 1]
            for (j, b) in right.enumerated() {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a == b ? 0 : 1))
                if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { least = min(least, rows[i - 1][j - 1] + 1) }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
