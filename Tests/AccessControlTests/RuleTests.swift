import BrokerAccessControl
import BrokerModel
import Testing

/// A rule with these effects.
private func rule(_ fill: (inout Rule) -> Void) -> Rule {
    var rule = Rule(place: "test.toml:1")
    fill(&rule)
    return rule
}

@Suite("The apps and users of a rule")
struct RuleTests {
    @Test(
        "A pattern matches identifiers below it, by whole parts",
        arguments: [
            ("org.example.Mail", true), ("org.example.Mail.Helper", true), ("org.example", false),
            ("org.example.", false), ("org.examples.Mail", false), ("org.exampleMail", false),
            ("xorg.example.Mail", false),
            ("ORG.example.Mail", false), ("", false),
        ])
    func pattern(app: String, matches: Bool) {
        #expect(AppPatterns(["org.example.*"]).contains(app) == matches)
        let rule = rule { $0.apps = ["net.other", "org.example.*"] }
        #expect(rule.matches(Principal(uid: 1, strength: .sandboxed, app: app)) == matches)
        #expect(rule.matches(Principal(uid: 1, strength: .sandboxed, app: "net.other")))
        #expect(!rule.matches(Principal(uid: 1, strength: .sandboxed, app: "net.other.x")))
    }

    @Test(
        "A word that would match other apps than it seems to cannot name apps",
        arguments: [
            "*", ".*", "org.*", "org.example*", "org.*.Mail", "*.example", "org..*", "org.ex*.*", "snap.mail.*", "a*",
        ])
    func misleading(word: String) { #expect(AppPatterns.objection(to: word) != nil) }

    @Test(
        "An identifier and a pattern of at least two parts name apps",
        arguments: ["a", "org.example", "org.example.*", "a.b.c.*"])
    func plain(word: String) { #expect(AppPatterns.objection(to: word) == nil) }

    @Test("A rule applies to the users that it names, and to the members of its groups")
    func users() {
        let both = rule {
            $0.users = [1]
            $0.groups = ["staff"]
            $0.members = [2, 3]
        }
        let groups = rule {
            $0.groups = ["staff", "empty"]
            $0.members = [2]
        }
        let empty = rule { $0.groups = ["empty"] }
        func users(_ rule: Rule) -> [UInt32] {
            (0...4).filter { rule.matches(Principal(uid: $0, strength: .installed, app: "a")) }
        }
        #expect(users(both) == [1, 2, 3])
        #expect(users(groups) == [2])
        #expect(users(empty) == [])
        #expect(users(rule { _ in }) == [0, 1, 2, 3, 4])
    }

    @Test("A rule covers another one only if it applies to all its apps and users, regardless of who is in a group")
    func covers() {
        let all = rule { _ in }
        let sandboxed = rule { $0.strengths = [.sandboxed] }
        let mail = rule {
            $0.strengths = [.sandboxed]
            $0.apps = ["org.example.Mail"]
        }
        let company = rule {
            $0.strengths = [.sandboxed, .installed]
            $0.apps = ["org.example.*"]
        }
        let below = rule {
            $0.strengths = [.installed]
            $0.apps = ["org.example.more.*"]
        }
        let staff = rule {
            $0.groups = ["staff"]
            $0.members = [1]
        }
        let one = rule { $0.users = [1] }
        let staffAndOne = rule {
            $0.users = [1]
            $0.groups = ["staff"]
        }
        for each in [all, sandboxed, mail, company, below, staff, one, staffAndOne] {
            #expect(all.covers(each))
            #expect(each.covers(each))
            if each != all { #expect(!each.covers(all)) }
        }
        #expect(sandboxed.covers(mail) && !mail.covers(sandboxed))
        #expect(company.covers(mail) && company.covers(below) && !below.covers(company))
        #expect(!sandboxed.covers(company))
        #expect(staffAndOne.covers(staff) && staffAndOne.covers(one))
        // Who is in the group can change.
        #expect(!staff.covers(one) && !one.covers(staff))
    }

    @Test("A rule describes its apps and users in words")
    func subject() {
        #expect(rule { _ in }.subject == "every app")
        #expect(rule { $0.strengths = [.unverified, .claimed] }.subject == "every claimed or unverified app")
        let mail = rule {
            $0.strengths = [.sandboxed]
            $0.apps = ["org.example.Mail"]
            $0.users = [1_000]
        }
        #expect(mail.subject == "the app org.example.Mail, if sandboxed, of user 1000")
        let company = rule {
            $0.strengths = [.sandboxed, .installed]
            $0.apps = ["org.example.*", "net.other"]
            $0.users = [1_000, 999]
            $0.groups = ["staff"]
        }
        #expect(
            company.subject
                == "the apps net.other and org.example.*, if sandboxed or installed, of users 999 and 1000 and "
                + "members of group staff")
        #expect(rule { $0.groups = ["b", "a"] }.subject == "every app, of members of groups a and b")
    }

    // MARK: Unused grants

    private func ruling(_ rules: [Rule]) -> Ruling {
        Policy(rules: rules).ruling(on: Principal(uid: 1, strength: .installed, app: "a"))
    }

    private var unused: Ruling { ruling([rule { $0.maximumUnused = 500 }, rule { $0.maximumUnused = 100 }]) }
    private static let full = Grant(access: .full, revision: 1, decidedBy: .person, decidedAt: 1_000)

    @Test("A grant ends a time after its last use or, if it was never used, after the decision")
    func unusedEnd() {
        #expect(unused.unusedEnd(of: Self.full, lastUse: nil) == 1_100)
        #expect(unused.unusedEnd(of: Self.full, lastUse: 1_050) == 1_150)
        // A use before the decision belongs to an earlier grant.
        #expect(unused.unusedEnd(of: Self.full, lastUse: 10) == 1_100)
        #expect(unused.unusedEnd(of: Self.full, lastUse: .max) == 0)
        #expect(ruling([]).unusedEnd(of: Self.full, lastUse: nil) == nil)
    }

    @Test("A denial does not end because it is not used")
    func unusedDenial() {
        var denied = Self.full
        denied.access = .denied
        #expect(unused.unusedEnd(of: denied, lastUse: nil) == nil)
    }
}
