import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerAppCalls
@testable import BrokerGrants

/// Prompts and the person's answers.
extension ModelRun {
    /// What the person does at a prompt.
    enum Act: CaseIterable { case away, dismiss, late, never, refuse, some, all }

    /// Makes a call, and lets the person answer if the model expects a prompt.
    ///
    /// - Parameters:
    ///   - expecting: the kind of prompt that the model predicts; `nil` if it predicts none. Evaluated again after
    ///     every wait.
    ///   - answer: gives the person's answer, and applies it to the model.
    func ask(
        _ name: String, _ method: String, _ parameters: String, _ act: Act, expecting: () -> String?,
        answer: (TestPerson.Prompt, TestPerson) throws -> Void
    ) throws -> Answer {
        if act == .away {
            person?.leave()
            person = nil
        } else if person == nil {
            person = try TestPerson(fixture: fixture)
        }
        while true {
            let app = app(name)
            let call = try app.begin(method, parameters)
            try require(
                fixture.loop.run { call.isOver || fixture.prompts.openCount(1_000) > 0 },
                "\(method): neither a reply nor a prompt")
            let kind = mayBeAsked(name) ? expecting() : nil
            if call.isOver {
                let reply = try app.replies(1, to: call)[0]
                let held = kind == "keys" ? heldOff(app) : reply.parameters["retryAfterSeconds"]?.integer
                guard kind != nil, let wait = held else {
                    try require(kind == nil, "\(name): \(method) does not prompt: \(reply.error ?? "") \(reply.text)")
                    return reply
                }
                try advance(by: wait)
                continue
            }
            guard let kind else { throw Difference("\(name): \(method) prompts the person") }
            if let person {
                let prompts = try person.prompts()
                guard let prompt = prompts.last else { throw Difference("\(name): the agent gets no prompt") }
                let isQuiet = model.app(name).level == .denied
                try requireSame("\(prompt.kind) \(prompt.isQuiet)", "\(kind) \(isQuiet)", "\(name): \(method)")
                switch act {
                case .late: try advance(by: 121)
                case .dismiss: try person.answer(prompt)
                case .never:
                    try person.answer(prompt, #""neverAskAgain":true"#)
                    model.apps[name]?.isSilenced = true
                case .away, .refuse, .some, .all: try answer(prompt, person)
                }
            } else {
                try advance(by: 6)
            }
            try require(fixture.loop.run { call.isOver }, "\(name): \(method) has no answer")
            return try app.replies(1, to: call)[0]
        }
    }

    /// Whether the policy allows prompts for the app.
    func mayBeAsked(_ name: String) -> Bool {
        let kind = model.app(name).rule.kind
        return kind != .forbid && kind != .deny && !model.app(name).isSilenced
    }

    func chooseAct() -> Act {
        switch number(0...19) {
        case 0: .away
        case 1, 2: .dismiss
        case 3: .late
        case 4: chance(20) ? .never : .dismiss
        case 5, 6: .refuse
        case 7, 8, 9: .all
        case 10, 11, 12,
            13 where isGenerous:
            .all
        default: .some
        }
    }

    // MARK: Choosing

    /// The rows that the person sees. They must be the model's contacts, in the expected order.
    func rows(
        _ prompt: TestPerson.Prompt, _ person: TestPerson, _ name: String,
        hiding: (ModelContact) -> Bool = { _ in false },
        isSorted: Bool = true
    ) throws -> [(row: String, number: Int)] {
        let told = try person.rows(prompt)
        let app = model.app(name)
        let all = model.book.contacts.values.sorted { $0.number < $1.number }.filter { !hiding($0) }
        let sorted = model.sorted(all, isSorted ? "userDefault" : "familyName", .withNotes)
        // Contacts that resemble an offered card come first, in an order of their own.
        let similar = told.filter { $0.match != nil }.compactMap { number(of: $0.contact) }
        let expected = similar.compactMap { model.book.contacts[$0] } + sorted.filter { !similar.contains($0.number) }
        let granted = { (number: Int) in app.level != .denied && app.sees(contact: number) ? "all" : "none" }
        try requireSame(
            told.map { "\(number(of: $0.contact) ?? 0) \($0.granted)" }.joined(separator: ", "),
            expected.map { "\($0.number) \(granted($0.number))" }.joined(separator: ", "),
            "\(name): the person's list at \(prompt.kind)")
        return told.compactMap { row in number(of: row.contact).map { (row.identifier, $0) } }
    }

    func text(_ rows: [(row: String, number: Int)]) -> String {
        rows.map { "\"\($0.row)\"" }.joined(separator: ",")
    }

    /// Random keys, as text for the answer and as values for the model. `nil` leaves them out of the answer.
    func chooseKeys(mayHaveNotes: Bool, mayHaveGroups: Bool) -> (text: String, keys: ModelKeys)? {
        let groups = mayHaveGroups && chance(60)
        if isGenerous, chance(70) { return whole(nil, ModelKeys.ordinary.with(groups: groups)) }
        switch number(0...9) {
        case 0, 1, 2:
            return one(ModelKeys.narrow).map { $0.with(groups: groups) }.map { (#","keys":[\#(list($0))]"#, $0) }
        case 3 where mayHaveNotes, 4 where mayHaveNotes:
            return whole("note", ModelKeys.withNotes.with(groups: groups))
        case 5: return whole(nil, ModelKeys.ordinary.with(groups: groups))
        default: return groups ? whole(nil, ModelKeys.ordinary.with(groups: true)) : nil
        }
    }

    /// All ordinary keys, and what the arguments add.
    private func whole(_ named: String?, _ keys: ModelKeys) -> (text: String, keys: ModelKeys) {
        let more = [named, keys.groups ? "groups" : nil].compactMap { $0 }.map { #","\#($0)""# }.joined()
        return (#","keys":[\#(AuthorizationTable.ordinaryKeys)\#(more)]"#, keys)
    }

    /// What the person lets the app change; often all, so that the run has many changes.
    private func chooseChanges(_ name: String) -> (text: String, right: ChangeRight) {
        let most = model.app(name).rule.most
        let rights: [ChangeRight?] = [
            .all, .all, .all, .all, .edit, .edit, .edit, .edit, .own, .own, .own, ChangeRight.none, ChangeRight.none,
            nil,
        ]
        guard let right = isGenerous ? .all : one(rights) ?? nil else {
            return ("", min(.own, most))
        }
        return (#","changes":"\#(min(right, most).rawValue)""#, min(right, most))
    }

    private func chooseEnd(_ name: String) -> (text: String, end: Int64)? {
        guard chance(20) else { return nil }
        let rule = model.app(name).rule
        let end = model.now + (rule.kind == .lifetime ? min(rule.lifetime, 2_000) : Int64(number(2...200_000)))
        return (#","lifetime":"untilTime","expires":"\#(ModelDate.text(end))""#, end)
    }

    // MARK: Kinds of prompts

    /// `RequestAccess`, or another call that prompts for access.
    func askForAccess(_ name: String, _ act: Act) throws {
        let wantsNotes = chance(40)
        let keys = wantsNotes ? #""previousFamilyName","givenName","note""# : #""previousFamilyName","givenName""#
        let wantsGroups = chance(40)
        let (method, parameters) =
            one([
                ("RequestAccess", #"{"purpose":"To try it","keys":[\#(keys)\#(wantsGroups ? #","groups""# : "")]}"#),
                ("FetchContacts", #"{"keys":[\#(keys)]}"#), ("CountContacts", "{}"), ("ListGroups", "{}"),
            ]) ?? ("", "")
        note("access: \(name) calls \(method), the person \(act)")
        let rule = model.app(name).rule
        let asked = ModelKeys.asked(withNotes: wantsNotes, groups: wantsGroups)
        let mayHaveNotes = wantsNotes && parameters.contains("note") && rule.writable.contains(.note)
        let mayHaveGroups = parameters.contains("groups") && (rule.kind != .capKeys || rule.groups)
        let answer = try ask(name, method, parameters, act) {
            guard !model.app(name).isSilenced else { return nil }
            if method == "RequestAccess", model.app(name).lacked(of: asked) != nil { return "keys" }
            return model.app(name).level == .notDetermined ? "access" : nil
        } answer: { prompt, person in
            if prompt.kind == "keys" { return try self.answerKeys(name, asked, act, prompt, person) }
            let rows = try self.rows(prompt, person, name)
            let keys = chooseKeys(mayHaveNotes: mayHaveNotes, mayHaveGroups: mayHaveGroups)
            let end = chooseEnd(name)
            let changes = chooseChanges(name)
            let terms = (keys?.text ?? "") + changes.text + (end?.text ?? "")
            switch act {
            case .refuse:
                try person.answer(prompt, #""level":"denied""#)
                model.decide(name, .denied)
            case .all where rule.kind != .capLevel:
                try person.answer(prompt, #""level":"full"\#(terms)"#)
                model.decide(
                    name, .full, keys: keys?.keys ?? .ordinary, changes: changes.right, expires: end?.end)
            case .all, .away, .dismiss, .late, .never, .some:
                if act == .all {
                    // The broker refuses an answer that exceeds the policy, and the prompt stays open.
                    let answer = try person.answer(prompt, #""level":"full""#)
                    try requireSame(answer.error ?? "", "InvalidAnswer", "\(name): full under a cap")
                }
                let chosen = act == .all ? rows : some(rows)
                try person.answer(prompt, #""level":"limited","identifiers":[\#(text(chosen))]\#(terms)"#)
                model.decide(
                    name, .limited, set: model.book.linked(with: chosen.map(\.number)), keys: keys?.keys ?? .ordinary,
                    changes: changes.right, expires: end?.end)
            }
        }
        let app = model.app(name)
        let said = (answer.error ?? "") + answer.text
        switch (method, app.level) {
        case ("RequestAccess", .notDetermined) where act == .away && mayBeAsked(name):
            try requireSame(said, "NoAgent{}", name)
        case ("RequestAccess", let level): try requireSame(said, #"{"status":"\#(level.rawValue)"}"#, name)
        case (_, .notDetermined): try requireSame(said, "AuthorizationNotDetermined{}", name)
        case (_, .denied), (_, .restricted): try requireSame(said, "AccessDenied{}", name)
        case ("FetchContacts", _) where wantsNotes && !app.keys.keys.contains(.note):
            try requireSame(said, #"UnauthorizedKeys{"keys":["note"]}"#, name)
        case ("FetchContacts", _):
            try requireSame(
                answer.contacts.compactMap { number(of: $0).map(String.init) }.joined(separator: " "),
                model.people(of: app).map { String($0.first.number) }.joined(separator: " "),
                "\(name): after the prompt")
        case ("CountContacts", _):
            try requireSame(said, #"{"count":\#(model.people(of: app).count)}"#, "\(name): after the prompt")
        default:
            try requireSame(
                "\(answer.parameters["groups"]?.count ?? -1)", "\(model.groups(of: app).count)",
                "\(name): after the prompt")
        }
    }

    /// The access button.
    func askForContacts(_ name: String, _ act: Act) throws {
        let known = one(model.book.contacts.values.sorted { $0.number < $1.number })
        let ignored = chance(30) ? known.flatMap { one($0.texts(.emailAddresses)) } : nil
        note("button: \(name), ignoring \(ignored ?? "nobody"), the person \(act)")
        var newly: Set<Int> = []
        let answer = try ask(
            name, "RequestContacts",
            #"{"query":"somebody","ignoredEmailAddresses":[\#(ignored.map { "\"\($0)\"" } ?? "")]}"#, act
        ) {
            let app = model.app(name)
            return app.isSilenced || app.level == .full || app.rule.kind == .forceDenied ? nil : "button"
        } answer: { prompt, person in
            let app = model.app(name)
            let rows = try self.rows(prompt, person, name) { contact in
                app.sees(contact: contact.number)
                    || contact.texts(.emailAddresses).contains { $0.lowercased() == ignored?.lowercased() }
            }
            if act == .refuse, app.level == .notDetermined {
                try person.answer(prompt, #""level":"denied""#)
                return model.decide(name, .denied)
            }
            let chosen = act == .all ? rows : some(rows)
            guard act != .refuse, !chosen.isEmpty else { return _ = try person.answer(prompt) }
            let isFirst = app.level != .limited
            let (keys, end) =
                isFirst ? (chooseKeys(mayHaveNotes: false, mayHaveGroups: false), chooseEnd(name)) : (nil, nil)
            let changes = isFirst ? chooseChanges(name) : (text: "", right: app.going.changes)
            try person.answer(
                prompt,
                #""level":"limited","identifiers":[\#(text(chosen))]\#(keys?.text ?? "")\#(changes.text)\#(end?.text ?? "")"#
            )
            let on = model.book.linked(with: chosen.map(\.number))
            newly = on.subtracting(app.set)
            model.decide(
                name, .limited, set: app.set.union(newly), turnedOn: on,
                keys: isFirst ? keys?.keys ?? .ordinary : app.going.keys, changes: changes.right,
                expires: isFirst ? end?.end : app.going.expires, goesOn: !isFirst)
        }
        if model.app(name).level == .restricted { return try compareRefused(answer, name) }
        try compareNewly(answer, newly, name)
    }

    private func compareRefused(_ answer: Answer, _ name: String) throws {
        try requireSame((answer.error ?? "") + answer.text, "AccessDenied{}", "\(name): under a policy that denies")
    }

    /// The answer must name as many contacts as were granted, by identifiers that the app can use.
    func compareNewly(_ answer: Answer, _ newly: Set<Int>, _ name: String) throws {
        let told = answer.strings("identifiers")
        try require(
            answer.error == nil && told.count == newly.count,
            "\(name): gets \(answer.error ?? "") \(answer.text) instead of \(newly.sorted())")
        guard !newly.isEmpty else { return }
        let names = told.map { "\"\($0)\"" }.joined(separator: ",")
        let app = model.app(name)
        let expected = model.people(of: app, unify: false).filter { newly.contains($0.first.number) }
        try fetch(
            name, #""predicate":{"identifiers":[\#(names)]},"unify":false"#, [.previousFamilyName], expecting: expected)
    }

    /// The one-time picker.
    func pick(_ name: String, _ act: Act) throws {
        let keys =
            [ModelKey.previousFamilyName] + some([.givenName, .organizationName, .phoneNumbers, .emailAddresses])
        note("pick: \(name), the person \(act)")
        var chosen: [Int] = []
        let answer = try ask(name, "PickContacts", #"{"keys":[\#(list(keys))],"multiple":true}"#, act) {
            model.app(name).isSilenced ? nil : "pick"
        } answer: { prompt, person in
            let rows = act == .refuse ? [] : some(try self.rows(prompt, person, name, isSorted: false))
            chosen = rows.map(\.number)
            let picked = rows.map { #"{"contact":"\#($0.row)","key":"identifier"}"# }.joined(separator: ",")
            try person.answer(prompt, rows.isEmpty ? "" : #""picked":[\#(picked)]"#)
        }
        if model.app(name).level == .restricted { return try compareRefused(answer, name) }
        let scope = ModelKeys(keys: Set(keys).intersection(model.app(name).rule.writable), isWhole: false)
        try require(answer.error == nil, "\(name): PickContacts: \(answer.text)")
        try requireSame(
            answer.contacts.map { line($0, keys) }.sorted().joined(separator: "\n    "),
            chosen.compactMap { model.book.contacts[$0] }.map { model.line($0, keys, scope) }.sorted()
                .joined(separator: "\n    "), "\(name): picked")
        let app = model.app(name)
        guard app.level == .limited || app.level == .full, !answer.contacts.isEmpty else { return }
        let picked = answer.contacts.map { #""\#($0["identifier"]?.string ?? "")""# }.joined(separator: ",")
        // Only with full access do other calls accept the identifiers.
        let expected = app.level == .full ? model.people(of: app, unify: false) : []
        try fetch(
            name, #""predicate":{"identifiers":[\#(picked)]},"unify":false"#, [.previousFamilyName],
            expecting: expected.filter { chosen.contains($0.first.number) })
    }

    /// A card that the app proposes.
    func propose(_ name: String, _ act: Act) throws {
        let number = model.book.takeNumber()
        let texts = makeTexts(number, notes: true).filter { model.app(name).rule.writable.contains($0.key) }
        note("propose: \(name) offers \(number), the person \(act)")
        var isAdded = false
        let answer = try ask(name, "ProposeContact", #"{"contact":{\#(json(texts))}}"#, act) {
            model.app(name).isSilenced ? nil : "propose"
        } answer: { prompt, person in
            let rows = try self.rows(prompt, person, name)
            var book = model.book
            switch act {
            case .all:
                try person.answer(prompt, #""addProposed":true"#)
                let event = book.add(number, texts, maker: "", at: model.now, model.moment + 1)
                model.change(book, [event], joining: [number], by: name, isPersons: true)
                isAdded = true
            case .some:
                guard let row = one(rows) else { return _ = try person.answer(prompt) }
                try person.answer(prompt, #""mergeInto":"\#(row.row)""#)
                let event = book.merge(texts, into: row.number, at: model.now, model.moment + 1)
                model.change(book, [event].compactMap { $0 }, by: nil)
            case .away, .dismiss, .late, .never, .refuse: try person.answer(prompt)
            }
        }
        let app = model.app(name)
        if app.level == .restricted { return try compareRefused(answer, name) }
        guard isAdded, app.level == .limited || app.level == .full else {
            return try requireSame((answer.error ?? "") + answer.text, "{}", "\(name): ProposeContact")
        }
        let told = answer.parameters["identifier"]?.string ?? ""
        if let problem = contactNames.learn(told, number, app.key) { throw Difference(problem) }
    }
}
