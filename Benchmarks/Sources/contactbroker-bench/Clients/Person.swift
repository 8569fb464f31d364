import BrokerJSON

/// Plays the person: answers every prompt on the agent's socket.
enum Person {
    /// An app named ``limitedApp`` gets ``chosen`` contacts, one named ``largeLimitedApp`` gets
    /// ``manyChosen``, and every other app gets all contacts.
    static let limitedApp = "limited-app"
    static let largeLimitedApp = "large-limited-app"
    static let chosen = 1_000
    /// The maximum number of contacts in one answer.
    static let manyChosen = 10_000

    static func run(door: String) throws {
        try ShownPrompt.serve(path: door) { shown in
            let prompt = shown.prompt
            let name = prompt["caller"]?["executable"]?.string?.split(separator: "/").last.map(String.init)
            let count = [limitedApp: chosen, largeLimitedApp: manyChosen][name ?? ""]
            let isLimited = count != nil
            let rows = try count.map { try choose($0, shown) } ?? []
            try shown.call("Answer") {
                $0.member("level", isLimited ? "limited" : "full")
                if isLimited { $0.member("identifiers", rows) }
                $0.member("keys", (prompt["keys"]?.elements).map { $0.compactMap(\.string) })
                $0.member("lifetime", "untilRevoked")
                $0.member("changes", "all")
            }
        }
    }

    /// Returns rows of the person's list. From a long list it takes pages that are spread over the whole
    /// list.
    private static func choose(_ count: Int, _ shown: ShownPrompt) throws -> [String] {
        let pageSize = ShownPrompt.pageSize
        var rows: [String] = []
        var step = 0
        while rows.count < count {
            let (page, reply) = try shown.search("", offset: rows.count / pageSize * step)
            if step == 0, let total = reply["total"]?.integer {
                step = Int(total) > Benchmark.contacts ? Int(total) * pageSize / count : pageSize
            }
            guard !page.isEmpty else { throw Failure("the person's list ended after \(rows.count) rows") }
            rows += page
        }
        return rows
    }
}
