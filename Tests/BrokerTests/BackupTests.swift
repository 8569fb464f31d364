import BrokerAccessControl
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerSQLite
import Glibc
import Testing

@testable import BrokerAccessStore
@testable import BrokerBooks
@testable import BrokerCore
@testable import BrokerGrants

@Suite("Backups")
struct BackupTests {
    /// A system that grants every password, with an address book that has everything a book can have.
    private func system() throws -> BrokerFixture {
        try BrokerFixture(authority: TestAuthority([.backUp: .granted, .restore: .granted]))
    }

    private static let photo = "/9j/4AAQSkZJRgABAQAAAQABAAD/"

    private func fill(_ fixture: BrokerFixture) throws -> TestApp {
        let keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid")
        let container = try #require(
            try keeper.save([.other(#"{"operation":"addContainer","container":"Work"}"#)]).strings("identifiers").first)
        let added = try keeper.save([
            .other(
                #"{"operation":"add","contact":{"givenName":"Dora","note":"a \"note\"\nof two lines","phoneNumbers":"#
                    + #"[{"label":"work","value":"+49 30 1"},{"value":"2"}],"imageData":"\#(Self.photo)","#
                    + #""extraProperties":["X-TEST:1"]},"container":"\#(container)"}"#),
            .other(#"{"operation":"add","group":{"name":"Crew"}}"#),
            .other(#"{"operation":"add","group":{"name":"All"}}"#),
        ])
        let identifiers = added.strings("identifiers")
        try #require(identifiers.count == 3, "\(added.text)")
        let ada = try keeper.identifier(of: "Ada")
        for step in [
            #"{"operation":"addMember","member":"\#(ada)","group":{"identifier":"\#(identifiers[1])"}}"#,
            #"{"operation":"addSubgroup","member":"\#(identifiers[1])","group":{"identifier":"\#(identifiers[2])"}}"#,
            #"{"operation":"link","contact":{"identifier":"\#(ada)"},"member":"\#(try keeper.identifier(of: "Bob"))"}"#,
            #"{"operation":"setMe","contact":{"identifier":"\#(try keeper.identifier(of: "Cid"))"}}"#,
        ] {
            let answer = try keeper.save([.other(step)])
            try #require(answer.error == nil, "\(step): \(answer.text)")
        }
        // The second value's identifier is not reused after this.
        let dora = try #require(identifiers.first)
        try #require(try keeper.save([.update(dora, #""phoneNumbers":[{"value":"3"}]"#)]).error == nil)
        return keeper
    }

    private func whole(_ app: TestApp) throws -> String {
        let keys = ContactKey.allCases.filter { !ContactKeySet($0).isSubset(of: .named) && $0 != .thumbnailImageData }
        return try app.call(
            "FetchContacts", #"{"keys":[\#(keys.map { "\"\($0.rawValue)\"" }.joined(separator: ","))]}"#
        ).contacts.map { String(decoding: $0.text, as: UTF8.self) }.joined(separator: "\n")
    }

    @Test("On a new machine everything is as before: cards, groups, links, apps' access and identifiers")
    func newMachine() throws {
        let one = try system()
        let keeper = try fill(one)
        let mail = try one.app("mail", .limited(to: one.records("Ada").union(one.records("Cid"))))
        _ = try one.app("spy", .denied)
        try one.access.silences.silence(one.app("loud").principal, now: 7)
        let before = (try whole(keeper), try whole(mail))
        let groups = try keeper.call("ListGroups").text
        let backup = try Backup(of: one)

        let other = try system()
        try Backup.copyKey(from: one, to: other)
        let answer = try backup.restore(in: other)
        #expect(answer.error == nil, "\(answer.text)")
        #expect(answer.parameters["contacts"]?.integer == 4 && answer.parameters["restored"]?.integer == 3)
        #expect(answer.parameters["removed"]?.integer == 0 && answer.parameters["asking"]?.integer == 0)
        #expect(try whole(other.app("keeper")) == before.0)
        #expect(try whole(other.app("mail")) == before.1)
        #expect(try other.app("keeper").call("ListGroups").text == groups)
        #expect(try other.app("spy").fetch().error == "AccessDenied")
        #expect(try other.access.silences.since(other.app("loud").principal) == 7)
        // The photo is there, and the value identifiers and links are stored as before.
        #expect(try Backup(of: other).book == backup.book)
        #expect(backup.lines("card").contains { $0.contains(Self.photo) })
        #expect(backup.lines("handLink").count == 2 && backup.lines("subgroup").count == 1)
        // The next start finds the same.
        try other.restart()
        #expect(try whole(other.app("keeper")) == before.0)
        #expect(try whole(other.app("mail")) == before.1)
    }

    @Test("A contact group that is shared with an app still makes its set grow after a restore")
    func groups() throws {
        let one = try system()
        let keeper = try fill(one)
        let family = try one.app("family", .limited(to: []), strength: .sandboxed)
        let listed = try keeper.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
        let crew = try #require(listed.first { $0["name"]?.string == "Crew" }?["identifier"]?.string)
        let ciphers = one.access.identifiers(for: keeper.principal, sharesPersistentKey: true)
        var grant = try #require(one.access.grant(of: family.principal))
        grant.share(group: try #require(ciphers?.record(crew, as: .group)), members: try one.records("Ada"))
        try one.grant(grant.access, to: family)
        one.access.setGrant(
            grant, for: family.principal, displayName: "family", at: one.books.moment(of: 1_000))
        let other = try system()
        let backup = try Backup(of: one)
        try Backup.copyKey(from: one, to: other)
        try #require(try backup.restore(in: other).error == nil)
        let (keeperThere, familyThere) = (
            try other.app("keeper"), try other.app("family", strength: .sandboxed)
        )
        #expect(try familyThere.fetch().names == ["Ada"])
        let cid = try keeperThere.identifier(of: "Cid")
        let step = #"{"operation":"addMember","member":"\#(cid)","group":{"identifier":"\#(crew)"}}"#
        try #require(try keeperThere.save([.other(step)]).error == nil)
        #expect(try familyThere.fetch().names == ["Ada", "Cid"])
    }

    @Test("A backup keeps which names of groups count, and in one of an earlier version every name does")
    func namesOfGroups() throws {
        let one = try system()
        let keeper = try fill(one)
        let evil = try one.app("evil", .limited(to: one.records("Bob")), strength: .sandboxed)
        let bob = try evil.identifier(of: "Bob")
        try #require(
            try evil.save([GroupTests.add("Crew", as: "g"), GroupTests.step("addMember", "g", bob)]).error == nil)
        var backup = try Backup(of: one)
        for (isOlder, named) in [(false, ["Crew"]), (true, ["Crew", "Crew"])] {
            if isOlder {
                let lines = backup.pieces.flatMap(\.lines).map { line in
                    guard line.hasPrefix(#"{"group":"#), let last = line.lastIndex(of: ",") else { return line }
                    return line[..<last] + "]}"
                }
                backup.pieces = [Backup.Piece(lines: lines, code: "")]
            }
            let answer = try backup.restore(in: one, by: 0, #","isAuthentic":true"#, replaces: true)
            try #require(answer.error == nil, "\(answer.text)")
            let groups = try keeper.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
            let counting = groups.filter { $0["namedByOther"] == nil }.compactMap { $0["name"]?.string }
            #expect(counting.filter { $0 == "Crew" } == named)
        }
    }

    @Test("An app never gets back what was taken from it, and loses what it had not at the time of the backup")
    func lower() throws {
        let fixture = try system()
        let keeper = try fill(fixture)
        let limited = try fixture.app("limited", .limited(to: fixture.records("Ada")))
        let wide = try fixture.app("wide", .limited(to: fixture.records("Ada")))
        let reset = try fixture.app("reset", .full)
        let backup = try Backup(of: fixture)
        // After the backup, one app gets less, one gets more, one is reset, and one is new.
        try fixture.grant(.denied, to: limited)
        try fixture.grant(.full, to: wide)
        fixture.grants.endGrant(reset.principal, detail: "reset")
        let young = try fixture.app("new", .limited(to: fixture.records("Cid")))
        let answer = try backup.restore(in: fixture, replaces: true)
        #expect(answer.error == nil, "\(answer.text)")
        #expect(answer.parameters["restored"]?.integer == 0)
        #expect(answer.parameters["lowered"]?.integer == 1 && answer.parameters["asking"]?.integer == 1)
        #expect(try limited.fetch().error == "AccessDenied")
        #expect(try wide.fetch().names == ["Ada"])
        #expect(fixture.access.grant(of: reset.principal) == nil)
        #expect(fixture.access.identifiers(for: reset.principal, sharesPersistentKey: true) == nil)
        #expect(try young.fetch().names == ["Cid"])
        #expect(try keeper.fetch().names.count == 3)
        #expect(try fixture.audit(.revocation).contains { $0.contains("limited") })
    }

    @Test(
        "The restored book replaces the present one, record numbers never go back, and apps learn of every difference")
    func replace() throws {
        let fixture = try system()
        let keeper = try fill(fixture)
        let limited = try fixture.app("mail", .limited(to: fixture.records("Ada").union(fixture.records("Cid"))))
        let backup = try Backup(of: fixture)
        let cid = try keeper.identifier(of: "Cid")
        try #require(try keeper.save([.delete(cid), .add(given: "Eve")]).error == nil)
        try #require(try keeper.save([.update(keeper.identifier(of: "Ada"), #""familyName":"L""#)]).error == nil)
        let (all, some) = (
            try #require(keeper.fetch().token), try #require(limited.fetch().token)
        )
        let eve = try #require(fixture.records("Eve").first)
        let full = try backup.restore(in: fixture)
        #expect(full.error == "InvalidValue" && full.parameters["parameter"]?.string == "replaces")
        #expect(try keeper.fetch().names.sorted() == ["Ada", "Dora", "Eve"])
        let answer = try backup.restore(in: fixture, replaces: true)
        #expect(answer.error == nil && answer.parameters["removed"]?.integer == 1, "\(answer.text)")
        #expect(try Backup(of: fixture).book == backup.book)
        let events = try keeper.history(all).events
        #expect(events.contains("addContact Cid") && events.contains("updateContact Ada"), "\(events)")
        #expect(events.count { $0 == "deleteContact" } == 1 && !events.contains { $0.contains("Eve") }, "\(events)")
        // The deleted contact left the limited app's set, and does not come back into it.
        #expect(try limited.fetch().names == ["Ada"])
        #expect(try limited.history(some).events == ["updateContact Ada"])
        try #require(try keeper.save([.add(given: "Fay")]).error == nil)
        let fay = try #require(fixture.records("Fay").first)
        #expect(fay > eve)
        #expect(try fixture.audit(.restore).count == 1)
    }

    @Test("A changed, shortened, reordered or foreign backup changes nothing")
    func forged() throws {
        let fixture = try system()
        let keeper = try fill(fixture)
        let older = try Backup(of: fixture)
        try #require(try keeper.save([.update(keeper.identifier(of: "Cid"), #""familyName":"C""#)]).error == nil)
        let backup = try Backup(of: fixture)
        try #require(backup.pieces.count >= 3)
        func refused(_ reason: String, _ parameter: String = "code", _ change: (inout Backup) -> Void) throws {
            var changed = backup
            change(&changed)
            let answer = try changed.restore(in: fixture, replaces: true)
            #expect(answer.error == "InvalidValue", "\(reason): \(answer.text)")
            #expect(answer.parameters["parameter"]?.string == parameter, "\(reason): \(answer.text)")
            #expect(try keeper.fetch().names.sorted() == ["Ada", "Cid", "Dora"])
        }
        try refused("another name") {
            $0.pieces[1].lines = $0.pieces[1].lines.map { $0.replacing("Cid", with: "Sid") }
        }
        try refused("a line is missing") { $0.pieces[1].lines.removeLast() }
        try refused("two lines joined") { $0.pieces[1].lines.swapAt(0, 1) }
        try refused("pieces swapped") { $0.pieces.swapAt(1, 2) }
        try refused("a piece is missing") { $0.pieces.remove(at: 1) }
        try refused("a piece twice") { $0.pieces.insert($0.pieces[1], at: 1) }
        try refused("no code") { $0.pieces[0].code = "" }
        try refused("the end is missing", "backup") { $0.pieces.removeLast() }
        try refused("nothing", "backup") { $0.pieces = [] }
        try refused("the end of another backup") {
            $0.pieces[$0.pieces.count - 1] = older.pieces[older.pieces.count - 1]
        }
        // Another machine has another key.
        let other = try system()
        _ = try fill(other)
        _ = try Backup(of: other)
        #expect(try backup.restore(in: other, replaces: true).parameters["parameter"]?.string == "code")
        #expect(try Backup(of: fixture).book == backup.book)
        #expect(BrokerFixture.names(in: fixture.folder + "/transfers").isEmpty)
    }

    @Test("Contacts of a backup that is not authentic become new contacts without identifiers, links, groups or access")
    func contactsOnly() throws {
        let one = try system()
        let keeper = try fill(one)
        var backup = try Backup(of: one)
        for index in backup.pieces.indices { backup.pieces[index].code = "" }
        let other = try system()
        let answer = try backup.restore(in: other, #","contactsOnly":true"#)
        #expect(answer.error == nil && answer.parameters["contacts"]?.integer == 4, "\(answer.text)")
        #expect(other.access.principals.isEmpty)
        let reader = try other.app("keeper", .full)
        #expect(try reader.fetch().names == ["Ada", "Bob", "Cid", "Dora"])
        #expect(try reader.call("ListGroups").parameters["groups"]?.count == 0)
        #expect(
            try reader.fetch().contacts.allSatisfy {
                try keeper.identifier(of: $0["givenName"]?.string ?? "") != $0["identifier"]?.string
            })
        let book = try Backup(of: other)
        #expect(book.lines("link").isEmpty && book.lines("handLink").isEmpty && book.lines("container").isEmpty)
        #expect(book.lines("card").allSatisfy { $0.contains(#""isUnsure":true"#) })
        #expect(try other.records("Ada").isDisjoint(with: one.records("Ada")))
        // An invalid contact refuses the whole backup.
        backup.pieces[1].lines = backup.pieces[1].lines.map { $0.replacing(#""Cid""#, with: #""\u0007""#) }
        let refused = try backup.restore(in: other, #","contactsOnly":true"#, replaces: true)
        #expect(refused.parameters["parameter"]?.string == "backup", "\(refused.text)")
        #expect(try reader.fetch().names.count == 4)
    }

    @Test("Every malformed line is refused")
    func malformed() throws {
        let fixture = try system()
        _ = try fill(fixture)
        let backup = try Backup(of: fixture)
        let root = { (lines: [String]) throws -> Answer in
            var changed = backup
            changed.pieces = [Backup.Piece(lines: lines, code: "")]
            return try changed.restore(in: fixture, by: 0, #","isAuthentic":true"#, replaces: true)
        }
        let header = try #require(backup.lines("backup").first)
        let card = try #require(backup.lines("card").first)
        let end = #"{"end":{"cards":0,"damaged":0}}"#
        let app =
            #"{"app":{"strength":"claimed","app":"x","grant":{"status":"limited","keys":[],"decidedBy":"person","decidedAt":1}}}"#
        for lines in [
            [end], [header, header, end], [header, end, end], [header, card, end], [header, "{}", end],
            [header, #"{"a":1,"b":2}"#, end], [header, #"{"unknown":1}"#, end], [header, "[]", end],
            [header, "7", end],
            [header.replacing(#""version":1"#, with: #""version":2"#), end],
            [header.replacing("user 1000", with: "somebody else"), end],
            [header, #"{"member":[1,2,0]}"#, end], [header, #"{"member":["a",2,0]}"#, end],
            [header, #"{"member":[1]}"#, end],
            [header, card, #"{"group":[9,"x","00",null,2]}"#, #"{"end":{"cards":1}}"#],
            [header, #"{"member":[1,99999999999999999999,0]}"#, end], [header, #"{"container":[-1,"x"]}"#, end],
            [header, #"{"group":[1,"x","zz",null]}"#, end], [header, #"{"link":[1,1]}"#, end],
            [header, #"{"card":{"record":1}}"#, #"{"end":{"cards":1}}"#],
            [header, #"{"card":{"record":1,"contact":{"givenName":7}}}"#, #"{"end":{"cards":1}}"#],
            [header, card, card, #"{"end":{"cards":2}}"#],
            [header, #"{"granted":[1]}"#, end],
            [header, app.replacing("limited", with: "full"), #"{"granted":[1]}"#, end],
            [header, app.replacing("limited", with: "restricted"), end],
            [header, app.replacing(#""keys":[]"#, with: #""keys":["nothing"]"#), end],
            [header, app.replacing(#""app":"x""#, with: #""app":"x","key":"00""#), end],
            [header, app.replacing("claimed", with: "certain"), end],
        ] {
            let answer = try root(lines)
            #expect(
                answer.error == "InvalidValue" || answer.error == "InvalidParameter",
                "\(lines.joined()): \(answer.text)")
        }
        #expect(try fixture.app("keeper").fetch().names.count == 3)
        // Without any card, it is a backup of an empty book.
        let empty = try root([header, end])
        #expect(empty.error == nil, "\(empty.text)")
        #expect(try fixture.app("keeper").fetch().names.isEmpty)
    }

    @Test("Each needs a password, root alone backs up others, and nobody but root says that a backup is authentic")
    func rights() throws {
        let authority = TestAuthority()
        let fixture = try BrokerFixture(authority: authority)
        _ = try fixture.keeper(adding: "Ada")
        let ctl = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        _ = try ctl.begin("BackUp", #"{"allowInteractiveAuthentication":true}"#, more: true)
        #expect(authority.open.map(\.action) == [.backUp])
        try authority.answer(.refused)
        _ = try ctl.begin("BeginRestore", #"{"allowInteractiveAuthentication":true}"#)
        #expect(authority.open.map(\.action) == [.restore])
        try authority.answer(.refused)
        for call in ["RestoreLines", "FinishRestore"] { #expect(try ctl.call(call).error == "InvalidValue") }
        for method in ["BackUp", "BeginRestore"] {
            #expect(
                try ctl.call(method, #"{"uid":1001,"allowInteractiveAuthentication":true}"#).error == "NotAuthorized")
        }
        let root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        #expect(try root.call("BackUp", #"{"uid":1000}"#).error == "ExpectedMore")
        #expect(try root.call("ListUsers").parameters["users"]?.elements?.map(\.integer) == [1_000])
        let sandboxed = TestApp(
            fixture: fixture, caller: fixture.caller("contactctl", strength: .sandboxed), interface: .admin)
        #expect(try sandboxed.call("BackUp").error == "NotAuthorized")
        let begun = try ctl.begin(
            "BeginRestore", #"{"isAuthentic":true,"allowInteractiveAuthentication":true}"#)
        try authority.answer(.granted)
        #expect(try ctl.replies(1, to: begun)[0].parameters["parameter"]?.string == "isAuthentic")
    }

    @Test("In session mode a restore gives no app access, because no password is asked")
    func session() throws {
        let one = try BrokerFixture()
        let keeper = try fill(one)
        let before = try whole(keeper)
        let backup = try Backup(of: one)
        let other = try BrokerFixture()
        try Backup.copyKey(from: one, to: other)
        let answer = try backup.restore(in: other)
        #expect(answer.error == nil && answer.parameters["asking"]?.integer == 1, "\(answer.text)")
        #expect(other.access.principals.isEmpty)
        // If the person allows the app again, it has the same identifiers.
        #expect(try whole(other.app("keeper", .full)) == before)
    }

    @Test("A crash right after the book was replaced loses neither the contacts nor the record")
    func crash() throws {
        let fixture = try system()
        let keeper = try fill(fixture)
        let backup = try Backup(of: fixture)
        try #require(try keeper.save([.add(given: "Eve")]).error == nil)
        let ctl = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        let answer = try backup.restore(through: ctl, replaces: true) {
            // The access database cannot be written from now on.
            _ = try fixture.access.file.writer?.connection.integer("PRAGMA query_only = 1")
        }
        #expect(answer.parameters["parameter"]?.string == "state")
        try fixture.crash()
        #expect(try fixture.app("keeper").fetch().names.sorted() == ["Ada", "Cid", "Dora"])
        #expect(try fixture.audit(.save).contains { $0.contains("restored from the backup of") })
    }

    @Test("A restore that is not finished leaves nothing, and one at a time runs for a user")
    func unfinished() throws {
        let fixture = try system()
        _ = try fill(fixture)
        let backup = try Backup(of: fixture)
        let ctl = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        var part = backup
        part.pieces.removeLast()
        #expect(try part.restore(through: ctl, replaces: true).parameters["parameter"]?.string == "backup")
        #expect(BrokerFixture.names(in: fixture.folder + "/transfers").count == 1)
        #expect(try backup.restore(in: fixture).parameters["parameter"]?.string == "uid")
        ctl.hangUp()
        #expect(fixture.loop.run { BrokerFixture.names(in: fixture.folder + "/transfers").isEmpty })
        #expect(try backup.restore(in: fixture, replaces: true).error == nil)
        // What an earlier run left is removed at the start.
        let left = fixture.folder + "/transfers/restore-1000-9"
        try #require(mkdir(left, 0o700) == 0)
        try fixture.restart()
        #expect(access(left, F_OK) != 0)
    }
}
