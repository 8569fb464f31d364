import BrokerAccessControl
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerAppCalls

@Suite("Counts, containers and the person's preferences")
struct ReadingTests {
    @Test("An app counts only the contacts that it may see")
    func counting() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Adam", "Grace")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Grace")))
        for (predicate, all, visible) in [
            ("{}", 3, 2), (#"{"predicate":{"name":"ad"}}"#, 2, 1), (#"{"predicate":{"name":"adam"}}"#, 1, 0),
            (#"{"predicate":{"emailAddress":"a@example.org"}}"#, 0, 0), (#"{"predicate":{"me":true}}"#, 0, 0),
        ] {
            #expect(try keeper.call("CountContacts", predicate).parameters["count"]?.integer == Int64(all))
            #expect(try mail.call("CountContacts", predicate).parameters["count"]?.integer == Int64(visible))
        }
        let hidden = try namesOfNothing(for: mail, hidden: "Adam", of: keeper)
        for name in hidden {
            let reply = try mail.call("CountContacts", #"{"predicate":{"identifiers":["\#(name)"]}}"#)
            #expect(reply.text == #"{"count":0}"#)
        }
        let own = try mail.identifier(of: "Ada")
        #expect(
            try mail.call("CountContacts", #"{"predicate":{"identifiers":["\#(own)"]}}"#).text == #"{"count":1}"#)
    }

    @Test("A key that an app may not read has no effect on its counts")
    func countingUnderKeys() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.app("keeper", .full)
        _ = try keeper.save([.add(given: "Ada", extra: #","emailAddresses":[{"value":"ada@example.org"}]"#)])
        let mail = try fixture.app("mail", .full, keys: ContactKeySet.all.subtracting(ContactKeySet([.emailAddresses])))
        let predicate = #"{"predicate":{"emailAddress":"ada@example.org"}}"#
        #expect(try keeper.call("CountContacts", predicate).text == #"{"count":1}"#)
        #expect(try mail.call("CountContacts", predicate).text == #"{"count":0}"#)
    }

    @Test("A contact without links lists only itself, and a hidden contact does not exist")
    func linked() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Grace")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let ada = try mail.identifier(of: "Ada")
        #expect(try mail.call("ListLinkedContacts", #"{"identifier":"\#(ada)"}"#).strings("identifiers") == [ada])
        let answers = try namesOfNothing(for: mail, hidden: "Grace", of: keeper).map {
            try mail.call("ListLinkedContacts", #"{"identifier":"\#($0)"}"#)
        }
        #expect(answers.allSatisfy { $0.error == "RecordDoesNotExist" && $0.text == answers[0].text })
        _ = try keeper.save([.delete(keeper.identifier(of: "Ada"))])
        #expect(try mail.call("ListLinkedContacts", #"{"identifier":"\#(ada)"}"#).text == answers[0].text)
    }

    @Test("A limited app sees one container, in which it can fetch and add contacts")
    func containers() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.keeper(adding: "Ada", "Grace")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let ada = try mail.identifier(of: "Ada")
        let all = try mail.call("ListContainers")
        let container = try #require(all.parameters["defaultContainer"]?.string)
        #expect(try mail.call("ListContainers", #"{"contact":"\#(ada)"}"#).text == all.text)
        #expect(all.parameters["containers"]?.count == 1)
        #expect(try mail.fetch(#""predicate":{"container":"\#(container)"}"#).names == ["Ada"])
        // Another app's identifier of the container is unknown.
        let foreign = try #require(try keeper.call("ListContainers").parameters["defaultContainer"]?.string)
        #expect(foreign != container)
        #expect(try mail.fetch(#""predicate":{"container":"\#(foreign)"}"#).names == [])
        #expect(try mail.fetch(#""predicate":{"container":"\#(ada)"}"#).names == [])

        let answers = try namesOfNothing(for: mail, hidden: "Grace", of: keeper).map {
            try mail.call("ListContainers", #"{"contact":"\#($0)"}"#)
        }
        #expect(answers.allSatisfy { $0.error == "RecordDoesNotExist" && $0.text == answers[0].text })

        let add = { (container: String) in
            try mail.save([.other(#"{"operation":"add","contact":{"givenName":"New"},"container":"\#(container)"}"#)])
        }
        #expect(try add(foreign).error == "RecordDoesNotExist")
        #expect(try add(container).error == nil)
        #expect(try mail.fetch().names == ["Ada", "New"])
    }

    @Test("An app with full access sets the person's sort order, and every app's list follows it")
    func preferences() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.app("keeper", .full)
        _ = try keeper.save([
            .add(given: "Ada", extra: #","familyName":"Zuse""#), .add(given: "Bob", extra: #","familyName":"Abel""#),
        ])
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Bob")))
        let order = #""sortOrder":"userDefault""#
        #expect(try mail.fetch(order).names == ["Bob", "Ada"])
        #expect(
            try mail.call("GetUserDefaults").text
                == #"{"sortOrder":"familyName","displayOrder":"givenName","countryCode":"","language":""}"#)
        // The next page keeps the order of the first page.
        let page = try mail.fetch(order + #","limit":1"#)
        let next = try #require(page.parameters["next"]?.string)

        #expect(try mail.call("SetUserDefaults", #"{"sortOrder":"givenName"}"#).error == "AccessDenied")
        #expect(try keeper.call("SetUserDefaults", #"{"sortOrder":"givenName","countryCode":"SE"}"#).error == nil)
        #expect(try mail.fetch(order).names == ["Ada", "Bob"])
        #expect(try mail.fetch(order + #","after":"\#(next)""#).names == ["Ada"])
        try fixture.restart()
        let again = try fixture.app("mail")
        #expect(try again.fetch(order).names == ["Ada", "Bob"])
        #expect(
            try again.call("GetUserDefaults").text
                == #"{"sortOrder":"givenName","displayOrder":"givenName","countryCode":"se","language":""}"#)
        let keeperAgain = try fixture.app("keeper")
        for wrong in [
            #"{"sortOrder":"none"}"#, #"{"displayOrder":"userDefault"}"#, #"{"countryCode":"SWE"}"#,
            #"{"countryCode":""}"#, #"{"other":1}"#,
        ] {
            #expect(try keeperAgain.call("SetUserDefaults", wrong).error == "InvalidParameter")
        }
    }

    @Test(
        "A denied app is refused, and an undecided app causes a prompt",
        arguments: ["CountContacts", "ListContainers", "GetUserDefaults", "SetUserDefaults"])
    func refused(method: String) throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        let denied = try fixture.app("denied", .denied)
        #expect(try denied.call(method).error == "AccessDenied")
        // No agent answers here. After the wait for an agent, the call ends as after a dismissal.
        let unknown = try fixture.app("unknown")
        let call = try unknown.begin(method)
        #expect(!call.isOver)
        fixture.loop.advance(by: .seconds(6))
        #expect(try unknown.replies(1, to: call)[0].error == "AuthorizationNotDetermined")
    }
}
