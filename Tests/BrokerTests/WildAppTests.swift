import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Glibc
import Testing

@testable import BrokerCore

@Suite("An app that goes wild", .timeLimit(.minutes(10)))
struct WildAppTests {
    private static let (contacts, groups) = (10_000, 40)
    private static let megabyte = 1_048_576
    /// With `CONTACTBROKER_BIN_FULL=1`, the apps churn a gigabyte in a bin of the usual size. Otherwise the part of the bin
    /// that the deletions leave, and what the apps churn in it, are both smaller.
    private static let isFull = getenv("CONTACTBROKER_BIN_FULL") != nil
    private static let churned = isFull ? 1_024 : 96

    private static func bounds() -> SpaceBounds {
        var bounds = SpaceBounds()
        if !isFull { (bounds.binOfAssumableApps, bounds.binOfOtherApps) = (Int64(60 * megabyte), Int64(8 * megabyte)) }
        return bounds
    }

    @Test("It deletes 10,000 contacts with photos, twenty apps churn in the bin, and one command brings all back")
    func comesBack() throws {
        let fixture = try BrokerFixture(space: Self.bounds())
        try Self.fill(fixture)
        let keeper = try fixture.app("keeper", .full, keys: .all)
        let single = try fixture.app("single", strength: .sandboxed)
        try fixture.settle(.limited(to: Set(Self.records(where: { $0 % 13 == 0 }))), for: single)
        let family = try fixture.app("family", strength: .sandboxed)
        try share("Group 3", with: family, fixture)
        let apps = [keeper, single, family]
        let (seen, grants, backup) =
            (try apps.map(Seen.init), apps.map { fixture.access.grant(of: $0.principal) }, try Backup(of: fixture))
        #expect(seen.map(\.cards.count) == [Self.contacts, 770, 250])

        let wild = try fixture.app("wild", .full)
        try deleteAll(by: wild)
        #expect(try apps.map { try Seen($0).cards.count } == [0, 0, 0])
        let refused = try churn(fixture)
        #expect(refused > 0, "the bin was never full")

        // It takes back what it can of its deletions at once, and deletes that again.
        let taken = try wild.call("TakeBack", #"{"group":"wild","mayAsk":false}"#)
        #expect(taken.error == nil && taken.parameters["returned"]?.integer ?? 0 > 0, "\(taken.text)")
        let back = try Seen(wild).cards.keys.sorted()
        #expect(back.count == Int(taken.parameters["returned"]?.integer ?? 0))
        #expect(try wild.save(back.map { .delete($0) }).error == nil)

        let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        var call: Call?
        let time = try ContinuousClock().measure {
            let begun = try administrator.begin("PutBack", #"{"app":"wild","since":"2000-01-01"}"#)
            // On a slow machine it takes longer than the loop waits for new work.
            for _ in 0..<30 where !begun.isOver { _ = fixture.loop.run { begun.isOver } }
            call = begun
        }
        let answer = try administrator.replies(to: #require(call)).last
        print("Put back in \(time); \(refused) saves of the other apps were refused.")
        let counts = try ["returned", "changed", "removed", "conflicts", "lost", "groups"].map {
            try #require(answer?.parameters[$0]?.integer)
        }
        #expect(counts == [Int64(Self.contacts), 0, 0, 0, 0, Int64(Self.groups + 1)])
        try expect(seen, grants, apps, fixture)
        let (now, before) = (Set(try Backup(of: fixture).book), Set(backup.book))
        // The number of cards, and what grants share of groups.
        let others = ["end", "sharedGroups", "joined"].map { "{\"\($0)\":" }
        let isOfBook = { (line: String) in !others.contains { line.hasPrefix($0) } }
        #expect(before.subtracting(now).filter(isOfBook).isEmpty)
        #expect(now.subtracting(before).filter(isOfBook).allSatisfy { $0.contains("Churn") })
        // The next start finds the same.
        try fixture.restart()
        let again = try [
            fixture.app("keeper"), fixture.app("single", strength: .sandboxed),
            fixture.app("family", strength: .sandboxed),
        ]
        try expect(seen, grants, again, fixture)
    }

    // MARK: What there is

    /// What an app is told of the book.
    private struct Seen {
        /// By identifier, as JSON.
        private(set) var contacts: [String: String] = [:]
        private(set) var cards: [String: String] = [:]
        let groups, containers: String
        let me: [String]

        init(_ app: TestApp) throws {
            contacts = try Self.contacts(app, unify: true)
            cards = try Self.contacts(app, unify: false)
            groups = try app.call("ListGroups").text
            containers = try app.call("ListContainers").text
            me = try app.fetch(#""predicate":{"me":true}"#).contacts.map { String(decoding: $0.text, as: UTF8.self) }
        }

        private static func contacts(_ app: TestApp, unify: Bool) throws -> [String: String] {
            let granted = app.fixture.access.grant(of: app.principal)?.keys ?? .all
            let keys = ContactKey.allCases.filter { granted.contains($0) }.map { "\"\($0.rawValue)\"" }
            var found: [String: String] = [:]
            var next = ""
            repeat {
                let page = try app.call(
                    "FetchContacts",
                    #"{"keys":[\#(keys.joined(separator: ","))],"sortOrder":"none","unify":\#(unify),"limit":500\#(next)}"#
                )
                try #require(page.error == nil, "\(page.text.prefix(200))")
                for contact in page.contacts {
                    let text = String(decoding: contact.text, as: UTF8.self)
                    if !text.contains("Churn") { found[contact["identifier"]?.string ?? ""] = text }
                }
                next = page.parameters["next"]?.string.map { #","after":"\#($0)""# } ?? ""
            } while !next.isEmpty
            return found
        }
    }

    /// Expects what the apps saw before, and the grants that they had. Names what differs in few words, because photos are
    /// long.
    private func expect(_ seen: [Seen], _ grants: [Grant?], _ apps: [TestApp], _ fixture: BrokerFixture) throws {
        for (before, (grant, app)) in zip(seen, zip(grants, apps)) {
            let now = try Seen(app)
            let name = app.caller.app
            #expect(before.contacts.filter { now.contacts[$0.key] != $0.value }.isEmpty, "unified, \(name)")
            #expect(before.cards.filter { now.cards[$0.key] != $0.value }.isEmpty, "cards, \(name)")
            #expect(now.contacts.count == before.contacts.count && now.cards.count == before.cards.count, "\(name)")
            #expect(now.groups == before.groups && now.containers == before.containers, "\(name)")
            #expect(now.me == before.me, "\(name)")
            let present = fixture.access.grant(of: app.principal)
            #expect(present?.access == grant?.access, "\(name)")
            #expect(present?.groups == grant?.groups, "\(name)")
            #expect(present?.keys == grant?.keys && present?.changes == grant?.changes, "\(name)")
        }
    }

    // MARK: The book

    private static let work = RecordNumber(60_000)
    private static func record(_ place: Int) -> RecordNumber { RecordNumber(Int64(place + 1)) }
    private static func records(where isWanted: (Int) -> Bool) -> [RecordNumber] {
        (0..<contacts).filter(isWanted).map(record)
    }
    private static func group(_ place: Int) -> RecordNumber { RecordNumber(Int64(50_000 + place)) }

    /// A text in base64 that no other contact has.
    private static func photo(_ number: Int, _ length: Int) -> String {
        let digits = "\(number)"
        return "/9j/" + String(repeating: "0", count: 12 - digits.utf8.count) + digits
            + String(repeating: "QUJD", count: length / 4 - 4)
    }

    /// Writes a book that has everything that a book can have, long ago.
    private static func fill(_ fixture: BrokerFixture) throws {
        let book = try #require(
            try ContactsStore.open(
                folder: fixture.book, owner: StoreOwner(uid: 1_000, name: fixture.names[1_000]), creating: true,
                onDamage: { _ in }))
        defer { book.close() }
        let seconds = BrokerFixture.start / 1_000_000 - 40 * 86_400
        func save(_ changes: [ContactChange]) throws { try book.apply(changes, at: seconds, isEvidence: true) }
        try save([.container(.add(work, name: "Work"))])
        try save(
            (0..<contacts).map { .add(record($0), contact($0)) }
                + records { $0 % 5 == 0 }.map { .container(.put($0, isGroup: false, in: work)) })
        try save(
            (0..<contacts).map { .thumbnail(record($0), Array(photo($0, 200).utf8), of: Array(photo($0, 2_800).utf8)) })
        try save(
            (0...groups).map { .group(.add(group($0), name: "Group \($0)", owner: [])) }
                + [.container(.put(group(0), isGroup: true, in: work))])
        try save((0..<contacts).map { .group(.addMember(record($0), to: group($0 % groups))) })
        // The last group contains the others, and one of them contains another.
        try save(
            (0..<groups).map { .group(.addSubgroup(group($0), to: group(groups), visible: nil)) }
                + [.group(.addSubgroup(group(2), to: group(1), visible: nil)), .group(.setMe(record(7)))])
        // Ten sets of ten cards, linked by hand, and pairs in two containers, linked by evidence, of which some were separated.
        try save((0..<100).filter { $0 % 10 != 0 }.map { .link(.link(record($0 / 10 * 10), record($0))) })
        try save((0..<20).map { .link(.unlink(record(9_001 + 2 * $0), from: record(9_000 + 2 * $0))) })
    }

    private static func contact(_ place: Int) -> Contact {
        // From the 9,000th on, two contacts each have a name and an address in common.
        let person = place < 9_000 ? place : place / 2 * 2
        var contact = Contact()
        (contact.givenName, contact.familyName) = ("Ada\(person)", "Lovelace\(person % 700)")
        contact.emailAddresses = [LabeledString(label: "home", value: "ada\(person)@example.org")]
        contact.phoneNumbers = [
            LabeledString(label: "work", value: "+49 30 \(1_000_000 + place)"), LabeledString(value: "7"),
        ]
        contact.note = "Note \(place)"
        if place % 3 == 0 { contact.extraProperties = ["UID:uid-\(place)", "X-ONE:\(place)"] }
        if place % 4 == 0 { contact.organizationName = "Company \(place % 90)" }
        contact.imageData = photo(place, 2_800)
        return contact
    }

    private func share(_ group: String, with app: TestApp, _ fixture: BrokerFixture) throws {
        let person = try TestPerson(fixture: fixture)
        _ = try app.begin("RequestAccess")
        var prompt: TestPerson.Prompt?
        try #require(
            fixture.loop.run {
                prompt = try? person.prompts().last
                return prompt != nil
            })
        let asked = try #require(prompt)
        let row = try #require(person.rows(asked, query: group).first { $0.members != nil })
        #expect(try person.answer(asked, #""level":"limited","identifiers":["\#(row.identifier)"]"#).error == nil)
        person.leave()
    }

    // MARK: The apps

    /// Deletes all contacts, in saves as large as they may be, then all groups, the container, and the own card with them.
    private func deleteAll(by app: TestApp) throws {
        let cards = try Array(Seen(app).cards.keys)
        try #require(cards.count == Self.contacts)
        for start in stride(from: 0, to: cards.count, by: 2_000) {
            let steps = cards[start..<start + 2_000].map { Change.delete($0).text }.joined(separator: ",")
            let saved = try app.call("SaveContacts", #"{"changes":[\#(steps)],"mayAsk":false,"group":"wild"}"#)
            #expect(saved.error == nil)
        }
        let listed = try #require(try app.call("ListGroups").parameters["groups"]?.elements.map(Array.init))
        #expect(
            try app.save(listed.map { GroupTests.whole("delete", $0["identifier"]?.string ?? "") }).error == nil)
        let containers = try app.call("ListContainers").parameters["containers"]?.elements.map(Array.init) ?? []
        let work = try #require(containers.first { $0["name"]?.string == "Work" }?["identifier"]?.string)
        #expect(try app.save([.other(#"{"operation":"deleteContainer","container":"\#(work)"}"#)]).error == nil)
    }

    /// Twenty apps add contacts with photos, replace the photos, change each other's contacts and delete them.
    ///
    /// - Returns: how many of the saves were refused, because the bin had no room for what they would have changed.
    private func churn(_ fixture: BrokerFixture) throws -> Int {
        let strengths: [IdentityStrength] = [.claimed, .installed, .unverified, .sandboxed]
        let apps = try (0..<20).map { place in
            try fixture.app(
                "churn\(place)", place % 5 == 4 ? .limited(to: []) : .full, strength: strengths[place % strengths.count]
            )
        }
        var refused = 0
        func save(_ change: Change, by app: TestApp) throws -> String? {
            let answer = try app.save([change])
            if answer.error != nil {
                #expect(answer.error == "LimitExceeded", "\(answer.text)")
                refused += 1
            }
            return answer.strings("identifiers").first
        }
        func photo(_ number: Int) -> String { #""imageData":"\#(Self.photo(number, Self.megabyte))""# }
        for round in 0..<Self.churned / 2 {
            let (app, other) = (apps[round % 20], apps[(round + 1) % 20])
            let name = "Churn\(round)"
            guard let own = try save(.add(given: name, extra: "," + photo(2 * round)), by: app) else { continue }
            // Three of four apps see all contacts, and so those that others added.
            if round % 2 == 0, let seen = try other.fetch(#""predicate":{"name":"\#(name)"}"#).contacts.first {
                let identifier = seen["identifier"]?.string ?? ""
                _ = try save(.update(identifier, photo(2 * round + 1)), by: other)
                _ = try save(.delete(identifier), by: other)
            } else {
                _ = try save(.update(own, photo(2 * round + 1)), by: app)
                _ = try save(.delete(own), by: app)
            }
        }
        return refused
    }
}
