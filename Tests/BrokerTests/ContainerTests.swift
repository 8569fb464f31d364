import BrokerAccessControl
import BrokerJSON
import Testing

@testable import BrokerAppCalls

@Suite("Containers")
struct ContainerTests {
    let fixture: BrokerFixture
    let keeper: TestApp
    /// The keeper's identifiers for the default container, and for one that it created.
    let local: String
    let work: String

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.keeper(adding: "Ada")
        local = try #require(try keeper.call("ListContainers").parameters["defaultContainer"]?.string)
        work = try #require(
            try keeper.save([.other(#"{"operation":"addContainer","container":"Work"}"#)]).strings("identifiers").first)
    }

    private func add(_ name: String, to container: String, by app: TestApp) throws -> Answer {
        try app.save([.other(#"{"operation":"add","contact":{"givenName":"\#(name)"},"container":"\#(container)"}"#)])
    }

    private func within(_ container: String, for app: TestApp) throws -> [String] {
        try app.fetch(#""predicate":{"container":"\#(container)"}"#).names
    }

    @Test("An app that sees everything creates containers, adds contacts and groups to them, and finds them there")
    func making() throws {
        #expect(
            try keeper.call("ListContainers").text == """
                {"containers":[{"identifier":"\(local)","name":"Local","kind":"local"},\
                {"identifier":"\(work)","name":"Work","kind":"local"}],"defaultContainer":"\(local)"}
                """)
        let grace = try #require(try add("Grace", to: work, by: keeper).strings("identifiers").first)
        let group = try #require(
            try keeper.save([.other(#"{"operation":"add","group":{"name":"Crew"},"container":"\#(work)"}"#)])
                .strings("identifiers").first)
        #expect(try within(work, for: keeper) == ["Grace"])
        #expect(try within(local, for: keeper) == ["Ada"])
        #expect(try keeper.fetch().names == ["Ada", "Grace"])
        for (container, count) in [(work, 1), (local, 1)] {
            let answer = try keeper.call("CountContacts", #"{"predicate":{"container":"\#(container)"}}"#)
            #expect(answer.text == #"{"count":\#(count)}"#)
        }
        for question in [#"{"contact":"\#(grace)"}"#, #"{"group":"\#(group)"}"#] {
            let found = try keeper.call("ListContainers", question)
            #expect(found.parameters["containers"]?.count == 1)
            #expect(found.text.contains(#""name":"Work""#))
        }
        #expect(try keeper.call("ListGroups", #"{"container":"\#(work)"}"#).text.contains(#""container":"\#(work)""#))
        #expect(try keeper.call("ListGroups", #"{"container":"\#(local)"}"#).text == #"{"groups":[]}"#)
        // The history names the container of an added record.
        let events = try keeper.call("FetchHistory", #"{"includeGroups":true}"#).text
        #expect(events.components(of: #""container":"\#(work)""#) >= 2)
    }

    @Test("In an address book without contacts, a new container is listed too")
    func empty() throws {
        let keeper = try BrokerFixture().app("keeper", .full)
        for count in 1...3 {
            #expect(try keeper.call("ListContainers").parameters["containers"]?.count == count)
            let added = try keeper.save([.other(#"{"operation":"addContainer","container":"C\#(count)"}"#)])
            #expect(added.error == nil && added.strings("identifiers").count == 1, "\(added.text)")
        }
    }

    @Test("A container can be deleted only when it is empty, and the default container never")
    func deleting() throws {
        let delete = { (container: String) in
            try keeper.save([.other(#"{"operation":"deleteContainer","container":"\#(container)"}"#)])
        }
        let grace = try #require(try add("Grace", to: work, by: keeper).strings("identifiers").first)
        #expect(try delete(work).error == "RecordNotWritable")
        #expect(try keeper.save([.delete(grace)]).error == nil)
        #expect(try delete(work).error == nil)
        #expect(try delete(work).error == "RecordDoesNotExist")
        #expect(try delete(local).error == "RecordNotWritable")
        #expect(try add("Grace", to: work, by: keeper).error == "RecordDoesNotExist")
        #expect(try keeper.call("ListContainers").parameters["containers"]?.count == 1)
    }

    @Test("An app that does not see everything sees one container with all that it may see")
    func hidden() throws {
        _ = try add("Grace", to: work, by: keeper)
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada", "Grace")))
        let all = try mail.call("ListContainers")
        #expect(all.parameters["containers"]?.count == 1)
        #expect(!all.text.contains("Work"))
        let grace = try mail.identifier(of: "Grace")
        #expect(try mail.call("ListContainers", #"{"contact":"\#(grace)"}"#).text == all.text)
        let own = try #require(all.parameters["defaultContainer"]?.string)
        #expect(try within(own, for: mail) == ["Ada", "Grace"])
        #expect(!(try mail.call("FetchHistory", "{}").text.contains(work)))
        // The app cannot use another app's identifier for a container, and may not create containers.
        #expect(try within(work, for: mail) == [])
        #expect(try add("New", to: work, by: mail).error == "RecordDoesNotExist")
        for operation in ["addContainer", "deleteContainer"] {
            let answer = try mail.save([.other(#"{"operation":"\#(operation)","container":"\#(own)"}"#)])
            #expect(answer.error == "RecordNotWritable")
        }
        #expect(try add("New", to: own, by: mail).error == nil)
        #expect(try within(local, for: keeper) == ["Ada", "New"])
    }

    @Test("An invalid step fails the whole save")
    func refused() throws {
        for (step, error) in [
            (#"{"operation":"addContainer"}"#, "InvalidParameter"),
            (#"{"operation":"addContainer","container":" "}"#, "InvalidContact"),
            (#"{"operation":"addContainer","container":"a\u0000b"}"#, "InvalidContact"),
            (#"{"operation":"addContainer","container":"x","group":{"name":"y"}}"#, "InvalidParameter"),
            (#"{"operation":"deleteContainer","container":"made up"}"#, "RecordDoesNotExist"),
            (#"{"operation":"deleteContainer"}"#, "RecordDoesNotExist"),
        ] {
            let answer = try keeper.save([.add(given: "Nobody"), .other(step)])
            #expect(answer.error == error, "\(step): \(answer.text)")
        }
        let long = String(repeating: "n", count: 1_025)
        #expect(
            try keeper.save([.other(#"{"operation":"addContainer","container":"\#(long)"}"#)]).error == "LimitExceeded")
        let many = (0...255).map { Change.other(#"{"operation":"addContainer","container":"\#($0)"}"#) }
        #expect(try keeper.save(many).error == "LimitExceeded")
        #expect(try keeper.call("ListContainers").parameters["containers"]?.count == 2)
        #expect(try keeper.fetch().names == ["Ada"])
    }

    @Test("Containers outlive the broker")
    func lasting() throws {
        _ = try add("Grace", to: work, by: keeper)
        try fixture.restart()
        let again = TestApp(fixture: fixture, caller: fixture.caller("keeper"))
        #expect(try again.call("ListContainers").text.contains(#""identifier":"\#(work)","name":"Work""#))
        #expect(try within(work, for: again) == ["Grace"])
    }
}

extension String {
    /// How often another string occurs in this one.
    fileprivate func components(of other: String) -> Int {
        split(separator: other, omittingEmptySubsequences: false).count - 1
    }
}
