import BrokerAccessControl
import BrokerBounds
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerAppCalls
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Long histories")
struct LongHistoryTests {
    @Test(
        "A large group comes in parts with each member once, and also when the members are granted again")
    func largeGroup() throws {
        let fixture = try BrokerFixture()
        let chat = try fixture.app("chat", .full)
        let mail = try fixture.app("mail", .limited(to: []))
        for app in [chat, mail] {
            let made = try app.save([.other(#"{"operation":"add","group":{"name":"Mine"}}"#)])
            let group = try #require(made.strings("identifiers").first)
            for part in 0..<2 {
                let adds = (0..<300).flatMap { number in
                    [
                        Change.other(
                            #"{"operation":"add","contact":{"identifier":"c\#(number)","givenName":"N\#(part)"}}"#),
                        .other(
                            #"{"operation":"addMember","group":{"name":"Mine","identifier":"\#(group)"},"member":"c\#(number)"}"#
                        ),
                    ]
                }
                #expect(try app.save(adds).error == nil)
            }
        }
        let members = { (replies: [Answer]) in
            replies.flatMap { $0.parameters["events"]?.elements.map(Array.init) ?? [] }
                .compactMap { $0["kind"]?.string == "addMember" ? $0["member"]?.string : nil }
        }
        guard case .granted(let grant) = fixture.grants.effectiveAccess(of: mail.session).effective,
            case .limited(let granted) = grant.access
        else {
            Issue.record("mail has no limited access")
            return
        }
        #expect(granted.count == 600)
        try fixture.grant(.limited(to: []), to: mail)
        let token = try mail.history(nil).token
        try fixture.grant(.limited(to: granted), to: mail)
        // An app that sees everything sees both groups.
        for (app, token, count) in [(chat, "", 1_200), (mail, token, 600)] {
            let parameters = #"{"token":"\#(token)","keys":[],"includeGroups":true}"#
            #expect(try app.call("FetchHistory", parameters).error == "ExpectedMore")
            let replies = try app.stream("FetchHistory", parameters)
            #expect(
                replies.allSatisfy {
                    $0.parameters["events"]?.count ?? 0 <= fixture.surroundings.limits.contactsPerIteration + 1
                })
            #expect(members(replies).count == count)
            #expect(Set(members(replies)).count == count)
        }
    }
}
