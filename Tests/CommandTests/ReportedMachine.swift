import BrokerModel

/// Audit records of a month on one machine, for the tests and the pictures of `contactctl report`.
enum ReportedMachine {
    static let lastDay = "2026-03-01"
    private static let uid = 1_000
    private static let day: Int64 = 86_400
    /// 2026-01-31, the first of 30 days.
    private static let first: Int64 = 1_769_817_600
    private static let hash = String(repeating: "5e17a0c4", count: 8)
    private static let mail = "org.example.Mail", calendar = "org.example.Calendar", ink = "org.example.Ink"
    private static let script = "/home/alice/bin/birthday letters sha256:\(hash)"
    private static let game = "/opt/game/run sha256:\(hash)"

    private static func pseudonyms(_ numbers: some Sequence<Int>) -> String {
        let list = numbers.map { "\"" + String(repeating: "0", count: 30) + "\($0 + 10)\"" }
        return #","contactIdentifiers":[\#(list.joined(separator: ","))]"#
    }

    /// The records in the order of the audit.
    static var records: [String] {
        var timed: [(time: Int64, text: String)] = []
        func add(_ place: Int, _ hour: Int64, _ app: String, _ event: String, _ more: String = "") {
            let strength = app.hasPrefix("/") ? "unverified" : app == "" ? "" : "sandboxed"
            let time = first + Int64(place) * day + hour * 3_600
            timed.append(
                (
                    time,
                    """
                    "time":"\(Timestamp.text(seconds: time))","uid":\(uid),"app":"\(app)","strength":"\(strength)",\
                    "event":"\(event)"\(more)}
                    """
                ))
        }
        let names = #","keys":["givenName","familyName","phoneNumbers"]"#
        add(-60, 9, "", "start")
        add(-59, 9, mail, "grant", #","status":"full","detail":"untilRevoked""# + names)
        add(-58, 9, ink, "grant", #","status":"limited","contacts":3,"detail":"untilRevoked""# + pseudonyms(0..<3))
        add(-40, 9, ink, "disclosure", #","status":"","contacts":3"# + names)
        add(3, 9, calendar, "prompt", #","detail":"access""#)
        add(
            3, 9, calendar, "answer",
            #","status":"limited","contacts":12,"detail":"by agent (installed), without a password""#)
        add(3, 9, calendar, "grant", #","status":"limited","contacts":12,"detail":"untilRevoked""# + pseudonyms(0..<12))
        for place in 0..<30 where place != 16 && place != 17 {
            if place % 7 < 5 { add(place, 8, mail, "disclosure", #","contacts":120"# + names) }
            let mails = (place * 11 + 3) % 9
            for number in 0..<mails {
                add(place, 9 + Int64(number), mail, "disclosure", #","contacts":1"# + names + pseudonyms([number * 3]))
            }
            if mails > 6 {
                add(place, 20, mail, "disclosure", #","contacts":1,"repeats":4"# + names + pseudonyms([18]))
            }
            if place > 3 {
                add(
                    place, 7, calendar, "disclosure",
                    #","contacts":2,"keys":["givenName","birthday"]"# + pseudonyms([place % 12, (place + 5) % 12]))
            }
            if place % 7 == 6 { add(place, 7, calendar, "disclosure", #","contacts":12,"keys":["birthday"]"#) }
        }
        add(8, 15, script, "prompt", #","detail":"access""#)
        add(
            8, 15, script, "answer",
            #","status":"limited","contacts":4,"detail":"by agent (installed), without a password""#)
        add(8, 15, script, "grant", #","status":"limited","contacts":4,"detail":"session""# + pseudonyms(20..<24))
        add(8, 15, script, "disclosure", #","contacts":4"# + names)
        add(8, 18, script, "revocation", #","status":"notDetermined","detail":"ended""#)
        for place in [11, 12] {
            add(place, 21, game, "prompt", #","detail":"access""#)
            add(
                place, 21, game, "answer",
                place == 11
                    ? #","detail":"dismissed, by agent (installed), without a password""#
                    : #","status":"denied","detail":"by agent (installed), without a password""#)
        }
        add(12, 21, game, "grant", #","status":"denied","detail":"untilRevoked""#)
        for place in 12..<24 where place != 16 && place != 17 {
            add(place, 22, game, "refusal", #","status":"denied","detail":"FetchContacts""#)
            add(place, 22, game, "refusal", #","status":"denied","repeats":\#(place * 2),"detail":"FetchContacts""#)
        }
        add(18, 6, "", "gap")
        add(18, 6, "", "start")
        return timed.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.enumerated()
            .map {
                "{\"sequence\":\($0.offset + 1)," + $0.element.element.text
            }
    }

    /// A broker that has these records. It sends them in several replies.
    static func broker() throws -> ScriptedBroker {
        let records = records
        return try ScriptedBroker { method, _ in
            guard method == "QueryAudit" else { return .error("org.varlink.service.MethodNotFound") }
            return .replies(
                stride(from: 0, to: records.count, by: 50).map {
                    "{\"records\":[\(records[$0..<min($0 + 50, records.count)].joined(separator: ","))]}"
                })
        }
    }
}
