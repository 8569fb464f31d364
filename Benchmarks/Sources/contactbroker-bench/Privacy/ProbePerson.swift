import BrokerJSON
import Glibc

/// Plays the person of the measurements of timing side channels. It answers each prompt as the next line of
/// its standard input says:
///
///     LEVEL KEYS ADDED REMOVED
///
/// LEVEL is `limited` or `full`, with `:own` if the app may only change what it adds, or `none`, which leaves the prompt
/// open and prints a line. KEYS, ADDED and REMOVED
/// are lists with commas, or `-` for none: the keys to grant, and words that find the contacts to add and to
/// remove.
enum ProbePerson {
    static func run(path: String) throws {
        try ShownPrompt.serve(path: path) { shown in
            guard let line = readLine() else { return }
            let words = line.split(separator: " ").map { $0 == "-" ? [] : $0.split(separator: ",").map(String.init) }
            guard words.count == 4, let level = words[0].first else { throw Failure("no such answer: \(line)") }
            guard level != "none" else {
                print("open")
                fflush(nil)
                return
            }
            try answer(shown, level, keys: words[1], adding: words[2], removing: words[3])
        }
    }

    private static func answer(
        _ shown: ShownPrompt, _ level: String, keys: [String], adding: [String], removing: [String]
    ) throws {
        let added = try adding.flatMap { try rows(of: $0, granted: false, shown) }
        let removed = try removing.flatMap { try rows(of: $0, granted: true, shown) }
        let parts = level.split(separator: ":")
        try shown.call("Answer") {
            $0.member("level", String(parts[0]))
            if !added.isEmpty { $0.member("identifiers", added) }
            if !removed.isEmpty { $0.member("removed", removed) }
            $0.member("keys", keys)
            $0.member("changes", parts.count > 1 ? String(parts[1]) : "all")
            if shown.prompt["kind"]?.string != "manage" { $0.member("lifetime", "untilRevoked") }
        }
    }

    /// The rows of the agent's list that a word finds.
    private static func rows(of word: String, granted: Bool, _ shown: ShownPrompt) throws -> [String] {
        var rows: [String] = []
        while true {
            let (page, reply) = try shown.search(word, offset: rows.count) { $0.member("granted", granted) }
            rows += page
            guard reply["more"]?.bool == true else { break }
        }
        guard !rows.isEmpty else { throw Failure("the person finds no \(word)") }
        return rows
    }
}
