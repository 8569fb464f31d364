import BrokerJSON

extension PrivacyFamily {
    private static let count = 50

    /// Tokens, cursors and authors of other apps, against ones that never existed.
    static func tokens(_ world: PrivacyWorld) throws -> [Case] {
        let owner = try world.owner
        let words = ["Granted", "Foreign"]
        let saved = try owner.save(
            (0..<2).flatMap { _ in words.map { ProbeText.add(given: world.name(), family: $0) } })
        let app = try world.app("limited", .limited, ["Granted"])
        let other = try world.app("other", .limited, ["Foreign"])
        let start = try token(app)
        var (tokens, cursors, authors): ([String], [String], [String]) = ([], [], [])
        for place in 0..<count {
            let author = ProbeText.word()
            let changes = saved.prefix(2).map { ProbeText.update($0, given: "Person\(1_000 + place)") }
            try owner.call(
                ProbeCall("SaveContacts", #"{"changes":[\#(changes.joined(separator: ","))],"author":"\#(author)"}"#))
            authors.append(author)
            tokens.append(try token(other))
            let page = try other.call(ProbeCall("FetchContacts", #"{"keys":[],"sortOrder":"none","limit":1}"#))
            cursors.append(page["next"]?.string ?? "")
        }
        func compare(
            _ call: String, _ hidden: String, _ known: [String], error: String = "none", _ make: (String) -> ProbeCall,
            madeUp: () -> String
        ) -> Case {
            let others = (0..<2).map { _ in known.map { _ in make(madeUp()) } }
            return Case(app, call, hidden, known.map(make), others[0], control: others[1], error: error)
        }
        let (tokenSize, cursorSize) = (tokens[0].utf8.count, cursors[0].utf8.count)
        return [
            compare("FetchHistory token", "other app's token", tokens, { .history($0) }) {
                ProbeText.digits(tokenSize)
            },
            compare("FetchHistory authors", "other app's author", authors) {
                .history(start, #","excludedAuthors":["\#($0)"]"#)
            } madeUp: {
                ProbeText.word()
            },
            compare("FetchContacts after", "other app's cursor", cursors, error: "InvalidParameter") {
                .page(after: $0)
            } madeUp: {
                ProbeText.digits(cursorSize)
            },
        ]
    }

    private static func token(_ app: Probe) throws -> String {
        let reply = try app.call(ProbeCall("FetchHistory", #"{"keys":[]}"#))
        guard let token = reply["historyToken"]?.string else { throw Failure("a history without a token") }
        return token
    }
}
