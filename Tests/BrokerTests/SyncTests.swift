import BrokerAccessControl
import BrokerDisclosure
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerAppCalls
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("A client that applies a list and its events in order gets a copy of the book")
struct SyncTests {
    /// The client's copy: contacts and groups by identifier, and the members of each group.
    struct Copy: Equatable {
        var contacts: [String: String] = [:]
        var groups: Set<String> = []
        var links: Set<[String]> = []

        mutating func list(_ answer: Answer) {
            for contact in answer.contacts { put(contact) }
        }

        private mutating func put(_ contact: JSONValue) {
            contacts[contact["identifier"]?.string ?? ""] =
                "\(contact["givenName"]?.string ?? "") \(contact["nickname"]?.string ?? "")"
        }

        mutating func apply(_ answer: Answer) {
            for event in answer.parameters["events"]?.elements.map(Array.init) ?? [] {
                let identifier = event["identifier"]?.string ?? ""
                let link = [identifier, event["member"]?.string ?? ""]
                switch event["kind"]?.string {
                case "dropEverything": self = Copy()
                case "addContact", "updateContact", "granted": if let contact = event["contact"] { put(contact) }
                case "deleteContact", "revoked":
                    contacts[identifier] = nil
                    links = links.filter { $0[1] != identifier }
                case "addGroup", "updateGroup": groups.insert(identifier)
                case "deleteGroup":
                    groups.remove(identifier)
                    links = links.filter { !$0.contains(identifier) }
                case "addMember", "addSubgroup": links.insert(link)
                case "removeMember", "removeSubgroup": links.remove(link)
                default: Issue.record("an event of an unknown kind")
                }
            }
        }
    }

    /// Changes the book, and the contacts that the reader may see.
    private struct Writer {
        let fixture: BrokerFixture
        let keeper: TestApp
        let reader: TestApp
        let isLimited: Bool
        var numbers: SeededNumbers
        var cards: [String] = []
        var groups: [String] = []
        var count = 0

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &numbers) < percent }

        mutating func write() throws {
            count += 1
            let one = cards.randomElement(using: &numbers)
            let other = cards.randomElement(using: &numbers)
            let group = groups.randomElement(using: &numbers)
            let member = { (operation: String, card: String, group: String) in
                Change.other(
                    #"{"operation":"\#(operation)","group":{"name":"G","identifier":"\#(group)"},"member":"\#(card)"}"#)
            }
            switch Int.random(in: 0..<(isLimited ? 10 : 8), using: &numbers) {
            case 0...1 where cards.count < 12: cards += try save([.add(given: "N\(count)")])
            case 0...2:
                guard let one, cards.count > 3 else { return }
                cards.removeAll { $0 == one }
                try save([.delete(one)])
            case 3: if let one { try save([.update(one, #""nickname":"n\#(count)""#)]) }
            case 4: if let one, let other, one != other { try save([LinkTests.step("link", one, other)]) }
            case 5: if let one { try save([LinkTests.step("unlink", one, one)]) }
            case 6:
                guard groups.count < 2 || groups.count < 5 && chance(50) else {
                    guard let group else { return }
                    groups.removeAll { $0 == group }
                    return _ = try save([.other(#"{"operation":"delete","group":{"identifier":"\#(group)"}}"#)])
                }
                groups += try save([.other(#"{"operation":"add","group":{"name":"G"}}"#)])
            case 7:
                if let one, let group { try save([member(chance(60) ? "addMember" : "removeMember", one, group)]) }
            default:
                // Changes the granted set: contacts are granted, revoked and granted again.
                let cipher = try #require(fixture.grants.effectiveAccess(of: keeper.session).identifiers)
                let some = cards.filter { _ in chance(60) }.compactMap { cipher.named($0)?.record }
                try fixture.grant(.limited(to: Set(some)), keys: SyncTests.keys, to: reader)
            }
        }

        @discardableResult private func save(_ changes: [Change]) throws -> [String] {
            let answer = try keeper.save(changes)
            try #require(answer.error == nil, "\(answer.text)")
            return answer.strings("identifiers").filter { !$0.isEmpty }
        }
    }

    fileprivate static let keys = Grant.ordinaryKeys.union(.groups)

    @Test("A card that is linked to an earlier one while events are read is reported once, and the list ends")
    func linkedMeanwhile() throws {
        // A batch ends after its first contact, because the nickname alone exceeds the limit.
        let fixture = try BrokerFixture(bytesPerIteration: 100)
        let keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid", "Dora")
        let reader = try fixture.app("reader", .full)
        let identifiers = try ["Ada", "Bob", "Cid", "Dora"].map(keeper.identifier)
        var (copy, token) = (Copy(), String?.none)
        let keys = #""keys":["givenName","nickname"]"#
        for reply in try reader.stream("FetchContacts", "{\(keys)}") {
            copy.list(reply)
            token = reply.token ?? token
        }
        let nickname = String(repeating: "n", count: 200)
        for identifier in identifiers.dropFirst() {
            #expect(try keeper.save([.update(identifier, #""nickname":"\#(nickname)""#)]).error == nil)
        }
        reader.readsSlowly = true
        let call = try reader.begin("FetchHistory", #"{\#(keys),"token":"\#(token ?? "")"}"#, more: true)
        try #require(fixture.loop.run { reader.isBehind })
        #expect(try keeper.save([LinkTests.step("link", identifiers[0], identifiers[2])]).error == nil)
        for _ in 0..<20 where !call.isOver {
            try #require(fixture.loop.run { call.isOver || reader.isBehind })
            reader.readOn()
        }
        try #require(fixture.loop.run { call.isOver || reader.isBehind })
        try #require(call.isOver, "the same batch repeats")
        reader.readsSlowly = false
        let replies = try reader.replies(to: call)
        for reply in replies { copy.apply(reply) }
        for reply in try reader.stream(
            "FetchHistory", #"{\#(keys),"token":"\#(replies.last?.token ?? "")"}"#)
        { copy.apply(reply) }
        var book = Copy()
        for reply in try reader.stream("FetchContacts", "{\(keys)}") { book.list(reply) }
        #expect(copy == book)
        #expect(book.contacts.count == 3)
    }

    @Test(
        "The copy equals the book, whatever is saved, granted and revoked between the batches",
        arguments: [(false, false), (false, true), (true, false), (true, true)])
    func rounds(isLimited: Bool, unify: Bool) throws {
        let seed: UInt64 = 19 + (isLimited ? 2 : 0) + (unify ? 1 : 0)
        let fixture = try BrokerFixture(contactsPerIteration: 2)
        let keeper = try fixture.app("keeper", .full)
        let reader = try fixture.app("reader", isLimited ? .limited(to: []) : .full, keys: Self.keys)
        var writer = Writer(
            fixture: fixture, keeper: keeper, reader: reader, isLimited: isLimited, numbers: SeededNumbers(seed: seed))
        for _ in 0..<30 { try writer.write() }
        let common = #""keys":["givenName","nickname"],"unify":\#(unify)"#

        /// Makes a call with `more` while the writer continues. Returns `nil` if a revocation ended the call.
        func stream(_ method: String, _ parameters: String) throws -> [Answer]? {
            reader.readsSlowly = true
            defer { reader.readsSlowly = false }
            let call = try reader.begin(method, parameters, more: true, turning: false)
            while !call.isOver {
                try #require(fixture.loop.run { call.isOver || reader.isBehind }, "no answer")
                guard !call.isOver else { break }
                while writer.chance(60) { try writer.write() }
                reader.readOn()
            }
            let replies = try reader.replies(to: call)
            return replies.contains { $0.error != nil } ? nil : replies
        }

        var lists = 0
        for round in 0..<250 {
            let withGroups = writer.chance(50)
            var (copy, token) = (Copy(), String?.none)
            let first =
                withGroups
                ? try stream("FetchHistory", #"{\#(common),"includeGroups":true}"#)
                : try stream("FetchContacts", "{\(common)}")
            guard let first else { continue }
            for reply in first {
                if withGroups { copy.apply(reply) } else { copy.list(reply) }
                token = reply.token ?? token
            }
            lists += 1
            for last in [false, false, true] {
                if !last { for _ in 0..<3 { try writer.write() } }
                let since = #"{\#(common),"includeGroups":\#(withGroups),"token":"\#(token ?? "")"}"#
                let replies = last ? try reader.stream("FetchHistory", since) : try stream("FetchHistory", since)
                guard let replies else { continue }
                for reply in replies {
                    copy.apply(reply)
                    token = reply.token ?? token
                }
            }
            var book = Copy()
            for reply in try reader.stream("FetchHistory", #"{\#(common),"includeGroups":\#(withGroups)}"#) {
                book.apply(reply)
            }
            guard copy == book else {
                let extra = copy.contacts.filter { book.contacts[$0.key] != $0.value }
                let missing = book.contacts.filter { copy.contacts[$0.key] != $0.value }
                Issue.record(
                    """
                    Seed \(seed), round \(round), groups \(withGroups): the copy has \(extra.values.sorted()) that are not in the \
                    book, lacks \(missing.values.sorted()), memberships \(copy.links.count) of \(book.links.count), \
                    groups \(copy.groups.count) of \(book.groups.count)
                    """)
                return
            }
        }
        #expect(lists > 50, "too few lists in this run")
    }
}
