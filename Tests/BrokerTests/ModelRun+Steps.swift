import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerBooks
@testable import BrokerCore
@testable import BrokerGrants

/// Random steps.
extension ModelRun {
    func step() throws {
        let name = one(Self.appNames) ?? ""
        let level = model.app(name).level
        switch number(0...105) {
        case 100...: try putBack()
        case 0..<3: try shareGroup(name)
        case 60..<63 where isGenerous: try shareGroup(name)
        case 3..<45:
            if level == .notDetermined { try askForAccess(name, chooseAct()) } else { try save(name) }
        case 45..<55: try askForAccess(name, chooseAct())
        case 55..<63: try askForContacts(name, chooseAct())
        case 63..<71: try manage(name, chooseAct(), byPerson: false)
        case 71..<75: try manage(name, chooseAct(), byPerson: true)
        case 75..<79: try pick(name, chooseAct())
        case 79..<83: try propose(name, chooseAct())
        case 83..<88: try lower(name)
        case 88..<90: try reset(name)
        case 90..<93:
            guard watches[name] == nil else { return }
            note("watch: \(name)")
            if level == .limited || level == .full { _ = try compareEverybody(name) }
            try beginWatching(name)
        case 93: try preferences(name)
        case 94, 95: try changePolicy()
        case 96, 97:
            let time = Int64(chance(5) ? number(86_400...3_000_000) : number(60...100_000))
            note("time: \(time) seconds pass")
            try advance(by: time)
        default:
            note("restart: the broker")
            try restart()
        }
        try advance(by: 1)
    }

    // MARK: The policy

    private func changePolicy() throws {
        for name in Self.appNames where chance(60) {
            var rule = ModelRule(kind: one(ModelRule.Kind.allCases) ?? .none)
            rule.keys = one(ModelRule.keys) ?? []
            rule.groups = chance(50)
            rule.changes = one(ChangeRight.allCases) ?? .all
            rule.lifetime = Int64(number(60...200_000))
            rules[name] = rule
        }
        note("policy: \(rules.map { "\($0) \($1.kind) \($1.lifetime)" }.sorted().joined(separator: ", "))")
        loadPolicy()
        model.rule(rules)
        try checkWatches()
    }

    /// Puts the rules into force, as a reload does.
    func loadPolicy() {
        let rules = rules.sorted { $0.key < $1.key }.map { name, said in
            var rule = Rule(place: "test.toml:1")
            rule.apps = [name]
            rule.strengths = [Self.strength(of: name)]
            switch said.kind {
            case .none: break
            case .deny: rule.denies = true
            case .capLevel: rule.capsLevel = true
            case .capKeys:
                rule.maximumKeys = ContactKeySet(said.keys.compactMap { ContactKey(rawValue: $0.rawValue) })
                if said.groups { rule.maximumKeys?.formUnion(.groups) }
            case .capChanges: rule.maximumChanges = said.changes
            case .forbid: rule.forbidsPrompting = true
            case .lifetime: rule.maximumLifetime = said.lifetime
            case .forceDenied: rule.forcedLevel = .denied
            case .forceLimited: rule.forcedLevel = .limited
            case .forceFull: rule.forcedLevel = .full
            }
            return rule
        }
        fixture.rule(rules)
    }

    // MARK: The administrator

    func administrator(_ method: String, _ parameters: String) throws -> Answer {
        try TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin).call(method, parameters)
    }

    private func lower(_ name: String) throws {
        let app = model.app(name)
        let status = one(["denied", "limited", "limited", "full"]) ?? ""
        let end = chance(20) ? model.now + Int64(number(2...100_000)) : nil
        let narrow = chance(30) ? one(ModelKeys.narrow)?.with(groups: chance(30)) : nil
        let right = chance(25) ? one(ChangeRight.allCases) : nil
        var parameters = #"{"app":"\#(name)","status":"\#(status)""#
        if let end { parameters += #","expires":"\#(ModelDate.text(end))""# }
        if let narrow { parameters += #","keys":[\#(list(narrow))]"# }
        if let right { parameters += #","changes":"\#(right.rawValue)""# }
        note("lower: \(name) to \(status), \(narrow == nil ? "all" : "fewer") keys, until \(end ?? 0)")
        let answer = try administrator("SetGrant", parameters + "}")
        // An administrator cannot widen a grant in session mode.
        guard let decided = app.decided else {
            return try requireSame(answer.error ?? "", "UnknownApp", "SetGrant of \(name)")
        }
        let isWider: Bool
        switch (status, decided.level) {
        case ("denied", _), ("limited", .limited), ("limited", .full), ("full", .full): isWider = false
        default: isWider = true
        }
        let raises = right.map { $0 > decided.changes || decided.level == .denied } ?? false
        let isLater = end.flatMap { end in decided.expires.map { $0 < end } } ?? false
        // It is not specified whether keys can be set on a denied grant, so either outcome counts.
        guard decided.level != .denied || narrow == nil || isWider || isLater || raises else {
            if answer.error == nil {
                model.lower(
                    name, to: .denied, keys: decided.keys, changes: decided.changes,
                    expires: end ?? decided.expires)
            }
            return
        }
        let hasMore =
            narrow.map { !$0.keys.isSubset(of: decided.keys.keys) || $0.groups && !decided.keys.groups } ?? false
        if isWider || isLater || hasMore || raises {
            return try requireSame(answer.error ?? "", "InvalidValue", "SetGrant of \(name)")
        }
        try require(answer.error == nil, "SetGrant of \(name): \(answer.text)")
        let level: ModelApp.Level = status == "denied" ? .denied : status == "full" ? .full : .limited
        // A denial lasts longer than the access that it takes away would have.
        let former = level == .denied && decided.level != .denied ? nil : decided.expires
        model.lower(
            name, to: level, keys: narrow ?? decided.keys, changes: right ?? decided.changes, expires: end ?? former)
    }

    /// The person shares a contact group with an app that has limited access, or takes one back.
    private func shareGroup(_ any: String) throws {
        let name = one(Self.appNames.filter { model.app($0).decided?.level == .limited }) ?? any
        guard let group = one(model.book.groups.values.sorted { $0.number < $1.number }) else { return }
        let decided = model.app(name).decided
        guard chance(70) else {
            note("share: \(name) no longer gets group \(group.number)")
            let answer = try administrator(
                "ChangeGrantedContacts", #"{"app":"\#(name)","change":"revoke","groups":["\#(group.name)"]}"#)
            let error =
                switch decided?.level {
                case nil: "UnknownApp"
                case .full: "InvalidValue"
                default: ""
                }
            try requireSame(answer.error ?? "", error, "\(name): revoking a group")
            return model.share(name, group: group.number, isShared: false)
        }
        note("share: \(name) gets group \(group.number)")
        // In session mode no program can give an app more, so the grant is stored as after a password.
        let principal = app(name).principal
        guard decided?.level == .limited, var grant = fixture.access.grant(of: principal),
            let book = fixture.books.opened(1_000),
            let record = try book.groups(named: group.name, limit: 1, byAnyApp: true).first
        else { return }
        for (group, members) in fixture.grants.shares.members(of: [record], in: book) {
            grant.share(group: group, members: members)
        }
        grant.revision = fixture.access.nextRevision()
        var isSettled = false
        fixture.grants.settle(grant, for: principal, displayName: name, sharesPersistentKey: true) { isSettled = $0 }
        try require(fixture.loop.run { isSettled }, "\(name): the grant is not settled")
        model.share(name, group: group.number, isShared: true)
    }

    private func reset(_ name: String) throws {
        note("reset: \(name)")
        let answer = try administrator("ResetGrant", #"{"app":"\#(name)"}"#)
        let (decided, isSilenced) = (model.app(name).decided, model.app(name).isSilenced)
        if decided == nil, !isSilenced {
            // An app without a decision may still have a back-off. The reset removes it, and a second reset finds
            // nothing.
            guard answer.error == nil else {
                return try requireSame(answer.error ?? "", "UnknownApp", "ResetGrant of \(name)")
            }
            let again = try administrator("ResetGrant", #"{"app":"\#(name)"}"#)
            return try requireSame(again.error ?? "", "UnknownApp", "ResetGrant of \(name) once more")
        }
        try require(answer.error == nil, "ResetGrant of \(name): \(answer.text)")
        model.apps[name]?.isSilenced = false
        if decided != nil { model.reset(name) }
    }

    private func preferences(_ name: String) throws {
        let order = one(["givenName", "familyName"]) ?? ""
        note("preferences: \(name) wants \(order)")
        let level = model.app(name).level
        guard level != .notDetermined else { return }
        let answer = try app(name).call("SetUserDefaults", #"{"sortOrder":"\#(order)"}"#)
        guard level == .full, model.app(name).changes == .all else {
            return try requireSame((answer.error ?? "") + answer.text, "AccessDenied{}", "\(name): SetUserDefaults")
        }
        try requireSame((answer.error ?? "") + answer.text, "{}", "\(name): SetUserDefaults")
        model.book.sortOrder = order
    }
}
