import BrokerJSON
import BrokerVarlinkClient
import Testing

@Suite("What an app may not see does not exist for it")
struct VisibilityTests {
    /// An identifier of a visible contact, and identifiers that name nothing that the app may see, by their origin.
    private struct Names {
        let app: App
        let visible: String
        let nothing: [(kind: String, identifier: String)]
    }

    private static func names(in fixture: DaemonFixture, _ person: Person) throws -> Names {
        let keeper = try fixture.keeper(with: person)
        let chat = try fixture.app("chat", .everything, by: person)
        let app = try fixture.app("mail", .everything, by: person)
        // In the order of DaemonFixture.names: Grace, Lin, Ada, Emmy.
        let own = try app.fetch().identifiers
        let foreign = try chat.fetch().identifiers
        let keepers = try keeper.fetch().identifiers
        // Revoke what the app could see, grant it Ada and Grace again, and delete Grace.
        let administrator = try fixture.administrator()
        let name = try #require(
            administrator.call("io.contactbroker.Admin.ListGrants")["grants"]?.elements?
                .compactMap { $0["app"]?.string }.first { $0.hasPrefix(app.path + " ") })
        _ = try administrator.call("io.contactbroker.Admin.SetGrant") {
            $0.member("app", name)
            $0.member("status", "limited")
        }
        #expect(try app.fetch().names.isEmpty)
        try app.begin("RequestContacts", #"{"query":"everybody"}"#)
        try person.answer(.only(["Ada Lovelace", "Grace Hopper"]))
        let granted = try app.reply().strings("identifiers")
        #expect(Set(granted) == [own[0], own[2]])
        #expect(try keeper.save([#"{"operation":"delete","contact":{"identifier":"\#(keepers[0])"}}"#]).word == "ok")
        #expect(try app.fetch().names == ["Ada Lovelace"])
        return Names(
            app: app, visible: own[2],
            nothing: [
                ("revoked", own[1]), ("revoked too", own[3]), ("deleted", own[0]), ("another app's", foreign[1]),
                ("another app's of what it may see", foreign[2]), ("another app's of what was deleted", keepers[0]),
                ("made up", "0123456789abcdef0123456789abcdef"), ("made up too", "ffffffffffffffffffffffffffffffff"),
                ("empty", ""), ("no identifier", "ada"), ("too short", String(own[1].dropLast())),
                ("too long", own[1] + "0"), ("spelled otherwise", own[1].uppercased() + " "),
                ("endless", String(repeating: "a", count: 70_000)), ("another script", "Ünïcödé-\u{1F600}"),
            ])
    }

    @Test("The reply to an identifier that names nothing is the same byte for byte, whatever the reason")
    func sameBytes() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let names = try Self.names(in: fixture, person)
        let app = names.app
        let calls: [(String, (String) -> String)] = [
            ("FetchContacts", { App.fetching(#""predicate":{"identifiers":[\#($0)]}"#) }),
            ("FetchContacts", { App.fetching(#""predicate":{"identifiers":["\#(names.visible)",\#($0)]}"#) }),
            ("FetchContacts", { App.fetching(#""predicate":{"identifiers":[\#($0)]},"sortOrder":"givenName""#) }),
            (
                "SaveContacts",
                { App.saving([#"{"operation":"update","contact":{"identifier":\#($0),"givenName":"E"}}"#]) }
            ),
            // The identifier is checked before anything else that is wrong with the change.
            ("SaveContacts", { App.saving([#"{"operation":"update","contact":{"identifier":\#($0),"note":"n"}}"#]) }),
            (
                "SaveContacts",
                { App.saving([#"{"operation":"update","contact":{"identifier":\#($0),"birthday":"x"}}"#]) }
            ),
            (
                "SaveContacts",
                {
                    App.saving([
                        #"{"operation":"update","contact":{"identifier":"\#(names.visible)","givenName":"Changed"}}"#,
                        #"{"operation":"update","contact":{"identifier":\#($0),"givenName":"Changed"}}"#,
                    ])
                }
            ),
            (
                "SaveContacts",
                {
                    App.saving([
                        App.adding(given: "Added"),
                        #"{"operation":"update","contact":{"identifier":\#($0),"familyName":"E"}}"#,
                    ])
                }
            ),
            // This call comes last, because it deletes the visible contact.
            ("SaveContacts", { App.saving([#"{"operation":"delete","contact":{"identifier":\#($0)}}"#]) }),
        ]
        for (method, parameters) in calls {
            var answers: [[UInt8]: [String]] = [:]
            for (kind, identifier) in names.nothing {
                answers[try app.call(method, parameters(quoted(identifier))).bytes, default: []].append(kind)
            }
            #expect(
                answers.count == 1,
                "\(method): \(answers.map { (String(decoding: $0.key, as: UTF8.self), $0.value) })")
            // The comparison is meaningful only if an identifier that names a contact gets another reply.
            let visible = try app.call(method, parameters(quoted(names.visible)))
            let repeatsIt = method == "FetchContacts" && parameters("").contains(names.visible)
            #expect(repeatsIt || answers[visible.bytes] == nil, "\(visible.text)")
        }
    }

    @Test("A save with one step that names nothing changes nothing")
    func nothingDone() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let names = try Self.names(in: fixture, person)
        for (kind, identifier) in names.nothing {
            let reply = try names.app.save([
                #"{"operation":"update","contact":{"identifier":"\#(names.visible)","givenName":"Changed"}}"#,
                App.adding(given: "Added"),
                #"{"operation":"delete","contact":{"identifier":\#(quoted(identifier))}}"#,
            ])
            #expect(reply.error == "RecordDoesNotExist", "\(kind)")
            #expect(reply["index"]?.integer == 2, "\(kind)")
        }
        #expect(try names.app.fetch().names == ["Ada Lovelace"])
    }

    @Test(
        "A limited app finds, sorts and pages through its granted set only",
        arguments: [
            ("", ["Lin Lanying", "Ada Lovelace"]),
            (#""sortOrder":"givenName""#, ["Ada Lovelace", "Lin Lanying"]),
            (#""predicate":{"name":"l"}"#, ["Lin Lanying", "Ada Lovelace"]),
            (#""predicate":{"name":"lov ada"}"#, ["Ada Lovelace"]),
            (#""predicate":{"name":"grace"}"#, []),
            (#""predicate":{"name":"hop"}"#, []),
            (#""predicate":{"emailAddress":"ada@example.org"}"#, ["Ada Lovelace"]),
            (#""predicate":{"emailAddress":"grace@example.org"}"#, []),
            (#""predicate":{"phoneNumber":"+861055500003"}"#, ["Lin Lanying"]),
            (#""predicate":{"phoneNumber":"+12025550100"}"#, []),
            (#""limit":1"#, ["Lin Lanying"]),
            (#""limit":2"#, ["Lin Lanying", "Ada Lovelace"]),
            (#""limit":3"#, ["Lin Lanying", "Ada Lovelace"]),
        ])
    func exactly(parameters: String, names: [String]) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(
            adding: DaemonFixture.people + [#""givenName":"Hidden","phoneNumbers":[{"value":"+1 202 555 0100"}]"#],
            with: person
        )
        let app = try fixture.app("mail", .only(["Ada Lovelace", "Lin Lanying"]), by: person)
        let ordered =
            parameters.contains("sortOrder")
            ? parameters
            : #""sortOrder":"familyName""#
                + (parameters.isEmpty ? "" : "," + parameters)
        let reply = try app.fetch(ordered)
        #expect(reply.names == names)
        // A next page is announced only if it contains something that this app may see.
        #expect((reply["next"] != nil) == (parameters == #""limit":1"#))
    }

    @Test("Paging returns each contact once, and only the last page has no token")
    func pages() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(
            adding: (0..<57).map { #""givenName":"\#($0 % 2 == 0 ? "Even" : "Odd")","familyName":"N\#(100 + $0)""# },
            with: person)
        let even = (0..<57).filter { $0 % 2 == 0 }.map { "Even N\(100 + $0)" }
        let app = try fixture.app("mail", .only(even), by: person)
        for size in [1, 7, 28, 29] {
            var names: [String] = []
            var after: String?
            var pages = 0
            repeat {
                let token = after.map { #","after":\#(quoted($0))"# } ?? ""
                let page = try app.fetch(#""sortOrder":"familyName","limit":\#(size)\#(token)"#)
                names += page.names
                after = page["next"]?.string
                pages += 1
            } while after != nil && pages < 60
            #expect(names == even)
            #expect(pages == (29 + size - 1) / size)
        }
    }

    @Test("A page token works only for the app and the sort order that it was made for")
    func foreignToken() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let mail = try fixture.app("mail", .everything, by: person)
        let chat = try fixture.app("chat", .everything, by: person)
        let token = try #require(try mail.fetch(#""sortOrder":"familyName","limit":1"#)["next"]?.string)
        let following = #""sortOrder":"familyName","after":\#(quoted(token))"#
        #expect(try mail.fetch(following).names == Array(DaemonFixture.names.dropFirst()))
        #expect(try chat.fetch(following).error == "InvalidParameter")
        #expect(try mail.fetch(#""sortOrder":"givenName","after":\#(quoted(token))"#).error == "InvalidParameter")
        #expect(try mail.fetch(#""sortOrder":"familyName","after":"made up""#).error == "InvalidParameter")
    }

    @Test("Two apps get different identifiers for the same contact")
    func identifiers() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let mail = try fixture.app("mail", .everything, by: person)
        let chat = try fixture.app("chat", .everything, by: person)
        #expect(try Set(mail.fetch().identifiers).isDisjoint(with: chat.fetch().identifiers))
    }

    @Test("An app's identifiers survive edits, new processes and restarts; a reset replaces them")
    func lastingIdentifiers() throws {
        let fixture = try DaemonFixture()
        var person = try fixture.person()
        try fixture.keeper(with: person)
        var mail = try fixture.app("mail", .everything, by: person)
        let before = try mail.fetch().identifiers
        let change = #"{"operation":"update","contact":{"identifier":"\#(before[2])","nickname":"Countess"}}"#
        #expect(try mail.save([change]).word == "ok")
        #expect(try mail.fetch().identifiers == before)
        #expect(try fixture.stop() == .exited(0))
        try fixture.start()
        fixture.end("mail")
        mail = try fixture.app("mail")
        #expect(try mail.fetch().identifiers == before)
        #expect(try mail.fetch(#""predicate":{"identifiers":["\#(before[2])"]}"#).names == ["Ada Lovelace"])
        _ = try fixture.administrator().call("io.contactbroker.Admin.ResetGrant")
        person = try fixture.person("another agent")
        try mail.begin("RequestAccess")
        try person.answer(.everything)
        #expect(try mail.reply().word == "full")
        #expect(try Set(mail.fetch().identifiers).isDisjoint(with: before))
    }

    @Test("A limited app sees a contact that it added, and another limited app does not")
    func added() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let mail = try fixture.app("mail", .only(["Ada Lovelace"]), by: person)
        let chat = try fixture.app("chat", .only(["Ada Lovelace"]), by: person)
        let saved = try mail.save([App.adding(given: "Kurt", family: "Gödel")])
        #expect(try mail.fetch().names == ["Kurt Gödel", "Ada Lovelace"])
        #expect(try mail.fetch().identifiers.first == saved.strings("identifiers").first)
        #expect(try chat.fetch().names == ["Ada Lovelace"])
        #expect(try keeper.fetch().names.contains("Kurt Gödel"))
        #expect(try fixture.stop() == .exited(0))
        try fixture.start()
        #expect(try fixture.app("mail").fetch().names == ["Kurt Gödel", "Ada Lovelace"])
    }

    @Test("Only an app with access to notes can read or change them, but any app may add a contact with one")
    func notes() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let asking = #"{"keys":["givenName","note"],"sortOrder":"familyName"}"#
        let mail = try fixture.app("mail", .everything, by: person)
        #expect(try mail.call("FetchContacts", #"{"keys":["note"]}"#).error == "UnauthorizedKeys")
        #expect(try mail.call("FetchContacts", asking)["keys"]?.elements?.compactMap(\.string) == ["note"])
        let ada = try mail.fetch().identifiers[2]
        let change = #"{"operation":"update","contact":{"identifier":"\#(ada)","note":"mine"}}"#
        #expect(try mail.save([change]).error == "UnauthorizedKeys")
        #expect(try mail.save([App.adding(#""givenName":"Zoe","familyName":"Z","note":"hers""#)]).word == "ok")

        let notes = try fixture.app("notes", .everythingAndNotes, by: person, keys: ["givenName", "note"])
        let found = try notes.call("FetchContacts", asking)["contacts"]?.elements?.compactMap { $0["note"]?.string }
        #expect(found == ["", "", "first programmer", "a note of hers", "hers"])
    }

    @Test("An app that may read whole cards gets the UIDs of cards, and may not change them; any other app is refused")
    func uids() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let mail = try fixture.app("mail", .everything, by: person)
        let card = #""givenName":"Zoe","extraProperties":["X-SECRET:s","UID:urn:uuid:z"]"#
        #expect(try mail.save([App.adding(card)]).word == "ok")
        let asking = #"{"keys":["givenName","extraProperties"]}"#
        let zoe = try #require(try mail.call("FetchContacts", asking)["contacts"]?.elements?.first { _ in true })
        #expect(zoe["extraProperties"]?.elements?.compactMap(\.string) == ["UID:urn:uuid:z"])
        let identifier = zoe["identifier"]?.string ?? ""
        let change = #"{"operation":"update","contact":{"identifier":"\#(identifier)","extraProperties":[]}}"#
        #expect(try mail.save([change]).error == "UnauthorizedKeys")
        let names = try fixture.app("names")
        try names.begin("RequestAccess", #"{"keys":["givenName","familyName"]}"#)
        try person.answer(person.prompt(), #""level":"full","keys":["givenName","familyName"]"#)
        #expect(try names.reply().word == "full")
        #expect(try names.call("FetchContacts", asking).error == "UnauthorizedKeys")
    }

    @Test("Notes that the app did not request cannot be granted")
    func unaskedNotes() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let app = try fixture.app("mail")
        try app.begin("RequestAccess", #"{"keys":["givenName"]}"#)
        let prompt = try person.prompt()
        #expect(try person.answer(prompt, #""level":"full","keys":["note"]"#).error == "InvalidAnswer")
        try person.answer(prompt, #""level":"full""#)
        #expect(try app.reply().word == "full")
    }

    @Test("A key that was not granted reads as empty and matches nothing")
    func keys() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let app = try fixture.app("mail")
        try app.begin("RequestAccess", #"{"keys":["givenName","familyName"]}"#)
        try person.answer(person.prompt(), #""level":"full","keys":["givenName","familyName"]"#)
        #expect(try app.reply().word == "full")
        let reply = try app.call("FetchContacts", #"{"keys":["givenName","emailAddresses","modificationDate"]}"#)
        #expect(reply["contacts"]?.count == 4)
        for contact in try #require(reply["contacts"]?.elements) {
            #expect(contact["givenName"]?.string?.isEmpty == false)
            #expect(contact["emailAddresses"]?.count == 0)
            #expect(contact["modificationDate"]?.string == "")
        }
        #expect(try app.fetch(#""predicate":{"emailAddress":"ada@example.org"}"#).names.isEmpty)
        #expect(try app.fetch(#""predicate":{"phoneNumber":"+442079460001"}"#).names.isEmpty)
        #expect(try app.fetch(#""predicate":{"name":"ada"}"#).names == ["Ada Lovelace"])
    }
}
