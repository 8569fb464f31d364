import BrokerAccessControl
import BrokerDisclosure
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerAppCalls
@testable import BrokerGrants
@testable import BrokerLedger

/// A `WatchChanges` call on a connection of its own.
struct ModelWatch {
    let connection: TestApp
    let call: Call
    var told = 0
    /// The position in the last reply.
    var place: ModelPlace?
    var token = ""
}

/// Histories and tokens.
extension ModelRun {
    /// A token must stay the same as long as nothing visible happens, and change as soon as something does.
    func saw(_ token: String, _ name: String) throws {
        let app = model.app(name)
        let place = app.place
        // A token contains the time in windows of ten days. A watch may have got its token in an earlier window.
        let window = try window(of: token, name)
        if let last = lastTokens[name] {
            try require(last.text.count == token.count, "\(name): a token of another length")
            if last.place == place, last.window == window {
                try require(
                    last.text == token,
                    "\(name): the token changed, but nothing visible happened: \(places(last.text, token, name))")
            } else if last.place != place {
                try require(
                    last.text != token,
                    "\(name): the token is the same, but something visible happened: \(places(token, token, name))")
            }
        }
        lastTokens[name] = KnownToken(place: place, window: window, text: token)
    }

    private func window(of token: String, _ name: String) throws -> Int64 {
        let identifiers = fixture.grants.effectiveAccess(of: app(name).session).identifiers
        guard let held = identifiers?.open(token, as: .history).flatMap(HistoryToken.init) else {
            throw Difference("\(name): an invalid token")
        }
        // A watch may have got its token long ago. Even then the time in it is the start of a window.
        try require(
            held.time <= model.now && held.time.isMultiple(of: 10 * 86_400),
            "\(name): a token with the time \(held.time)")
        return held.time
    }

    /// The positions in two tokens, for the message about a difference.
    private func places(_ one: String, _ other: String, _ name: String) -> [HistoryPlace?] {
        let identifiers = fixture.grants.effectiveAccess(of: app(name).session).identifiers
        return [one, other].map { identifiers?.open($0, as: .history).flatMap(HistoryToken.init)?.place }
    }

    /// Compares the history since a token that the app kept, or from the start if it has none.
    func compareHistory(_ name: String) throws {
        let kept = chance(80) ? one(tokens[name] ?? []) : nil
        let withGroups = chance(80)
        let unify = chance(60)
        let keys = nameable(name)
        let token = kept.map { #","token":"\#($0.text)""# } ?? ""
        let answer = try app(name).call(
            "FetchHistory", #"{"keys":[\#(list(keys))],"includeGroups":\#(withGroups),"unify":\#(unify)\#(token)}"#)
        try require(answer.error == nil, "\(name): FetchHistory: \(answer.error ?? "") \(answer.text)")
        let events = try events(answer, keys, name, unify: unify)
        var then = kept?.snapshot
        if let kept {
            let age = model.now - kept.seconds
            // A token is valid for twenty days at least and thirty at most.
            let startsOver = events.contains { $0.kind == "dropEverything" }
            if age >= 30 * 86_400 || age > 20 * 86_400 && startsOver { then = nil }
        }
        let expected = model.history(of: model.app(name), since: then, unify: unify).filter {
            withGroups || $0.place < 3
        }
        let (told, wanted) = settled(events, expected, then, name)
        try requireSame(
            text(told), text(wanted),
            "\(name): FetchHistory since \(kept.map { "\($0.seconds), then \($0.snapshot.terms)" } ?? "ever")")
        try require(
            zip(events, events.dropFirst()).allSatisfy { $0.place <= $1.place },
            "\(name): events out of order: \(answer.text)")
        guard let token = answer.token else { throw Difference("\(name): a history without a token") }
        try saw(token, name)
    }

    /// The broker may report the present state of a record that the app saw only in between. Such an event changes
    /// nothing if the app knew the record neither then nor now, or both times. It is left out of the comparison.
    private func settled(
        _ events: [ModelHistoryEvent], _ expected: Set<ModelHistoryEvent>, _ then: ModelSnapshot?, _ name: String
    ) -> (told: [ModelHistoryEvent], expected: [ModelHistoryEvent]) {
        guard let then else { return (events, Array(expected)) }
        let now = model.snapshot(of: model.app(name))
        let extra = { (event: ModelHistoryEvent) -> Bool in
            guard !expected.contains(event) else { return false }
            switch event.kind {
            case "deleteContact", "revoked":
                guard let number = event.contact else { return true }
                if event.isUnified { return !now.people.contains { $0.count > 1 && $0[0] == number } }
                // A card that is part of a unified contact now is reported as deleted too.
                return !now.contacts.contains(number) || !now.people.contains([number])
            case "updateContact": return event.contact.map(now.contacts.contains) ?? false
            case "deleteGroup": return event.group.map { !now.groups.contains($0) } ?? true
            case "addMember", "addSubgroup":
                return event.link.map { then.links.contains($0) && now.links.contains($0) } ?? false
            case "removeMember", "removeSubgroup":
                return event.link.map { !then.links.contains($0) && !now.links.contains($0) } ?? false
            default: return false
            }
        }
        return (events.filter { !extra($0) }, Array(expected))
    }

    private func text(_ events: [ModelHistoryEvent]) -> String {
        events.map { event in
            let link = event.link.map { " \($0.member) \($0.group)" } ?? ""
            return "\(event.kind) \(event.contact ?? event.group ?? 0)\(event.isUnified ? " unified" : "")\(link)"
        }.sorted().joined(separator: ", ")
    }

    private func events(
        _ answer: Answer, _ keys: [ModelKey], _ name: String, unify: Bool
    ) throws -> [ModelHistoryEvent] {
        let app = model.app(name)
        return try (answer.parameters["events"]?.elements.map(Array.init) ?? []).map { event in
            var told = ModelHistoryEvent(kind: event["kind"]?.string ?? "")
            let identifier = event["identifier"]?.string ?? ""
            if let contact = event["contact"] {
                told.contact = number(of: contact)
                let known = told.contact.flatMap { model.book.contacts[$0] }.map { contact in
                    unify ? model.person(of: contact, app) : ModelPerson(members: [contact])
                }
                told.isUnified = known?.isUnified ?? false
                try learn([contact], known.map { [$0] } ?? [], name)
                try requireSame(
                    line(contact, keys),
                    known.map { model.line($0, keys, app.keys) { contactNames.name($0, app.key) ?? "?" } } ?? "nobody",
                    "\(name): \(told.kind)")
                try require(contact["identifier"]?.string == identifier, "\(name): an event with two identifiers")
            } else if let group = event["group"] {
                told.group = number(ofGroup: group)
                if let number = told.group, let problem = groupNames.learn(identifier, number, app.key) {
                    throw Difference(problem)
                }
                try requireSame(
                    group["name"]?.string ?? "", told.group.flatMap { model.book.groups[$0]?.name } ?? "",
                    "\(name): \(told.kind)")
            } else if let member = event["member"]?.string {
                let isSubgroup = told.kind.hasSuffix("Subgroup")
                let number = isSubgroup ? groupNames.number(member, app.key) : contactNames.number(member, app.key)
                told.link = ModelLink(
                    group: groupNames.number(identifier, app.key) ?? 0, member: number ?? 0, isSubgroup: isSubgroup)
            } else if told.kind == "deleteGroup" {
                told.group = groupNames.number(identifier, app.key)
            } else if told.kind != "dropEverything" {
                told.contact = contactNames.number(identifier, app.key)
                if told.contact == nil {
                    told.contact = unifiedNames.number(identifier, app.key)
                    told.isUnified = true
                }
            }
            return told
        }
    }

    // MARK: Watching

    func beginWatching(_ name: String) throws {
        let connection = connect(name)
        let call = try connection.begin("WatchChanges", more: true)
        watches[name] = ModelWatch(connection: connection, call: call)
        try checkWatches()
    }

    /// Each watch must report what its app can see, and nothing else. Called whenever time passes.
    func checkWatches() throws {
        fixture.loop.iterate()
        for (name, var watch) in watches {
            let replies = try watch.connection.replies(to: watch.call)
            let new = replies.dropFirst(watch.told)
            watch.told = replies.count
            let app = model.app(name)
            switch app.level {
            case .limited, .full:
                let place = app.place
                if place == watch.place {
                    try require(
                        new.isEmpty,
                        "\(name): a watch reports hidden changes: \(places(watch.token, new.last?.token ?? "", name))")
                } else {
                    guard let token = new.last?.token, new.allSatisfy({ $0.error == nil && $0.continues }) else {
                        throw Difference("\(name): a watch does not report a visible change: \(new.map(\.text))")
                    }
                    try saw(token, name)
                    try require(Set(new.compactMap(\.token)).count == new.count, "\(name): a watch repeats a token")
                    watch.place = place
                    watch.token = token
                }
            case .denied, .notDetermined, .restricted:
                if watch.place == nil, app.level == .notDetermined {
                    try require(
                        new.isEmpty && !watch.call.isOver, "\(name): a watch replies although nothing is decided")
                } else {
                    try require(
                        new.last?.error == "AccessDenied" && watch.call.isOver,
                        "\(name): a watch continues without access: \(new.map(\.text))"
                    )
                    watches[name] = nil
                    watch.connection.hangUp()
                    continue
                }
            }
            watches[name] = watch
            if watch.told > 20 {
                watch.connection.hangUp()
                watches[name] = nil
            }
        }
    }
}
