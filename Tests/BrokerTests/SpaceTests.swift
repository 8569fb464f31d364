import BrokerAccessControl
import BrokerBounds
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Limits on the size of address books")
struct SpaceTests {
    private static let megabyte = 1_048_576

    private func fixture(book: Int, app: Int, mode: BrokerMode = .session) throws -> BrokerFixture {
        var bounds = SpaceBounds()
        (bounds.book, bounds.app) = (Int64(book * Self.megabyte), Int64(app * Self.megabyte))
        return try BrokerFixture(space: bounds, mode: mode)
    }

    private static func photo(_ megabytes: Int) -> String { String(repeating: "QUJD", count: megabytes * megabyte / 4) }

    private func add(_ name: String, _ megabytes: Int = 1) -> Change {
        .add(given: name, extra: #","imageData":"\#(Self.photo(megabytes))""#)
    }

    @Test("An app with full access that fills the book learns the limit, and the size that the save would need")
    func full() throws {
        let fixture = try fixture(book: 4, app: 1)
        let keeper = try fixture.keeper(adding: "Ada")
        for name in ["a", "b", "c"] { #expect(try keeper.save([add(name)]).error == nil) }
        let refused = try keeper.save([add("d")])
        #expect(refused.error == "LimitExceeded")
        #expect(refused.parameters["limit"]?.string == "addressBook")
        #expect(refused.parameters["maximum"]?.integer == Int64(4 * Self.megabyte))
        #expect(
            refused.parameters["reason"]?.string
                == "the address book may use 4 MB and would use 5 MB: delete contacts or photos; an administrator can raise "
                + "limits.address_book_mb")
        #expect(try Set(keeper.fetch().names) == ["Ada", "a", "b", "c"])
        #expect(fixture.journal.lines.contains { $0.hasPrefix("the address book of user 1000 is full (4 MB): ") })
        #expect(try fixture.audit(.saveNotDone).count == 1)
        // Deleting is always possible, and frees space.
        #expect(try keeper.save([.delete(keeper.identifier(of: "a"))]).error == nil)
        #expect(try keeper.save([add("d")]).error == nil)
        // Another user has a book of their own.
        let other = try fixture.app("other", .full, uid: 1_001)
        #expect(try other.save([add("e", 2)]).error == nil)
    }

    @Test(
        "An app without full access has an allowance, whatever else is in the book; an app with full access has none",
        arguments: [Access.limited(to: []), .full])
    func limited(access: Access) throws {
        let fixture = try fixture(book: 100, app: 3)
        let keeper = try fixture.keeper(adding: "Ada")
        #expect(try keeper.save([add("a", 5)]).error == nil)
        // An app that sees all contacts but only some keys has an allowance too.
        let keys = access == .full ? ContactKeySet([.givenName, .imageData]) : Grant.ordinaryKeys
        let mail = try fixture.app("mail", access, keys: keys)
        for name in ["b", "c"] { #expect(try mail.save([add(name)]).error == nil) }
        let refused = try mail.save([add("d")])
        #expect(refused.error == "LimitExceeded")
        #expect(
            refused.text
                == #"{"limit":"addressBookPerApp","maximum":3145728,"reason":"this app may add 3 MB to the address book at once, "#
                + "and then 1 MB a day: delete contacts or photos that it added, or wait; an administrator can raise "
                + #"limits.address_book_mb_per_app"}"#)
        #expect(try keeper.save([add("e", 5)]).error == nil)
        #expect(try mail.save([.delete(mail.identifier(of: "b"))]).error == nil)
        #expect(try mail.save([add("d")]).error == nil)
        #expect(try mail.save([add("f")]).error == "LimitExceeded")
        fixture.loop.advance(by: .seconds(15 * 86_400))
        #expect(try mail.save([add("f")]).error == nil)
    }

    @Test("A limited app that finds the whole book full gets the same reply, whatever the size of the book")
    func coarse() throws {
        var texts: Set<String> = []
        for others in [5, 9] {
            let fixture = try fixture(book: 10, app: 100)
            let keeper = try fixture.keeper(adding: "Ada")
            #expect(try keeper.save([add("a", others)]).error == nil)
            let mail = try fixture.app("mail", .limited(to: []))
            let refused = try mail.save([add("b", 8)])
            #expect(refused.error == "LimitExceeded")
            texts.insert(refused.text)
            #expect(try mail.save([.add(given: "c")]).text == refused.text)
            fixture.loop.advance(by: .seconds(600))
            #expect(try mail.save([.add(given: "c")]).error == nil)
        }
        #expect(texts.count == 1)
        #expect(texts.first?.contains("the address book is full: delete contacts or photos") == true)
    }

    @Test("The status shows users the size of their own book, and root the sizes of all books")
    func status() throws {
        let fixture = try fixture(book: 50, app: 3, mode: .system)
        let keeper = try fixture.keeper(adding: "Ada")
        #expect(try keeper.save([add("a", 4)]).error == nil)
        let other = try fixture.app("other", .full, uid: 1_001)
        #expect(try other.save([add("b", 8)]).error == nil)
        func status(_ uid: UInt32) throws -> JSONValue {
            let caller = fixture.caller("contactctl", uid: uid, strength: .unverified)
            return try #require(
                try TestApp(fixture: fixture, caller: caller, interface: .admin).call("GetStatus").parameters["status"])
        }
        let own = try status(1_000)
        #expect(own["addressBookMB"]?.integer == 5)
        #expect(own["addressBookLimitMB"]?.integer == 50 && own["addressBookLimitPerAppMB"]?.integer == 3)
        #expect(own["addressBooks"] == nil)
        let without = try status(1_002)
        #expect(without["addressBookMB"] == nil && without["addressBookLimitMB"]?.integer == 50)
        let whole = try status(0)
        #expect(whole["addressBookMB"]?.integer == 13)
        let books = whole["addressBooks"]?.elements.map(Array.init) ?? []
        #expect(books.map { $0["uid"]?.integer } == [1_001, 1_000] && books.map { $0["MB"]?.integer } == [9, 5])
    }

    @Test("If there is no space for a proposed card, the person learns this and the app does not")
    func proposed() throws {
        let fixture = try fixture(book: 4, app: 1)
        let keeper = try fixture.keeper(adding: "Ada")
        #expect(try keeper.save([add("a", 3)]).error == nil)
        let person = try TestPerson(fixture: fixture)
        let mail = try fixture.app("mail")
        let call = try mail.begin("ProposeContact", #"{"contact":{"givenName":"Bob","imageData":"\#(Self.photo(2))"}}"#)
        var prompt: TestPerson.Prompt?
        try #require(
            fixture.loop.run {
                prompt = try? person.prompts().first
                return prompt != nil
            })
        let answer = try person.answer(try #require(prompt), #""addProposed":true"#)
        #expect(answer.error == "InvalidAnswer")
        #expect(answer.text.contains("the address book may use 4 MB and would use 6 MB"))
        #expect(try mail.replies(1, to: call).map(\.text) == ["{}"])
    }
}
