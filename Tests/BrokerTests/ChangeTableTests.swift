import BrokerAccessControl
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

/// Which right each step of a save needs, as a table. It follows from the rules about changes, not from the code.
enum ChangeTable {
    struct Row {
        let words: String
        /// Placeholders in angle brackets stand for the app's identifiers.
        let step: String
        /// The right that a limited app needs; `nil` if no right is enough.
        let limited: ChangeRight?
        let full: ChangeRight?

        init(_ words: String, _ step: String, limited: ChangeRight?, full: ChangeRight?) {
            (self.words, self.step, self.limited, self.full) = (words, step, limited, full)
        }
    }

    private static func contact(_ operation: String, _ name: String, _ fields: String = "") -> String {
        #""operation":"\#(operation)","contact":{"identifier":"<\#(name)>"\#(fields)}"#
    }

    private static func group(_ operation: String, _ name: String, member: String? = nil) -> String {
        #""operation":"\#(operation)","group":{"identifier":"<\#(name)>","name":"New"}"#
            + (member.map { #","member":"<\#($0)>""# } ?? "")
    }

    /// Steps that delete come last.
    static let rows = [
        Row("add a contact", #""operation":"add","contact":{"givenName":"New"}"#, limited: .own, full: .own),
        Row("add a group", #""operation":"add","group":{"name":"New"}"#, limited: .own, full: .own),
        Row("change its own card", contact("update", "mine", #","jobTitle":"x""#), limited: .own, full: .own),
        Row("change another card", contact("update", "ada", #","jobTitle":"x""#), limited: .edit, full: .edit),
        Row("add to its own group", group("addMember", "own group", member: "ada"), limited: .own, full: .own),
        Row("remove from its own group", group("removeMember", "own group", member: "ada"), limited: .own, full: .own),
        Row("add to another group", group("addMember", "group", member: "ada"), limited: .edit, full: .edit),
        Row("remove from another group", group("removeMember", "group", member: "ada"), limited: .edit, full: .edit),
        Row("rename its own group", group("update", "own group"), limited: .own, full: .own),
        Row("rename another group", group("update", "group"), limited: nil, full: .all),
        Row("nest its own groups", group("addSubgroup", "own group", member: "own group 2"), limited: .own, full: .own),
        Row(
            "unnest its own groups", group("removeSubgroup", "own group", member: "own group 2"), limited: .own,
            full: .own),
        Row("nest in another group", group("addSubgroup", "group", member: "own group"), limited: nil, full: .all),
        Row(
            "unnest from another group", group("removeSubgroup", "group", member: "own group"), limited: nil, full: .all
        ),
        Row("link", contact("link", "ada") + #","member":"<mine>""#, limited: nil, full: .all),
        Row("unlink", contact("unlink", "ada") + #","member":"<mine>""#, limited: nil, full: .all),
        Row("set the person's own card", contact("setMe", "ada"), limited: nil, full: .all),
        Row("add a container", #""operation":"addContainer","container":"Work""#, limited: nil, full: .all),
        Row(
            "take all names from its own card", contact("update", "mine", #","givenName":"""#), limited: .own,
            full: .own),
        Row(
            "take all names from another card", contact("update", "ada", #","givenName":"""#), limited: .all, full: .all
        ),
        Row("delete its own group", group("delete", "own group"), limited: .own, full: .own),
        Row("delete another group", group("delete", "group"), limited: nil, full: .all),
        Row("delete its own card", contact("delete", "mine"), limited: .own, full: .own),
        Row("delete another card", contact("delete", "ada"), limited: .all, full: .all),
    ]
}

@Suite("Which right each step of a save needs")
struct ChangeTableTests {
    @Test(
        "A step is made with the right that it needs, asks without it, and is refused if no right is enough",
        arguments: ChangeRight.allCases, [true, false])
    func steps(right: ChangeRight, isFull: Bool) throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada")
        let app = try fixture.app("mail", .full, strength: .sandboxed)
        var names: [String: String] = [:]
        func add(_ name: String, by maker: TestApp) throws {
            let answer = try maker.save([.other(#"{"operation":"add","group":{"name":"\#(name)"}}"#)])
            #expect(answer.error == nil)
            let groups = try app.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
            names[name] = groups.first { $0["name"]?.string == name }?["identifier"]?.string
        }
        #expect(try app.save([.add(given: "Mine")]).error == nil)
        try add("own group", by: app)
        try add("own group 2", by: app)
        try add("group", by: keeper)
        (names["ada"], names["mine"]) = (try app.identifier(of: "Ada"), try app.identifier(of: "Mine"))
        let access: Access = isFull ? .full : .limited(to: try fixture.records("Ada", "Mine"))
        try fixture.grant(access, keys: Grant.ordinaryKeys.union(.groups), changes: right, to: app)
        let person = try TestPerson(fixture: fixture)

        for row in ChangeTable.rows {
            let place = "\(row.words), \(right), \(isFull ? "full" : "limited")"
            var step = row.step
            for (name, identifier) in names { step = step.replacing("<\(name)>", with: identifier) }
            let told = try person.told().count
            let call = try app.begin("SaveContacts", #"{"changes":[{\#(step)}]}"#)
            try #require(fixture.loop.run { call.isOver || (try? person.told().count) != told }, "\(place)")
            guard let needed = isFull ? row.full : row.limited, needed > right else {
                let isMade = (isFull ? row.full : row.limited) != nil
                #expect(try person.told().count == told, "\(place)")
                let answer = try #require(app.replies(to: call).first, "\(place)")
                #expect(answer.error == (isMade ? nil : "RecordNotWritable"), "\(place): \(answer.text)")
                continue
            }
            // What an update takes away is seen when it is made, so the prompt names the right to change first.
            let named = row.words == "take all names from another card" && right < .edit ? .edit : needed
            #expect(try person.told().last?["changes"]?.string == named.rawValue, "\(place)")
            try person.answer(#require(person.prompts().last))
            let error = try app.replies(1, to: call)[0].error
            let isAddition = row.words.hasPrefix("add a contact") || row.words.hasPrefix("add a group")
            #expect(error == (isAddition ? "ParentContainerNotWritable" : "RecordNotWritable"), "\(place)")
            // The app's wait after a refusal.
            fixture.loop.advance(by: .seconds(25 * 3_600))
            // What was refused is done by somebody else, so that the later steps mean the same.
            if row.words.hasPrefix("add to") || row.words.hasPrefix("nest its") {
                try fixture.grant(access, keys: Grant.ordinaryKeys.union(.groups), changes: .all, to: app)
                #expect(try app.save([.other("{\(step)}")]).error == nil, "\(place)")
                try fixture.grant(access, keys: Grant.ordinaryKeys.union(.groups), changes: right, to: app)
            }
        }
    }
}
