import BrokerModel
import Testing

@testable import BrokerAccessControl

private let ada = RecordNumber(1)
private let now: Int64 = 1_000_000
private let day: Int64 = 86_400
private let policyRevision: Int64 = 50

private func grant(
    _ access: Access, keys: ContactKeySet = Grant.ordinaryKeys, lifetime: Lifetime = .untilRevoked,
    decidedAt: Int64 = now - day
) -> Grant {
    Grant(access: access, keys: keys, lifetime: lifetime, revision: 7, decidedBy: .person, decidedAt: decidedAt)
}

private let full = grant(.full)
private let limited = grant(.limited(to: [ada]))
private let denied = grant(.denied)
private let names = ContactKeySet([.givenName, .familyName])

private func rule(_ fill: (inout Rule) -> Void) -> Rule {
    var rule = Rule(place: "test.toml:1")
    fill(&rule)
    return rule
}

private let deny = rule { $0.denies = true }
private let forceFull = rule { $0.forcedLevel = .full }
private let forceLimited = rule { $0.forcedLevel = .limited }
private let forceDenied = rule { $0.forcedLevel = .denied }
private let cap = rule { $0.capsLevel = true }
private let namesOnly = rule { $0.maximumKeys = names }
private let phonesOnly = rule { $0.maximumKeys = ContactKeySet([.givenName, .phoneNumbers]) }
private let silence = rule { $0.forbidsPrompting = true }
private let oneDay = rule { $0.maximumLifetime = day }
private let twoDays = rule { $0.maximumLifetime = 2 * day }

/// An effective access, in a form that a table can hold.
private enum Counting: Hashable, Sendable {
    case nothingDecided, restricted, denied
    case limited(Set<RecordNumber>, ContactKeySet = Grant.ordinaryKeys, until: Int64? = nil)
    case full(ContactKeySet = Grant.ordinaryKeys, until: Int64? = nil)

    init(_ access: EffectiveAccess) {
        switch access {
        case .notDetermined: self = .nothingDecided
        case .restricted: self = .restricted
        case .granted(let grant):
            var end: Int64?
            if case .untilTime(let time) = grant.lifetime { end = time }
            switch grant.access {
            case .denied: self = .denied
            case .limited(let records): self = .limited(records, grant.keys, until: end)
            case .full: self = .full(grant.keys, until: end)
            }
        }
    }
}

private struct RulingRow: Sendable, CustomTestStringConvertible {
    let rules: [Rule]
    let decided: Grant?
    let counts: Counting
    var testDescription: String {
        "\(rules.flatMap(\.effects)) over \(decided?.access.status.rawValue ?? "nothing")"
    }

    init(_ rules: [Rule], _ decided: Grant?, _ counts: Counting) {
        self.rules = rules
        self.decided = decided
        self.counts = counts
    }
}

private let table = [
    RulingRow([], nil, .nothingDecided),
    RulingRow([], limited, .limited([ada])),
    RulingRow([], full, .full()),
    RulingRow([], denied, .denied),

    RulingRow([deny], nil, .restricted),
    RulingRow([deny], limited, .restricted),
    RulingRow([deny], full, .restricted),
    RulingRow([deny], denied, .restricted),
    RulingRow([forceFull, deny], full, .restricted),

    RulingRow([forceFull], nil, .full()),
    RulingRow([forceFull], limited, .full()),
    RulingRow([forceFull], denied, .full()),
    RulingRow([forceLimited], nil, .limited([])),
    RulingRow([forceLimited], limited, .limited([ada])),
    RulingRow([forceLimited], full, .limited([])),
    RulingRow([forceLimited], denied, .limited([])),
    RulingRow([forceDenied], nil, .denied),
    RulingRow([forceDenied], full, .denied),
    RulingRow([forceDenied], limited, .denied),
    RulingRow([forceFull, forceLimited], limited, .limited([ada])),
    RulingRow([forceFull, forceDenied], full, .denied),

    RulingRow([cap], nil, .nothingDecided),
    RulingRow([cap], full, .limited([])),
    RulingRow([cap], limited, .limited([ada])),
    RulingRow([cap], denied, .denied),
    RulingRow([cap, forceFull], nil, .limited([])),
    RulingRow([cap, forceFull], limited, .limited([])),

    RulingRow([namesOnly], nil, .nothingDecided),
    RulingRow([namesOnly], full, .full(names)),
    RulingRow([namesOnly], limited, .limited([ada], names)),
    RulingRow([namesOnly, phonesOnly], full, .full(ContactKeySet([.givenName]))),
    RulingRow([namesOnly], grant(.full, keys: ContactKeySet([.givenName, .note])), .full(ContactKeySet([.givenName]))),
    RulingRow([namesOnly, forceFull], nil, .full(names)),

    RulingRow([silence], nil, .nothingDecided),
    RulingRow([silence], limited, .limited([ada])),

    RulingRow([twoDays], full, .full(until: now + day)),
    RulingRow([oneDay, twoDays], grant(.full, decidedAt: now - day + 1), .full(until: now + 1)),
    RulingRow([oneDay], full, .nothingDecided),
    RulingRow([oneDay], denied, .denied),
    RulingRow([twoDays], grant(.full, lifetime: .untilTime(now + 5)), .full(until: now + 5)),
    RulingRow([twoDays], grant(.limited(to: [ada]), lifetime: .session), .limited([ada], until: now + day)),
    RulingRow([oneDay, forceFull], full, .full()),
    RulingRow([oneDay, forceLimited], limited, .limited([])),
]

@Suite("Policy rules and the person's decisions")
struct RulingTests {
    @Test("Each set of rules and each decision give the effective access in the table", arguments: table)
    private func rules(row: RulingRow) {
        let access = Ruling(rules: row.rules, problem: nil).effectiveAccess(
            of: row.decided, at: now, revision: policyRevision, loadedAt: now)
        #expect(Counting(access) == row.counts)
    }

    @Test("A rule limits what an app may change, and with a forced level says what it may")
    func changes() {
        func right(_ rules: [Rule], _ access: Access?, _ changes: ChangeRight = .all) -> ChangeRight? {
            let decided = access.map {
                Grant(access: $0, changes: changes, revision: 1, decidedBy: .person, decidedAt: now)
            }
            let access = Ruling(rules: rules, problem: nil).effectiveAccess(
                of: decided, at: now, revision: policyRevision, loadedAt: now)
            guard case .granted(let grant) = access else { return nil }
            return grant.changes
        }
        func most(_ right: ChangeRight, forcing level: Rule.Level? = nil) -> Rule {
            rule { ($0.maximumChanges, $0.forcedLevel) = (right, level) }
        }
        #expect(right([], .full) == .all)
        #expect(right([most(.edit)], .full) == .edit)
        #expect(right([most(.edit), most(.none)], .full) == ChangeRight.none)
        #expect(right([most(.edit)], .limited(to: [ada]), .own) == .own)
        // A forced level gives `own` unless the rule says more, whatever was decided about other contacts.
        #expect(right([forceFull], nil) == .own)
        #expect(right([forceFull], .limited(to: [ada])) == .own)
        #expect(right([forceFull], .limited(to: [ada]), .none) == ChangeRight.none)
        #expect(right([forceFull], .denied) == .own)
        #expect(right([forceLimited], .full) == .own)
        #expect(right([forceFull], .full) == .all)
        #expect(right([most(.edit, forcing: .full)], nil) == .edit)
        #expect(right([most(.all, forcing: .full)], .limited(to: [ada]), .own) == .all)
        #expect(right([most(.all, forcing: .full), most(.edit)], nil) == .edit)
        #expect(right([most(.all, forcing: .full)], .full, .own) == .all)
        #expect(right([most(.none, forcing: .full)], .full) == ChangeRight.none)
        #expect(right([most(.all, forcing: .full), forceLimited], nil) == .own)
        #expect(right([most(.all, forcing: .full), forceFull], nil) == .own)
    }

    @Test("A deny rule wins over every other rule")
    func denyWins() {
        for other in [forceFull, forceLimited, forceDenied, cap, namesOnly, silence, oneDay] {
            for rules in [[deny, other], [other, deny]] {
                for decided in [nil, full, limited, denied] {
                    let ruling = Ruling(rules: rules, problem: nil)
                    #expect(ruling.effectiveAccess(of: decided, at: now, revision: 1, loadedAt: now) == .restricted)
                }
            }
        }
    }

    @Test("A rule that does not force access never gives an app more than the person did")
    func onlyNarrower() {
        for rules in [[cap], [namesOnly], [silence], [oneDay], [twoDays], [cap, namesOnly, twoDays], [forceDenied]] {
            for decided in [full, limited, denied] {
                let ruling = Ruling(rules: rules, problem: nil)
                guard
                    case .granted(let counting) = ruling.effectiveAccess(
                        of: decided, at: now, revision: 1, loadedAt: now)
                else { continue }
                #expect(counting.keys.isSubset(of: decided.keys))
                switch (counting.access, decided.access) {
                case (.denied, _), (_, .full): break
                case (.limited(let records), .limited(let granted)): #expect(records.isSubset(of: granted))
                case (.limited, .denied), (.full, .limited), (.full, .denied): Issue.record("\(rules) widens the grant")
                }
            }
        }
    }

    @Test("A grant that the policy changes has the newer of the two revisions, and any other grant keeps its own")
    func revisions() {
        func revision(_ rules: [Rule], of grant: Grant = full) -> Int64 {
            Ruling(rules: rules, problem: nil).effectiveAccess(
                of: grant, at: now, revision: policyRevision, loadedAt: now
            )
            .revision
        }
        #expect(revision([]) == 7)
        #expect(revision([silence]) == 7)
        #expect(revision([cap]) == policyRevision)
        #expect(revision([namesOnly]) == policyRevision)
        let younger = Grant(access: .full, revision: 60, decidedBy: .person, decidedAt: now)
        #expect(revision([cap], of: younger) == 60)
    }

    @Test("An unreadable policy refuses every app")
    func unreadable() {
        let policy = Policy(unreadable: Policy.Problem(.policy, "x.toml:3: rule[0].force: no"))
        for strength in IdentityStrength.allCases {
            let ruling = policy.ruling(on: Principal(uid: 1, strength: strength, app: "a"))
            #expect(ruling.effectiveAccess(of: full, at: now, revision: 1, loadedAt: now) == .restricted)
            #expect(
                ruling.reasons == ["the policy cannot be read, so every app is refused: x.toml:3: rule[0].force: no"])
        }
    }

    @Test("A rule applies only to the users, strengths and apps that it names")
    func matching() {
        let rule = rule {
            $0.strengths = [.sandboxed]
            $0.apps = ["org.example.Mail"]
            $0.users = [1000]
            $0.forcedLevel = .full
        }
        func matches(_ uid: UInt32, _ strength: IdentityStrength, _ app: String) -> Bool {
            !Policy(rules: [rule]).ruling(on: Principal(uid: uid, strength: strength, app: app)).rules.isEmpty
        }
        #expect(matches(1000, .sandboxed, "org.example.Mail"))
        for strength in IdentityStrength.allCases where strength != .sandboxed {
            #expect(!matches(1000, strength, "org.example.Mail"))
        }
        #expect(!matches(1001, .sandboxed, "org.example.Mail"))
        #expect(!matches(1000, .sandboxed, "org.example.Mail2"))
        let process = ProcessIdentity(pid: 1, startTime: 1)
        let bound = Principal(uid: 1000, strength: .sandboxed, app: "org.example.Mail", binding: .process(process))
        #expect(Policy(rules: [rule]).ruling(on: bound).rules == [rule])
    }

    @Test("The reasons name the rules, and say which decision is stored")
    func reasons() {
        var named = cap
        named.name = "office"
        let ruling = Ruling(rules: [named, deny], problem: nil)
        #expect(
            ruling.reasons == [
                "policy test.toml:1 “office” allows limited access at most", "policy test.toml:1 denies all access",
            ])
        #expect(
            ruling.difference(of: full, from: .restricted, at: now)
                == "the decision is stored, and applies again when no rule denies the app")
        let capped = Ruling(rules: [cap], problem: nil)
        let access = capped.effectiveAccess(of: full, at: now, revision: 1, loadedAt: now)
        #expect(
            capped.difference(of: full, from: access, at: now)
                == "the decision (full) is stored, and applies again without these rules")
        #expect(capped.difference(of: limited, from: .granted(limited), at: now) == nil)
    }
}
