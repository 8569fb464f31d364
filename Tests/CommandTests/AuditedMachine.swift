import BrokerJSON
import BrokerModel
import Glibc

/// A broker that serves three users and ten apps, for the tests of what `contactctl` shows. Some of the apps try to
/// look like others.
struct AuditedMachine {
    /// The present, in seconds since 1970. Ages are relative to it.
    let now: Int64

    /// The users are those of every Debian: root, daemon and nobody.
    static let (alice, bob, carol) = (1, 65_534, 0)

    /// A moment at which nothing changes any more, for output with absolute times.
    static let past: Int64 = 1_772_366_400

    func time(_ seconds: Int64) -> String { Timestamp.text(seconds: now + seconds) }

    private func grant(
        _ uid: Int, _ app: String, _ name: String, _ strength: String, _ status: String, contacts: Int = 0,
        keys: [String] = ["givenName", "familyName", "phoneNumbers"], used: Int64? = -7_300, uses: Int = 3,
        _ more: String = ""
    ) -> String {
        let lastUsed = used.map { "\"lastUsedAt\":\"\(time($0))\"," } ?? ""
        let list = keys.map { "\"\($0)\"" }.joined(separator: ",")
        return """
            {"uid":\(uid),"app":"\(app)","displayName":"\(name)","strength":"\(strength)","status":"\(status)",\
            "contacts":\(contacts),"keys":[\(list)],"changes":"\(status == "full" ? "all" : "own")","revision":4,\
            "decidedBy":"person","decidedAt":"\(time(-90_000))",\
            \(lastUsed)\(more)"uses":\(uses)}
            """
    }

    private static let hash = String(repeating: "ab12cd34", count: 8)
    private static let other = String(repeating: "ff00ee11", count: 8)

    /// alice's grants.
    var own: [String] {
        [
            grant(Self.alice, "org.example.Mail", "Mail", "sandboxed", "full", used: -40),
            grant(
                Self.alice, "org.example.Ink", "Ink\\u001b[31m\\nroot", "claimed", "limited", contacts: 3,
                "\"expires\":\"\(time(8 * 86_400))\","),
            grant(
                Self.alice, "/usr/bin/contactbook sha256:\(Self.hash)", "contactbook", "unverified", "limited",
                contacts: 1),
            grant(
                Self.alice, "/home/alice/bin/contactbook helper sha256:\(Self.hash)", "contactbook helper",
                "unverified",
                "denied", keys: [], used: -26 * 3_600,
                "\"decidedThrough\":\"revoked by /usr/bin/contactctl (unverified)\","),
            grant(
                Self.alice, "/home/alice/bin/c\u{43E}ntactbook sha256:\(Self.hash)", "c\u{43E}ntactbook", "unverified",
                "denied", keys: [], used: nil, uses: 0,
                "\"decidedThrough\":\"by io.contactbroker.agent (installed), without a password\","),
            grant(
                Self.alice, "/usr/bin/python3.11 sha256:\(Self.other)", "python3.11", "unverified", "limited",
                contacts: 2,
                "\"session\":\"terminal session of process 999999999\",\"sessionLeader\":999999999,"),
            grant(
                Self.alice, "/opt/game/a very long folder with spaces/and another one/run sha256:\(Self.other)", "run",
                "unverified", "notDetermined", keys: [], used: nil, uses: 0, "\"silenced\":true,"),
        ]
    }

    var everyone: [String] {
        own + [
            grant(Self.bob, "org.example.Mail", "Mail", "sandboxed", "full", "\"counts\":\"limited\","),
            grant(
                Self.bob, "/usr/bin/contactbook sha256:\(Self.hash)", "contactbook", "unverified", "limited",
                contacts: 4),
            grant(
                Self.bob, "/usr/bin/contactbook sha256:\(Self.other)", "contactbook", "unverified", "denied", keys: []),
            grant(
                Self.carol, "x.service", "x.service", "service", "denied", keys: [],
                "\"decidedThrough\":\"revoked by user 65534\","
            )
            .replacing("\"decidedBy\":\"person\"", with: "\"decidedBy\":\"administrator\""),
        ]
    }

    private func record(
        _ sequence: Int, _ seconds: Int64, _ app: String, _ event: String, _ more: String = "", uid: Int = Self.alice
    ) -> String {
        """
        {"sequence":\(sequence),"time":"\(time(seconds))","uid":\(uid),"app":"\(app)","strength":"sandboxed",\
        "event":"\(event)"\(more)}
        """
    }

    var records: [String] {
        let keys = #""keys":["givenName","familyName","phoneNumbers"]"#
        return [
            record(1, -90_000, "org.example.Mail", "prompt", #","status":"notDetermined","detail":"access""#),
            record(
                2, -89_990, "org.example.Mail", "answer",
                #","status":"full","detail":"by io.contactbroker.agent (installed), with the password""#),
            record(3, -7_300, "org.example.Mail", "disclosure", #","status":"full","contacts":120,"# + keys),
            record(
                4, -7_200, "/usr/bin/contactbook sha256:\(Self.hash)", "disclosure",
                #","status":"limited","contacts":1,"repeats":2,"# + keys),
            record(
                5, -7_100, "/home/alice/bin/contactbook helper sha256:\(Self.hash)", "revocation",
                #","status":"denied","detail":"by user 65534""#),
            record(6, -60, "org.example.Mail", "revocation", #","status":"notDetermined","detail":"reset, by root""#),
        ]
    }

    /// One alarm of each kind.
    var alarms: [String] {
        func alarm(_ sequence: Int, _ seconds: Int64, _ app: String, _ detail: String, _ more: String = "") -> String {
            record(sequence, seconds, app, "alarm", #","detail":"\#(detail)""# + more)
        }
        return [
            alarm(7, -20 * 86_400, "x.service", "unusedGrant, since 2025-11-01"),
            alarm(8, -3 * 86_400, "org.example.Ink", "notInstalled"),
            alarm(9, -7_000, "/usr/bin/contactbook sha256:\(Self.hash)", "executableChanged"),
            alarm(10, -6_000, "org.example.Mail", "weakerIdentity, now claimed"),
            alarm(11, -5_000, "org.example.Mail", "readsEverything", #","contacts":812"#),
            alarm(12, -60, "", "auditBroken, at record 11"),
        ]
    }

    /// The answer about a contact: two apps may see it, and two saw it, one of them only in lists.
    private var access: String {
        let contactbook = "/usr/bin/contactbook sha256:\(Self.hash)"
        return """
            {"matches":1,"now":[\
            {"app":"org.example.Mail","displayName":"Mail","strength":"sandboxed","status":"full","keys":["givenName"]},\
            {"app":"\(contactbook)","displayName":"contactbook","strength":"unverified","status":"limited",\
            "keys":["givenName","phoneNumbers"],"expires":"\(time(8 * 86_400))"}],"seen":[\
            {"app":"org.example.Mail","strength":"sandboxed","keys":["givenName"],"first":"\(time(-90_000))",\
            "last":"\(time(-7_300))","times":3,"inLists":3},\
            {"app":"\(contactbook)","strength":"unverified","keys":["givenName","phoneNumbers"],\
            "first":"\(time(-7_300))","last":"\(time(-40))","times":2,"inLists":1}]}
            """
    }

    /// A policy that is tried: it would end one user's grant, and limit what another user can be asked about.
    private var tried: String {
        let contactbook = "/usr/bin/contactbook sha256:\(Self.hash)"
        return """
            {"rules":1,"apps":11,"changes":[\
            {"uid":\(Self.alice),"app":"\(contactbook)","displayName":"contactbook","strength":"unverified",\
            "before":{"status":"limited","contacts":1,"keys":["givenName","phoneNumbers"],"mayAsk":true,"password":false},\
            "after":{"status":"limited","contacts":1,"keys":["givenName","phoneNumbers"],"expires":"\(time(6 * 86_400))",\
            "mayAsk":true,"password":false}},\
            {"uid":\(Self.bob),"app":"/opt/game/run sha256:\(Self.other)","displayName":"run","strength":"unverified",\
            "session":"terminal session of process 999999999","sessionLeader":999999999,\
            "before":{"status":"notDetermined","contacts":0,"mayAsk":true,"password":false},\
            "after":{"status":"notDetermined","contacts":0,"mayAsk":true,"password":true,"maximumLevel":"limited",\
            "maximumLifetime":604800}},\
            {"uid":\(Self.carol),"app":"x.service","displayName":"x.service","strength":"service",\
            "before":{"status":"denied","contacts":0,"mayAsk":false,"password":false},\
            "after":{"status":"restricted","contacts":0,"mayAsk":false,"password":false}}]}
            """
    }

    /// Saves in the bin, of which the oldest is a put-back.
    private var saves: [String] {
        func save(
            _ number: Int, _ seconds: Int64, _ app: String, _ kind: String, _ counts: (Int, Int, Int), _ names: [String]
        ) -> String {
            let contacts = names.map { #"{"change":"deleted","contact":{"identifier":"","givenName":"\#($0)"}}"# }
            return """
                {"number":\(number),"kind":"\(kind)","time":"\(time(seconds))","app":"\(app)","strength":"sandboxed",\
                "added":\(counts.0),"changed":\(counts.1),"deleted":\(counts.2),\
                "contacts":[\(contacts.joined(separator: ","))]}
                """
        }
        let contactbook = "/usr/bin/contactbook sha256:\(Self.hash)"
        let saves = [
            save(1_209, -40, "org.example.Mail", "save", (0, 1, 411), ["Saga", "Ink\\u001b[31m\\nroot", "Bo"]),
            save(1_208, -7_300, contactbook, "save", (2, 0, 0), ["Åsa", "Bo"]),
            save(1_207, -90_000, "", "save", (0, 1, 0), ["Saga"]),
            save(1_206, -91_000, "", "putBack", (3, 0, 0), []),
        ]
        return saves
    }

    private static func putBack(_ parameters: JSONValue) -> ScriptedBroker.Answer {
        let isMany = parameters["save"]?.integer != 1_208
        guard parameters["dryRun"]?.bool == true || parameters["many"]?.bool == true || !isMany else {
            return .error(
                "io.contactbroker.Admin.InvalidValue",
                parameters: #"{"parameter":"many","reason":"more than 25 contacts in a day need the password"}"#)
        }
        let counts =
            isMany
            ? #""returned":411,"changed":1,"removed":0,"conflicts":2,"lost":1,"groups":1"#
            : #""returned":0,"changed":0,"removed":2,"conflicts":0,"lost":0,"groups":0"#
        let names = [("Saga", "returned"), ("Bo", "changed"), ("Åsa", "conflict"), ("Eva", "removed")].map {
            #"{"outcome":"\#($1)","contact":{"identifier":"","givenName":"\#($0)"}}"#
        }
        let contacts =
            parameters["names"] == nil ? "" : #","contacts":[\#(names.joined(separator: ",")),{"outcome":"lost"}]"#
        return .reply("{\(counts)\(contacts)}")
    }

    /// The days of the bin, or those that are set: fewer than 30 need `shorter`.
    private static func bin(_ parameters: JSONValue) -> ScriptedBroker.Answer {
        guard let days = parameters["days"]?.integer, days < 30 else {
            return .reply(#"{"days":\#(parameters["days"]?.integer ?? 30),"saves":1209}"#)
        }
        guard parameters["shorter"]?.bool == true else {
            return .error(
                "io.contactbroker.Admin.InvalidValue",
                parameters: #"{"parameter":"shorter","reason":"fewer days need the password"}"#)
        }
        return .reply(#"{"days":30,"nextDays":\#(days),"nextAt":"2026-03-02T12:00:00Z","saves":1209}"#)
    }

    private static let explained = """
        {"rules":[{"place":"/etc/contactbroker/policy.d/10-week.toml:3","name":"a week","subject":"every unverified app",\
        "effects":["allows limited access at most","lets a grant last 7 days at most"],"apps":2,"users":1},\
        {"place":"/etc/contactbroker/policy.d/20-children.toml:1","subject":"every app, of members of group children",\
        "effects":["forbids prompts"],"apps":0,"users":0}],"settings":["every answer needs the person's password"]}
        """

    var prompts: [String] {
        [
            """
            {"uid":\(Self.alice),"app":"org.example.Mail","displayName":"Mail","strength":"sandboxed","kind":"access",\
            "quiet":false,"shown":true}
            """,
            """
            {"uid":\(Self.bob),"app":"/opt/game/run sha256:\(Self.other)","displayName":"run","strength":"unverified",\
            "kind":"button","quiet":true,"shown":false}
            """,
        ]
    }

    /// A broker that answers `contactctl`. It gives one user's data unless all users are requested.
    func broker() throws -> ScriptedBroker {
        let (own, everyone, records, prompts, access) = (own, everyone, records, prompts, access)
        let (alarms, saves) = (alarms, saves)
        let tried = tried
        return try ScriptedBroker { method, parameters in
            let isAll = parameters["allUsers"]?.bool == true
            func list(_ name: String, _ values: [String]) -> ScriptedBroker.Answer {
                .reply("{\"\(name)\":[\(values.joined(separator: ","))]}")
            }
            let app = parameters["app"]?.string
            switch method {
            case "ListGrants":
                let uid = parameters["uid"]?.integer
                return list(
                    "grants",
                    isAll ? everyone : uid == nil ? own : everyone.filter { $0.contains("\"uid\":\(uid ?? 0),") })
            case "SetGrant":
                let status = parameters["status"]?.string ?? ""
                return list(
                    "grants",
                    (isAll ? everyone : own).filter { $0.contains("\"app\":\"\(app ?? "")\"") }.map {
                        $0.replacing(/"status":"[a-z]+"/, with: "\"status\":\"\(status)\"")
                    })
            case "ChangeGrantedContacts":
                switch parameters["contacts"]?.elements?.first(where: { _ in true })?.string {
                case "saga":
                    return list(
                        "grants",
                        own.filter { $0.contains("\"app\":\"\(app ?? "")\"") }.map {
                            $0.replacing("\"contacts\":3", with: "\"contacts\":2")
                        })
                case "nobody": return list("grants", [])
                default:
                    return .error(
                        "io.contactbroker.Admin.InvalidValue",
                        parameters:
                            #"{"parameter":"contacts","reason":"\"s\" matches 12 contacts; use the whole name, an e-mail address or "#
                            + #"a phone number"}"#)
                }
            case "ResetGrant", "EndSessionGrants":
                return .reply("{\"count\":\(app?.contains("python") == true ? 1 : 0)}")
            case "ExplainDecision":
                return .reply(
                    #"{"status":"full","reasons":["you allowed it all contacts on 2026-03-01T12:00:00Z, until revoked","#
                        + #""no policy rule matches it","so it sees all contacts, and may change nothing"],"#
                        + #""explanation":[{"parts":[{"text":"you "},"#
                        + #"{"text":"allowed it all contacts on "},{"time":"2026-03-01T12:00:00Z"},{"text":", until revoked"}]},"#
                        + #"{"parts":[{"text":"no policy rule matches it"}]},"#
                        + #"{"parts":[{"text":"so it sees all contacts, and may change nothing"}]}]}"#
                )
            case "QueryAudit" where parameters["event"]?.string == "alarm": return list("records", alarms)
            case "QueryAudit":
                return list("records", records.filter { app == nil || $0.contains("\"app\":\"\(app ?? "")\"") })
            case "ListPending": return list("prompts", isAll ? prompts : [prompts[0]])
            case "FindContactAccess":
                let none = #","now":[],"seen":[]}"#
                switch parameters["contact"]?.string {
                case "saga": return .reply(access)
                case "nobody": return .reply(#"{"matches":1"# + none)
                case "s": return .reply(#"{"matches":12"# + none)
                default: return .reply(#"{"matches":0"# + none)
                }
            case "ListChanges":
                return list("saves", saves.filter { app == nil || $0.contains("\"app\":\"\(app ?? "")\"") })
            case "PutBack": return Self.putBack(parameters)
            case "GetBin", "SetBinDays": return Self.bin(parameters)
            case "EmptyBin": return .reply("{}")
            case "VerifyAudit": return .reply("{\"records\":12,\"head\":\"ab12\"}")
            case "TryPolicy": return .reply(tried)
            case "ExplainPolicy": return .reply(Self.explained)
            case "ReloadPolicy": return .reply("{\"rules\":2}")
            case "GetStatus":
                return .reply(
                    #"{"status":{"version":"1","startedAt":"2026-03-01T12:00:00Z","openPrompts":0,"polkit":false,"#
                        + #""addressBooks":[{"uid":1000,"MB":12},{"uid":1001,"MB":1}]}}"#)
            default: return .error("org.varlink.service.MethodNotFound")
            }
        }
    }
}
