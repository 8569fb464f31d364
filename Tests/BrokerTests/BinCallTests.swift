import BrokerAccessControl
import BrokerBooks
import BrokerCalls
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerVarlink
import Testing

@testable import BrokerCore

@Suite("Setting the days of the bin, and removing something from it")
struct BinCallTests {
    private static let names = ["Ada", "Bob"].map { Change.add(given: $0, extra: #","familyName":"Noren""#) }

    /// A broker whose user has deleted two contacts, and an administrator's connection of that user.
    private struct Deleted {
        let fixture: BrokerFixture
        let mail: TestApp
        let administrator: TestApp
        /// The number of the save that deleted them.
        let save: Int64

        init(_ fixture: BrokerFixture) throws {
            self.fixture = fixture
            mail = try fixture.app("mail", .full)
            try #require(try mail.save(BinCallTests.names).error == nil)
            try #require(
                try mail.save([.delete(mail.identifier(of: "Ada")), .delete(mail.identifier(of: "Bob"))]).error == nil)
            administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
            save = 2
        }

        func contactctl(uid: UInt32 = 1_000) -> TestApp {
            TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: uid), interface: .admin)
        }

        /// What `GetBin` replies now: days, the next days and the number of saves.
        func bin() throws -> [Int64?] {
            let bin = try contactctl(uid: 0).call("GetBin", #"{"uid":1000}"#).parameters
            return ["days", "nextDays", "saves"].map { bin[$0]?.integer }
        }

        /// How many contacts a put-back of the save would bring back.
        func returns() throws -> Int64? {
            try contactctl(uid: 0).call("PutBack", #"{"uid":1000,"save":\#(save),"dryRun":true}"#)
                .parameters["returned"]?.integer
        }
    }

    private static let interactive = #""allowInteractiveAuthentication":true"#

    // MARK: Days

    @Test("More days apply at once, and fewer after 24 hours, also if the broker is restarted meanwhile")
    func days() throws {
        let deleted = try Deleted(BrokerFixture())
        let ctl = deleted.administrator
        #expect(try deleted.bin() == [30, nil, 2])
        #expect(try ctl.call("SetBinDays", #"{"days":60}"#).parameters["days"]?.integer == 60)
        let refused = try ctl.call("SetBinDays", #"{"days":59}"#)
        #expect(refused.error == "InvalidValue" && refused.parameters["parameter"]?.string == "shorter")
        #expect(try deleted.bin() == [60, nil, 2])
        let reply = try ctl.call("SetBinDays", #"{"days":0,"shorter":true}"#).parameters
        #expect(reply["days"]?.integer == 60 && reply["nextDays"]?.integer == 0 && reply["nextAt"]?.string != nil)
        deleted.fixture.loop.advance(by: .seconds(86_300))
        try deleted.fixture.restart()
        #expect(try deleted.bin() == [60, 0, 2])
        #expect(try deleted.returns() == 2)
        deleted.fixture.loop.advance(by: .seconds(100))
        #expect(try deleted.bin() == [0, nil, 2])
        // The broker looks every hour.
        deleted.fixture.loop.advance(by: .seconds(3_600))
        try #require(deleted.fixture.loop.run { (try? deleted.bin()) == [0, nil, 0] })
        #expect(
            try deleted.fixture.audit(.bin) == ["60 days instead of 30", "0 days instead of 60 in 24 hours"])
        // Absent days are the default.
        #expect(try deleted.contactctl().call("SetBinDays", "{}").parameters["days"]?.integer == 30)
    }

    @Test(
        "Days that are none, and a contact without its save, are refused",
        arguments: [
            ("SetBinDays", #""days":-1"#), ("SetBinDays", #""days":3651"#), ("SetBinDays", #""days":"5""#),
            ("SetBinDays", #""day":5"#), ("EmptyBin", #""save":2"#), ("EmptyBin", #""contact":"Ada Noren""#),
            ("EmptyBin", #""save":2,"contact":"Ada""#), ("EmptyBin", #""save":2,"contact":"Noren""#),
            ("EmptyBin", #""save":9,"contact":"Ada Noren""#), ("EmptyBin", #""saves":2"#),
            ("EmptyBin", #""save":2,"contact":"Ada Noren","empty":true"#),
        ])
    func mistakes(method: String, fields: String) throws {
        let deleted = try Deleted(BrokerFixture())
        let error = try deleted.administrator.call(method, "{\(fields)}").error
        #expect(["InvalidParameter", "InvalidValue"].contains(error ?? ""), "\(error ?? "")")
        #expect(try deleted.bin() == [30, nil, 2] && deleted.returns() == 2)
        #expect(try deleted.fixture.audit(.bin).isEmpty)
    }

    @Test("Of two contacts with one name none is removed")
    func twins() throws {
        let deleted = try Deleted(BrokerFixture())
        #expect(try deleted.mail.save([Self.names[0], Self.names[0]]).error == nil)
        let answer = try deleted.administrator.call("EmptyBin", #"{"save":3,"contact":"Ada Noren"}"#)
        #expect(answer.error == "InvalidValue" && answer.text.contains("2 contacts"), "\(answer.text)")
        #expect(try deleted.fixture.audit(.bin).isEmpty)
    }

    // MARK: Removing

    @Test("An emptied bin has nothing to put back, and the audit says who emptied it")
    func empties() throws {
        let deleted = try Deleted(BrokerFixture())
        #expect(try deleted.administrator.call("EmptyBin", "{}").error == nil)
        #expect(try deleted.bin() == [30, nil, 0])
        #expect(try deleted.administrator.call("PutBack", #"{"save":\#(deleted.save)}"#).error == "InvalidValue")
        let records = try deleted.administrator.call("QueryAudit", #"{"event":"bin"}"#).parameters["records"]?.elements
        let record = try #require(records?.first { _ in true })
        #expect(record["app"]?.string == "contactctl" && record["detail"]?.string == "emptied")
        #expect(try deleted.fixture.audit(.lookUp).isEmpty)
    }

    @Test("One contact is removed from all saves, on record without its name, and the others come back")
    func removes() throws {
        let deleted = try Deleted(BrokerFixture())
        let answer = try deleted.administrator.call("EmptyBin", #"{"save":2,"contact":"noren ADA"}"#)
        #expect(answer.error == nil, "\(answer.text)")
        let made = try deleted.administrator.call("PutBack", #"{"save":2}"#).parameters
        #expect(made["returned"]?.integer == 1 && made["lost"]?.integer == 1)
        #expect(try deleted.mail.fetch().names == ["Bob"])
        #expect(try deleted.fixture.audit(.bin) == ["removed a contact"])
        #expect(try deleted.fixture.audit(.lookUp) == ["contacts in the bin"])
        #expect(try deleted.fixture.recordedContacts(.bin) == 1)
        // Its name is not in the bin any more.
        let again = try deleted.administrator.call("EmptyBin", #"{"save":2,"contact":"Ada Noren"}"#)
        #expect(again.error == "InvalidValue")
    }

    @Test("What was removed does not come back with a backup, nor with the days that it sets")
    func backup() throws {
        let deleted = try Deleted(BrokerFixture())
        let backup = try Backup(of: deleted.fixture)
        #expect(try deleted.administrator.call("SetBinDays", #"{"days":5,"shorter":true}"#).error == nil)
        #expect(try deleted.administrator.call("EmptyBin", #"{"save":2,"contact":"Ada Noren"}"#).error == nil)
        #expect(try backup.restore(in: deleted.fixture, replaces: true).error == nil)
        #expect(try deleted.bin() == [30, 5, 3])
        let forced = try deleted.administrator.call("PutBack", #"{"save":2,"force":true}"#).parameters
        #expect(forced["returned"]?.integer == 1 && forced["lost"]?.integer == 1)
    }

    // MARK: Who may

    @Test(
        "Removing, and fewer days, need a password of their own; showing, and more days, need none",
        arguments: [
            ("SetBinDays", #""days":5,"shorter":true"#), ("SetBinDays", #""days":0,"shorter":true"#), ("EmptyBin", ""),
            ("EmptyBin", #""save":2,"contact":"Ada Noren""#),
        ])
    func passwords(method: String, fields: String) throws {
        let authority = TestAuthority()
        let deleted = try Deleted(BrokerFixture(authority: authority, mode: .system))
        let ctl = deleted.administrator
        #expect(try ctl.call("GetBin").parameters["days"]?.integer == 30)
        #expect(try ctl.call("SetBinDays", #"{"days":31}"#).error == nil)
        #expect(try ctl.call("SetBinDays", #"{"days":30}"#).parameters["parameter"]?.string == "shorter")
        #expect(authority.asked.isEmpty)
        let parameters = "{\(fields)\(fields.isEmpty ? "" : ",")\(Self.interactive)}"
        for answer in refusals {
            let call = try ctl.begin(method, parameters)
            #expect(authority.open.map(\.action) == [.emptyBin])
            try authority.answer(answer)
            #expect(try ctl.replies(to: call).map(\.error) == ["NotAuthorized"])
        }
        #expect(try deleted.bin() == [31, nil, 2] && deleted.returns() == 2)
        #expect(try deleted.fixture.audit(.bin) == ["31 days instead of 30"])
        let call = try ctl.begin(method, parameters)
        try authority.answer(.granted)
        try #require(deleted.fixture.loop.run { call.isOver })
        #expect(try ctl.replies(to: call).map(\.error) == [nil])
        #expect(try deleted.fixture.audit(.bin).count == 2)
        // One password is for one call.
        _ = try ctl.begin(method, parameters)
        #expect(authority.open.map(\.action) == [.emptyBin])
    }

    @Test(
        "An app, a sandboxed program and another user can do nothing, and an administrator who is not root cannot, either"
    )
    func others() throws {
        let deleted = try Deleted(BrokerFixture(authority: TestAuthority([.admin: .granted, .emptyBin: .granted])))
        let calls = [
            ("SetBinDays", #""days":60"#), ("SetBinDays", #""days":0,"shorter":true"#), ("EmptyBin", ""),
            ("EmptyBin", #""save":2,"contact":"Ada Noren""#),
        ]
        let fixture = deleted.fixture
        let sandboxed = TestApp(
            fixture: fixture, caller: fixture.caller("mail", strength: .sandboxed), interface: .admin)
        for (method, fields) in calls {
            let own = "{\(fields)}"
            let named = "{\(fields)\(fields.isEmpty ? "" : ",")\"uid\":1000}"
            #expect(try deleted.contactctl(uid: 1_001).call(method, named).error == "NotAuthorized", "\(method)")
            #expect(try sandboxed.call(method, own).error == "NotAuthorized", "\(method)")
            #expect(try deleted.mail.call(method, own).error == "MethodNotFound", "\(method)")
        }
        // Another user's own bin is another one.
        let neighbor = deleted.contactctl(uid: 1_001)
        #expect(try neighbor.call("EmptyBin").error == "InvalidValue")
        #expect(try deleted.bin() == [30, nil, 2] && deleted.returns() == 2)
        #expect(try fixture.audit(.bin).isEmpty)
        let root = deleted.contactctl(uid: 0)
        #expect(
            try root.call("EmptyBin", #"{"uid":1000,"save":2,"contact":"Ada Noren"}"#).error == "InvalidValue")
        #expect(try deleted.returns() == 2)
        #expect(try root.call("EmptyBin", #"{"uid":1000}"#).error == nil)
        #expect(try fixture.audit(.bin) == ["emptied, by root"])
    }

    @Test("Nothing is removed if that cannot be recorded")
    func unrecorded() throws {
        let disk = SlowDisk(waits: false)
        let deleted = try Deleted(BrokerFixture(disk: disk))
        disk.fail()
        let answer = try deleted.administrator.call("EmptyBin", "{}")
        #expect(answer.error == "InvalidValue" && answer.text.contains("nothing was done"), "\(answer.text)")
        let book = try #require(deleted.fixture.broker.books.ready(1_000) ?? nil)
        #expect(try book.bin(at: 0).saves == 2)
    }
}
