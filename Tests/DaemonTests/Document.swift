import Glibc

/// The fenced blocks of a Markdown file, in order.
struct Document {
    struct Block {
        /// The second-level heading above the block.
        let section: String
        /// The word after the opening fence: `sh` for commands, `text` for their output.
        let language: String
        let lines: [String]
        /// Number of the first line in the file.
        let number: Int
    }

    /// The root folder of the checkout.
    static let top = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    /// The path below the checkout.
    let name: String
    let lines: [String]
    let blocks: [Block]

    init(_ name: String) throws {
        self.name = name
        lines = DaemonFixture.text(of: Self.top + "/" + name).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        guard lines.count > 1 else { throw Trouble("could not read \(name)") }
        var blocks: [Block] = []
        var section = ""
        var open: (language: String, start: Int)?
        for (index, line) in lines.enumerated() {
            if let block = open {
                guard line == "```" else { continue }
                blocks.append(
                    Block(
                        section: section, language: block.language, lines: Array(lines[block.start..<index]),
                        number: block.start + 1))
                open = nil
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), index + 1)
            } else if line.hasPrefix("## ") {
                section = String(line.dropFirst(3))
            }
        }
        self.blocks = blocks
    }
}

extension Document.Block {
    /// One command for each line. A here-document belongs to its command.
    var commands: [String] {
        var commands: [String] = []
        var end: String?
        for line in lines {
            guard let delimiter = end, let last = commands.popLast() else {
                commands.append(line)
                end = Self.delimiter(of: line)
                continue
            }
            commands.append(last + "\n" + line)
            if line == delimiter { end = nil }
        }
        return commands
    }

    /// `END`, if the line ends with `<<'END'`.
    private static func delimiter(of line: String) -> String? {
        guard let start = line.firstRange(of: "<<'"), line.hasSuffix("'") else { return nil }
        return String(line[start.upperBound...].dropLast())
    }
}
