import BrokerAccessControl
import BrokerBounds
import BrokerModel
import Testing

@testable import BrokerAccessStore

@Suite("Limits on what apps and users may write to the audit")
struct AuditBoundTests {
    private let fixture: StoreFixture
    private let store: AccessStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        store.audit.bounds.recordsPerHour = 20
        store.audit.bounds.bytesPerHour = 1_000_000
    }

    private func wait(_ principal: Principal = mail, after seconds: Double = 0) -> Duration? {
        store.audit.wait(
            uid: principal.uid, strength: principal.strength, app: principal.app,
            now: fixture.now + Int64(seconds * 1_000_000))
    }

    private func save(by principal: Principal = mail, after seconds: Double = 0, event: AuditEvent = .save) {
        store.audit.append(
            AuditRecord(
                time: fixture.now + Int64(seconds * 1_000_000), uid: principal.uid, app: principal.app,
                strength: principal.strength, event: event))
    }

    @Test("An app that has written half of its hourly limit at once waits, and no other app does")
    func records() throws {
        for _ in 1...9 { save() }
        #expect(wait() == nil)
        save()
        // The app may write ten more records per hour.
        #expect(wait() == .seconds(360))
        #expect(wait(notes) == nil && wait(elsewhere) == nil)
        #expect(wait(after: 359.9) != nil)
        #expect(wait(after: 360) == nil)
        save(after: 360)
        #expect(wait(after: 360) == .seconds(360))
        try store.commit()
        #expect(store.audit.last.sequence == 12)
    }

    @Test("No hour has more records than the limit, however they are spread")
    func anyHour() {
        var times: [Double] = []
        var time = 0.0
        while time < 4 * 3_600 {
            if let wait = wait(after: time) {
                time += Double(wait.components.seconds) + Double(wait.components.attoseconds) / 1e18
            } else {
                save(after: time)
                times.append(time)
            }
        }
        for first in times { #expect(times.count { $0 >= first && $0 < first + 3_600 } <= 20) }
        #expect(times.count >= 10 + 39)
    }

    @Test("Bytes are limited too")
    func bytes() {
        store.audit.bounds.recordsPerHour = 1_000_000
        store.audit.bounds.bytesPerHour = 8_192
        store.disclose(1, detail: String(repeating: "x", count: 3_000))
        #expect(wait() == nil)
        store.disclose(1, detail: String(repeating: "y", count: 3_000))
        #expect(wait() != nil && wait(notes) == nil)
    }

    @Test("A repeat that is only counted does not count towards the limit")
    func countedIsFree() {
        for _ in 1...1_000 { store.disclose(1) }
        #expect(wait() == nil)
    }

    @Test(
        "Records of the person's decisions are written despite the limit, and do not count towards it",
        arguments: [AuditEvent.grant, .revocation, .answer, .withheld])
    func reserve(event: AuditEvent) throws {
        for _ in 1...10 { save() }
        try store.commit()
        let before = wait()
        #expect(before != nil)
        for _ in 1...100 { save(event: event) }
        try store.commit()
        #expect(store.audit.last.sequence == 111)
        #expect(wait() == before)
    }

    @Test("Above the limit on apps, further apps share one limit, and known apps keep their own")
    func manyApps() {
        store.audit.bounds.appsPerUser = 2
        save(by: mail)
        save(by: notes)
        for number in 1...10 {
            save(by: Principal(uid: 1_000, strength: .unverified, app: "/copy/\(number)"))
        }
        #expect(wait(Principal(uid: 1_000, strength: .unverified, app: "/copy/11")) != nil)
        #expect(wait(mail) == nil && wait(notes) == nil)
        // Another user's apps have a limit of their own.
        let other = Principal(uid: 1_001, strength: .unverified, app: "/copy/11")
        #expect(wait(other) == nil)
        for _ in 1...4 { save(by: other) }
        #expect(wait(other) == nil)
        // An app that was quiet for long enough makes room.
        save(by: elsewhere, after: 7_200)
        #expect(wait(elsewhere, after: 7_200) == nil)
        #expect(wait(Principal(uid: 1_000, strength: .unverified, app: "/copy/11"), after: 7_200) == nil)
    }

    @Test("All strangers together have one allowance, however many UIDs and apps they are, and no user waits for them")
    func strangers() throws {
        store.audit.isUser = { $0 < 65_536 }
        store.audit.bounds.strangers = AuditAllowance(recordsPerHour: 60, bytesPerHour: 1_000_000)
        (store.audit.bounds.appsPerUser, store.audit.bounds.recordsPerHour) = (8, 1_000)
        let before = store.audit.last.sequence
        var written = 0
        for number in UInt32(1)...1_000 {
            let stranger = Principal(uid: 100_000 + number / 4, strength: .unverified, app: "/copy/\(number)")
            guard wait(stranger) == nil else { continue }
            save(by: stranger, event: .prompt)
            written += 1
        }
        try store.commit()
        // Half of the limit at once.
        #expect(written == 30 && store.audit.last.sequence - before == 30)
        #expect(wait(Principal(uid: 165_000, strength: .sandboxed, app: "org.example.New")) != nil)
        for user in [mail, notes, elsewhere] {
            #expect(wait(user) == nil)
            save(by: user)
        }
        // The allowance of strangers is refilled like that of an app.
        #expect(wait(Principal(uid: 165_000, strength: .sandboxed, app: "org.example.New"), after: 3_600) == nil)
    }

    @Test("All apps of one user together have an allowance, beyond which each of them waits, and no other user's app")
    func user() throws {
        store.audit.bounds.user = AuditAllowance(recordsPerHour: 60, bytesPerHour: 1_000_000)
        for number in 1...4 {
            let app = Principal(uid: mail.uid, strength: .unverified, app: "/copy/\(number)")
            for _ in 1...8 where wait(app) == nil { save(by: app) }
        }
        try store.commit()
        #expect(store.audit.last.sequence == 1 + 30)
        #expect(wait(mail) != nil && wait(notes) != nil)
        #expect(wait(Principal(uid: mail.uid + 1, strength: .unverified, app: "/copy/1")) == nil)
        // A grant or a revocation is recorded nevertheless.
        for event in [AuditEvent.grant, .revocation] { save(event: event) }
        try store.commit()
        #expect(store.audit.last.sequence == 1 + 32)
        // Thirty records are refilled in an hour.
        #expect(wait(mail, after: 119) != nil && wait(mail, after: 121) == nil)
    }

    @Test("Prompts of an app that were not shown within an hour are one record and a count, and shown ones are not")
    func notShown() throws {
        func prompt(_ detail: String, after seconds: Double) throws -> Int64 {
            let before = store.audit.last.sequence
            store.audit.append(
                AuditRecord(
                    time: fixture.now + Int64(seconds * 1_000_000), uid: mail.uid, app: mail.app,
                    strength: mail.strength, event: .prompt, detail: detail))
            try store.commit()
            return store.audit.last.sequence - before
        }
        store.audit.bounds.windowsPerApp = 4
        #expect(try prompt(AuditRecord.notShown, after: 0) == 1)
        for minute in 1..<60 { #expect(try prompt(AuditRecord.notShown, after: Double(60 * minute)) == 0) }
        for second in 1...3 { #expect(try prompt("access", after: 3_590 + Double(second)) == 1) }
        #expect(try prompt(AuditRecord.notShown, after: 3_600) == 2)
        store.audit.closeWindows(at: nil)
        try store.commit()
        #expect(try store.verifyAll().brokenAt == nil)
    }
}
