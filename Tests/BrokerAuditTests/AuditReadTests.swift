import BrokerAccessControl
import BrokerAccessStore
import BrokerCalls
import BrokerJSON
import BrokerVarlink
import Dispatch
import Testing

@testable import BrokerCore
@testable import BrokerLedger

@Suite("Long reads of the audit")
struct AuditReadTests {
    /// Lets the reads of the audit wait until the semaphore is signalled.
    private func block(_ fixture: BrokerFixture) -> DispatchSemaphore {
        let semaphore = DispatchSemaphore(value: 0)
        fixture.broker.feed.read(
            { _ in _ = semaphore.wait(timeout: .now() + 10) }, failed: {}, { _ in })
        return semaphore
    }

    private func call(_ connection: StandInConnection, more: Bool = false) throws -> Call {
        Call(
            method: "io.contactbroker.Admin.QueryAudit", parameters: JSONDocument.emptyObject.root, more: more,
            oneway: false, connection: connection)
    }

    @Test("When the caller has gone, its read ends and the next query is answered")
    func gone() throws {
        let fixture = try BrokerFixture()
        let (first, second) = (fixture.administrator(), fixture.administrator())
        let call = try call(first)
        let begun = DispatchSemaphore(value: 0)
        var isDone = false
        // This read continues until it is cancelled.
        fixture.broker.feed.read(for: call, nil) { reader in
            begun.signal()
            let deadline = ContinuousClock.now + .seconds(20)
            while !reader.progress.isOver, ContinuousClock.now < deadline {}
            return reader.progress.isOver
        } _: {
            isDone = $0
        }
        #expect(begun.wait(timeout: .now() + 10) == .success)
        call.abandon()
        #expect(!(try second.call("QueryAudit", #"{"limit":1}"#).isEmpty) && second.errors.isEmpty)
        #expect(fixture.loop.run { isDone })
        #expect(first.answers == 0)
    }

    @Test("A query whose caller has gone before its turn is not begun")
    func notBegun() throws {
        let fixture = try BrokerFixture()
        let (first, second) = (fixture.administrator(), fixture.administrator())
        let semaphore = block(fixture)
        let call = try call(first)
        var answers = 0
        fixture.broker.feed.read(for: call, nil) { _ in
            1
        } _: {
            answers += $0
        }
        call.abandon()
        semaphore.signal()
        _ = try second.call("QueryAudit", #"{"limit":1}"#)
        #expect(answers == 0 && second.errors.isEmpty)
    }

    @Test(
        "A caller with more gets a reply every second while its query waits, and then the result; one without gets only that"
    )
    func progress() throws {
        let fixture = try BrokerFixture()
        let parameters = [
            ("VerifyAudit", "{}"), ("QueryAudit", "{}"), ("QueryAudit", #"{"limit":2}"#),
            ("QueryAudit", #"{"since":"2020-01-01","withEarlier":true}"#),
        ]
        for (method, parameters) in parameters {
            let (patient, silent) = (fixture.administrator(), fixture.administrator())
            let semaphore = block(fixture)
            try patient.begin(method, parameters, more: true)
            try silent.begin(method, parameters)
            fixture.loop.pass(.milliseconds(5_500))
            #expect(patient.replies.count == 5 && silent.answers == 0, "\(method)")
            #expect(patient.replies.allSatisfy { $0["progress"]?.integer == 0 && $0["records"] != nil })
            semaphore.signal()
            #expect(fixture.loop.run { patient.replies.count == 6 && silent.answers == 1 })
            #expect(patient.replies.last?["progress"] == nil && patient.replies.last?.text == silent.replies.last?.text)
            fixture.loop.pass(.seconds(5))
            #expect(patient.replies.count == 6)
        }
    }

    @Test("A look-up of a contact says how far it is, too")
    func lookUp() throws {
        let fixture = try BrokerFixture()
        fixture.decide(.full, "keeper")
        let added = #"{"changes":[{"operation":"add","contact":{"givenName":"Ada"}}]}"#
        #expect(try fixture.app("keeper").call("SaveContacts", added).contains("identifiers"))
        let semaphore = block(fixture)
        let patient = fixture.administrator()
        try patient.begin("FindContactAccess", #"{"contact":"Ada"}"#, more: true)
        #expect(
            fixture.loop.run {
                fixture.loop.pass(.seconds(4))
                return patient.replies.count >= 3
            })
        #expect(
            patient.replies.allSatisfy {
                String(decoding: $0.text, as: UTF8.self) == #"{"matches":1,"now":[],"seen":[],"progress":0}"#
            })
        semaphore.signal()
        #expect(fixture.loop.run { patient.replies.last?["progress"] == nil })
        #expect(patient.replies.last?["now"]?.count == 1 && patient.errors.isEmpty)
    }
}
