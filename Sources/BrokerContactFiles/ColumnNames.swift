/// The column names of one program in each language in which it writes them.
///
/// A header is matched by its names, in one language for the whole header. The order of its columns matters only
/// for a name that the program uses twice: French headers of Thunderbird have `Ville` for both addresses.
struct ColumnNames {
    /// The languages of the tables, in the order of their cells.
    enum Language: Int, CaseIterable {
        case english, german, french, spanish, italian, japanese
    }

    /// A header, matched to a table.
    struct Match {
        let language: Language
        /// For each column of the header, its English name in lower case; `nil` if the program has no such
        /// column.
        let columns: [String?]

        var count: Int { columns.count { $0 != nil } }
    }

    /// For each language, the English names by the names in that language, in lower case. A name that occurs
    /// twice has both, in the program's order.
    private let tables: [[String: [String]]]

    /// - Parameter table: a line for each column, in the program's order, with a cell for each language between
    ///   `|`. An empty cell has the English name; `;` separates spellings.
    init(_ table: String) {
        var tables = [[String: [String]]](repeating: [:], count: Language.allCases.count)
        for line in table.split(separator: "\n") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { String($0.trimmed) }
            let english = Self.comparable(cells[0].prefix { $0 != ";" })
            for place in tables.indices {
                let cell = place < cells.count && !cells[place].isEmpty ? cells[place] : cells[0]
                for name in cell.split(separator: ";") {
                    tables[place][Self.comparable(name), default: []].append(english)
                }
            }
        }
        self.tables = tables
    }

    /// Matches a header in the language in which most columns have a name. English names count in every
    /// language, because some translations of Outlook leave names in English.
    func match(_ header: [String]) -> Match {
        let names = header.map(Self.comparable)
        let matches = Language.allCases.map { language in
            var used: [String: Int] = [:]
            let columns = names.map { name -> String? in
                guard let known = tables[language.rawValue][name] ?? tables[0][name] else { return nil }
                let place = used[name, default: 0]
                used[name] = place + 1
                return place < known.count ? known[place] : nil
            }
            return Match(language: language, columns: columns)
        }
        return matches.dropFirst().reduce(matches[0]) { $1.count > $0.count ? $1 : $0 }
    }

    /// Returns a name in lower case, with single spaces and a plain apostrophe.
    static func comparable(_ name: some StringProtocol) -> String {
        let words = name.split { $0.isWhitespace }.joined(separator: " ")
        return String(words.lowercased().map { $0 == "’" ? "'" : $0 })
    }
}
