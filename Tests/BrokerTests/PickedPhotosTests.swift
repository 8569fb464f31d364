import BrokerAccessControl
import BrokerModel
import BrokerVarlink
import Dispatch
import Testing

@testable import BrokerBooks
@testable import BrokerContactsStore
@testable import BrokerGrants

@Suite("Photos for picks and thumbnails")
struct PickedPhotosTests {
    private let fixture: BrokerFixture
    private let person: TestPerson
    private let mail: TestApp

    init() throws {
        fixture = try BrokerFixture(bytesPerReply: 100_000)
        let keeper = try fixture.app("keeper", .full)
        let photo = String(repeating: "QUJD", count: 10_000)
        for name in ["Ada", "Bob", "Cid"] {
            #expect(try keeper.save([.add(given: name, extra: #","imageData":"\#(photo)""#)]).error == nil)
        }
        // The broker tries to make thumbnails of the photos. No attempt succeeds in this test.
        let thumbnails = fixture.thumbnails
        try #require(fixture.loop.run { thumbnails.isIdle })
        person = try TestPerson(fixture: fixture)
        mail = try fixture.app("mail")
    }

    private func asking() throws -> (call: Call, prompt: TestPerson.Prompt) {
        let call = try mail.begin("PickContacts", #"{"keys":["givenName","imageData"],"multiple":true}"#)
        return (call, try #require(person.prompts().first))
    }

    /// The answer that picks this many whole cards.
    private func picking(_ count: Int, of prompt: TestPerson.Prompt) throws -> String {
        let rows = try person.rows(prompt).prefix(count)
        #expect(rows.count == count)
        return
            #""picked":[\#(rows.map { #"{"contact":"\#($0.identifier)","key":"identifier"}"# }.joined(separator: ","))]"#
    }

    /// Runs while another thread holds the lock that reads on the loop need.
    private func whileTheLoopIsKeptWaiting(_ body: (ContactsStore) throws -> Void) throws {
        let book = try #require(fixture.books.opened(1_000))
        let (isHeld, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holder = DispatchQueue(label: "holder")
        holder.async {
            try? book.read { _ in
                isHeld.signal()
                // The timeout ends the wait if the body needs this lock too.
                _ = release.wait(timeout: .now() + 30)
            }
        }
        isHeld.wait()
        defer {
            release.signal()
            holder.sync {}
        }
        try body(book)
    }

    @Test("Picked photos are read off the event loop")
    func onWorker() throws {
        let (call, prompt) = try asking()
        let answer = try picking(2, of: prompt)
        try whileTheLoopIsKeptWaiting { _ in
            let answered = try person.begin(answering: prompt, answer)
            #expect(fixture.loop.run { answered.isOver })
        }
        let reply = try mail.replies(1, to: call)[0]
        #expect(reply.names.count == 2 && reply.text.utf8.count > 80_000)
    }

    @Test("A proposed card with a photo is read and checked off the event loop")
    func proposed() throws {
        let photo = String(repeating: "!", count: 200_000)
        let call = try mail.begin(
            "ProposeContact", #"{"contact":{"givenName":"Bob","imageData":"\#(photo)"}}"#, turning: false)
        #expect(!call.isOver)
        #expect(try mail.replies(1, to: call)[0].error == "InvalidContact")
    }

    @Test("A photo for a thumbnail is read without the lock of the loop's reads")
    func thumbnail() throws {
        let record = try #require(try fixture.records("Ada").first)
        try whileTheLoopIsKeptWaiting { book in
            let done = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                if Thumbnails.photo(of: record, in: book)?.count == 40_000 { done.signal() }
            }
            #expect(done.wait(timeout: .now() + 20) == .success)
        }
    }

    @Test("A pick of too many photos is refused before any photo is read")
    func tooMany() throws {
        let (call, prompt) = try asking()
        let (answer, fewer) = (try picking(3, of: prompt), try picking(2, of: prompt))
        // Damage the base64 of the photos, so that the journal reports every attempt to read one.
        try fixture.change(sql: "UPDATE image SET imageData = CAST(replace(CAST(imageData AS TEXT), 'Q', '!') AS BLOB)")
        #expect(try person.answer(prompt, answer).error == "InvalidAnswer")
        fixture.loop.iterate()
        #expect(!fixture.journal.lines.contains { $0.contains("is damaged") })
        #expect(!call.isOver)
        #expect(try person.answer(prompt, fewer).error == nil)
        #expect(try mail.replies(1, to: call)[0].names.count == 2)
        #expect(fixture.journal.lines.contains { $0.contains("is damaged") })
    }
}
