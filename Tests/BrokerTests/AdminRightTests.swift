import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerAdminCalls

@Suite("Rights at the administrator's socket")
struct AdminRightTests {
    /// The right that each method requires for the caller's own user. The switch has no default, so that a new method
    /// needs a case here.
    private static func own(_ method: AdminMethod) -> AdminRight {
        switch method {
        case .listGrants, .explainDecision, .setGrant, .endSessionGrants, .listPending, .getStatus, .getBin: .nothing
        // The person gives access at the prompt.
        case .connect, .disconnect, .listConnections: .nothing
        // They only continue what BeginRestore began on the same connection.
        case .restoreLines, .finishRestore: .nothing
        case .resetGrant, .queryAudit, .listChanges: .authentication(.manageOwn)
        // A few contacts, without their names.
        case .putBack: .nothing
        // More days.
        case .setBinDays: .nothing
        case .emptyBin: .authentication(.emptyBin)
        case .findContactAccess, .changeGrantedContacts: .authentication(.lookUp)
        case .backUp: .authentication(.backUp)
        case .beginRestore: .authentication(.restore)
        case .verifyAudit, .reloadPolicy, .explainPolicy, .tryPolicy, .purgeUser, .getMetrics, .listUsers:
            .authentication(.admin)
        }
    }

    private static func caller(
        _ strength: IdentityStrength, uid: UInt32 = 1_000, isSandboxed: Bool = false
    ) -> Caller {
        Caller(
            uid: uid, strength: strength, app: "ctl", displayName: "ctl", executable: nil,
            process: ProcessIdentity(pid: 5, startTime: 1), session: nil, terminal: nil, isInterpreter: false,
            isSandboxed: isSandboxed)
    }

    @Test(
        "The method, the user and the identity strength determine the required right", arguments: AdminMethod.allCases,
        IdentityStrength.allCases)
    func table(method: AdminMethod, strength: IdentityStrength) {
        let own = AdminRequest(method: method, isOwn: true)
        let others = AdminRequest(method: method, isOwn: false)
        let widening = AdminRequest(method: .setGrant, isOwn: true, widens: true)
        let caller = Self.caller(strength)
        switch strength {
        case .labelled, .sandboxed, .service, .password:
            for request in [own, others, widening] {
                #expect(right(for: request, by: caller) == .never)
                #expect(right(for: request, by: Self.caller(strength, uid: 0)) == .never)
            }
        case .installed, .claimed, .unverified, .declared:
            #expect(right(for: own, by: caller) == Self.own(method))
            let othersRight: AdminRight =
                switch method {
                case .restoreLines, .finishRestore: .nothing
                default: others.concernsContent ? .never : .authentication(.admin)
                }
            #expect(right(for: others, by: caller) == othersRight)
            #expect(right(for: widening, by: caller) == .authentication(.shareAll))
            let shorter = AdminRequest(method: .setBinDays, isOwn: true, widens: true)
            #expect(right(for: shorter, by: caller) == .authentication(.emptyBin))
            let otherPassword = AdminRequest(method: .connect, isOwn: true, widens: true)
            #expect(right(for: otherPassword, by: caller) == .authentication(.shareAll))
            for request in [own, others, widening] {
                #expect(right(for: request, by: Self.caller(strength, uid: 0)) == .nothing)
                #expect(right(for: request, by: Self.caller(strength, isSandboxed: true)) == .never)
            }
        }
    }

    @Test("In session mode the broker's user and root have all rights, and other users and sandboxed callers none")
    func session() {
        for strength in IdentityStrength.allCases {
            #expect(rightInSession(by: Self.caller(strength), ownUID: 1_000) == .nothing)
            #expect(rightInSession(by: Self.caller(strength, uid: 0), ownUID: 1_000) == .nothing)
            #expect(rightInSession(by: Self.caller(strength, uid: 1_001), ownUID: 1_000) == .never)
            #expect(rightInSession(by: Self.caller(strength, isSandboxed: true), ownUID: 1_000) == .never)
        }
    }

    // MARK: At the socket

    let authority = TestAuthority()
    let fixture: BrokerFixture
    let app: TestApp

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        try fixture.keeper(adding: "Ada", "Grace")
        app = try fixture.app("mail", .limited(to: fixture.records("Ada")))
    }

    private func administrator(uid: UInt32 = 1_000, strength: IdentityStrength = .unverified) -> TestApp {
        TestApp(fixture: fixture, caller: fixture.caller("ctl", uid: uid, strength: strength), interface: .admin)
    }

    private static let interactive = #""allowInteractiveAuthentication":true"#

    @Test("Listing, explaining and lowering one's own grants need no password")
    func freely() throws {
        let ctl = administrator()
        #expect(
            try ctl.call("ListGrants").parameters["grants"]?.elements?.contains { $0["app"]?.string == "mail" } == true)
        #expect(try ctl.call("ExplainDecision", #"{"app":"mail"}"#).parameters["status"]?.string == "limited")
        #expect(try ctl.call("SetGrant", #"{"app":"mail","status":"denied"}"#).error == nil)
        #expect(try app.fetch().error == "AccessDenied")
        #expect(authority.asked.isEmpty)
    }

    @Test(
        "A request that needs a password is not carried out without one",
        arguments: [
            ("ResetGrant", #""app":"mail""#, AuthorityAction.manageOwn), ("QueryAudit", #""limit":5"#, .manageOwn),
            ("SetGrant", #""app":"mail","strength":"claimed","status":"full""#, .shareAll),
            (
                "SetGrant", #""app":"mail","strength":"claimed","status":"limited","keys":["givenName","note"]"#,
                .shareAll
            ),
            ("FindContactAccess", #""contact":"Ada""#, .lookUp),
            ("QueryAudit", #""named":"Ada""#, .lookUp),
            ("ChangeGrantedContacts", #""app":"mail","change":"revoke","contacts":["Ada"]"#, .lookUp),
            ("ChangeGrantedContacts", #""app":"mail","change":"narrow","contacts":["Grace"]"#, .lookUp),
            ("ChangeGrantedContacts", #""app":"mail","change":"share","contacts":["Grace"]"#, .shareAll),
            ("SetGrant", #""app":"mail","status":"denied","allUsers":true"#, .admin),
            ("ResetGrant", #""app":"mail","allUsers":true"#, .admin), ("ListPending", #""allUsers":true"#, .admin),
            ("EndSessionGrants", #""app":"mail","uid":1001"#, .admin),
            ("VerifyAudit", "", .admin), ("GetStatus", #""allUsers":true"#, .admin),
            ("ListPending", #""uid":1001"#, .admin),
            ("ReloadPolicy", "", .admin), ("ListGrants", #""allUsers":true"#, .admin),
            ("ListGrants", #""uid":1001"#, .admin), ("ExplainDecision", #""app":"mail","uid":1001"#, .admin),
            ("SetGrant", #""app":"mail","status":"denied","uid":1001"#, .admin),
            ("ResetGrant", #""app":"mail","uid":0"#, .admin), ("QueryAudit", #""uid":1001,"limit":5"#, .admin),
        ])
    func wanted(method: String, fields: String, action: AuthorityAction) throws {
        let ctl = administrator()
        let before = fixture.access.grant(of: app.principal)
        // Without `allowInteractiveAuthentication`, the authority may not ask the person.
        let quiet = try ctl.begin(method, "{\(fields)}")
        #expect(authority.open.map(\.action) == [action])
        #expect(authority.open.map(\.mayInteract) == [false])
        #expect(!quiet.isOver)
        try authority.answer(.wantsInteraction)
        #expect(try ctl.replies(to: quiet).map(\.error) == ["InteractiveAuthenticationRequired"])
        let parameters = "{\(fields)\(fields.isEmpty ? "" : ",")\(Self.interactive)}"
        for answer in refusals {
            let call = try ctl.begin(method, parameters)
            #expect(authority.open.map(\.mayInteract) == [true])
            try authority.answer(answer)
            let replies = try ctl.replies(to: call)
            #expect(replies.map(\.error) == ["NotAuthorized"])
            let reason = replies.first?.parameters["reason"]?.string
            switch answer {
            case .refused, .granted: #expect(reason == "authentication failed")
            case .wantsInteraction: #expect(reason?.contains("pkttyagent") == true)
            case .absent: #expect(reason?.contains("polkit is not installed") == true)
            case .failed: #expect(reason?.contains("systemctl status polkit") == true)
            case .hung: #expect(reason?.contains("systemctl restart polkit.service") == true)
            }
        }
        #expect(fixture.access.grant(of: app.principal) == before)
        // With the password, the broker carries out the request.
        let call = try ctl.begin(method, parameters)
        try authority.answer(.granted)
        try #require(fixture.loop.run { call.isOver })
        let error = try ctl.replies(to: call).first?.error
        #expect(error == nil || error == "UnknownApp", "\(error ?? "")")
    }

    @Test(
        "Only root may name another user's contacts",
        arguments: [
            ("FindContactAccess", #""contact":"Ada""#), ("QueryAudit", #""named":"Ada""#),
            ("ChangeGrantedContacts", #""app":"mail","change":"narrow","contacts":["Ada"]"#),
            ("ChangeGrantedContacts", #""app":"mail","change":"share","contacts":["Ada"]"#),
        ])
    func othersByName(method: String, fields: String) throws {
        let other = administrator(uid: 1_001)
        #expect(try other.call(method, "{\(fields),\"uid\":1000,\(Self.interactive)}").error == "NotAuthorized")
        #expect(authority.asked.isEmpty)
    }

    @Test("uid 0 may do everything without a password")
    func root() throws {
        let root = administrator(uid: 0)
        #expect(try root.call("VerifyAudit").error == nil)
        #expect(
            try root.call("QueryAudit", #"{"uid":1000,"limit":1}"#).parameters["records"]?.elements?.first { _ in true
            }?["hash"] != nil)
        #expect(try root.call("ResetGrant", #"{"app":"mail","uid":1000}"#).error == nil)
        #expect(authority.asked.isEmpty)
    }

    @Test(
        "Labelled and sandboxed apps and services are always refused, even with invalid parameters",
        arguments: [IdentityStrength.labelled, .sandboxed, .service])
    func never(strength: IdentityStrength) throws {
        for uid in [UInt32(1_000), 0] {
            let caller = administrator(uid: uid, strength: strength)
            for method in AdminMethod.allCases {
                for parameters in ["{}", #"{"nonsense":1}"#] {
                    #expect(try caller.call(method.rawValue, parameters).error == "NotAuthorized", "\(method)")
                }
            }
        }
        #expect(authority.asked.isEmpty)
    }

    @Test("A query of one's own audit omits the fields that are for administrators")
    func ownAudit() throws {
        let ada = try app.identifier(of: "Ada")
        _ = try app.fetch(#""predicate":{"identifiers":["\#(ada)"]}"#)
        let ctl = administrator()
        for (action, fields, isWhole) in [
            (AuthorityAction.manageOwn, #""event":"disclosure","limit":1"#, false),
            (.admin, #""event":"disclosure","limit":1,"allUsers":true"#, true),
        ] {
            let call = try ctl.begin("QueryAudit", "{\(fields)}")
            #expect(authority.open.map(\.action) == [action])
            try authority.answer(.granted)
            let reply = try ctl.replies(1, to: call)[0]
            let record = try #require(reply.parameters["records"]?.elements?.first { _ in true })
            for name in ["sequence", "previous", "hash", "contactIdentifiers"] {
                #expect((record[name] != nil) == isWhole, "\(name)")
            }
            #expect(record["app"]?.string == "mail")
        }
        let call = try ctl.begin("QueryAudit", #"{"contact":"0123","limit":1}"#)
        try authority.answer(.granted)
        #expect(try ctl.replies(1, to: call)[0].error == "InvalidValue")
    }

    @Test(
        "Widening a grant needs one identity strength and the password, and is stored as the user's own decision")
    func widening() throws {
        let ctl = administrator()
        #expect(try ctl.call("SetGrant", #"{"app":"mail","status":"full"}"#).error == "InvalidValue")
        #expect(authority.asked.isEmpty)
        let call = try ctl.begin("SetGrant", #"{"app":"mail","strength":"claimed","status":"full"}"#)
        #expect(authority.open.map(\.app) == ["mail"])
        #expect(try app.fetch().names == ["Ada"])
        try authority.answer(.granted)
        #expect(try ctl.replies(1, to: call)[0].error == nil)
        #expect(try app.fetch().names == ["Ada", "Grace"])
        #expect(fixture.access.grant(of: app.principal)?.decidedBy == .person)
        // Replacing a denial by `limited` grants no contact.
        let refused = try fixture.app("chat", .denied)
        let lifted = try ctl.begin("SetGrant", #"{"app":"chat","strength":"claimed","status":"limited"}"#)
        try authority.answer(.granted)
        #expect(try ctl.replies(1, to: lifted)[0].error == nil)
        #expect(try refused.fetch().names == [])
    }

    @Test("What an app may change can be lowered by anybody, and raised only with the password")
    func changes() throws {
        let ctl = administrator()
        let right = { fixture.access.grant(of: app.principal)?.changes }
        #expect(try ctl.call("SetGrant", #"{"app":"mail","status":"limited","changes":"own"}"#).error == nil)
        #expect(right() == .own)
        #expect(authority.asked.isEmpty)
        let listed = try ctl.call("ListGrants").parameters["grants"]?.elements?.first { $0["app"]?.string == "mail" }
        #expect(listed?["changes"]?.string == "own")
        // A change of something else leaves it.
        #expect(
            try ctl.call("SetGrant", #"{"app":"mail","status":"limited","keys":["givenName"]}"#).error == nil)
        #expect(right() == .own)
        let raised = try ctl.begin(
            "SetGrant", #"{"app":"mail","strength":"claimed","status":"limited","changes":"edit"}"#)
        #expect(authority.open.map(\.action) == [.shareAll])
        #expect(right() == .own)
        try authority.answer(.granted)
        #expect(try ctl.replies(1, to: raised)[0].error == nil)
        #expect(right() == .edit)
        let unknown = try ctl.call("SetGrant", #"{"app":"mail","status":"limited","changes":"most"}"#)
        #expect(unknown.error == "InvalidParameter")
    }

    @Test("The program is checked after the password, and the current grant decides whether a request widens it")
    func decidedAgain() throws {
        let ctl = administrator()
        // While the app has full access, setting it to full widens nothing. After a denial the same request widens.
        try fixture.grant(.full, keys: ContactKeySet([.givenName]), to: app)
        let fields = #""app":"mail","strength":"claimed","status":"full","uid":1000"#
        let reset = try ctl.begin("ResetGrant", #"{"app":"mail"}"#)
        #expect(authority.open.map(\.action) == [.manageOwn])
        ctl.process.isItself = false
        try authority.answer(.granted)
        #expect(ctl.isClosed && fixture.access.grant(of: app.principal) != nil)
        #expect(try ctl.replies(to: reset).allSatisfy { $0.error != nil })
        let other = administrator()
        #expect(try other.call("SetGrant", "{\(fields)}").error == nil)
        try fixture.grant(.denied, to: app)
        let again = try other.begin("SetGrant", "{\(fields)}")
        #expect(authority.open.map(\.action) == [.shareAll])
        #expect(!again.isOver)
    }

    @Test("Without an authority no grant can be widened at this socket")
    func sessionMode() throws {
        let fixture = try BrokerFixture()
        let app = try fixture.app("mail", .denied)
        let ctl = TestApp(fixture: fixture, caller: fixture.caller("ctl"), interface: .admin)
        let wide = #"{"app":"mail","strength":"claimed","status":"full"}"#
        #expect(try ctl.call("SetGrant", wide).error == "InvalidValue")
        #expect(try ctl.call("QueryAudit", #"{"limit":1}"#).error == nil)
        #expect(fixture.access.grant(of: app.principal)?.access == .denied)
        let other = TestApp(fixture: fixture, caller: fixture.caller("ctl", uid: 1_001), interface: .admin)
        for method in AdminMethod.allCases { #expect(try other.call(method.rawValue).error == "NotAuthorized") }
    }
}
