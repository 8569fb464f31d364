import BrokerAccessControl
import BrokerDisclosure
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerCore

/// A stream of `WatchChanges` on a connection of its own.
struct ModelWatch {
    let connection: TestApp
    let call: Call
    var told = 0
    /// What the app was told last.
    var place: ModelPlace?
    var token = ""
}

/// What an app is told of what happened.
extension ModelRun {
    /// The same while nothing happens that the app can see, another one as soon as something does.
    func saw(_ token: String, _ name: String) throws {
        let app = model.app(name)
        let place = app.place
        // A token holds the time, cut to ten days: of what a watch was told earlier it is another one.
        let window = try window(of: token, name)
        if let last = lastTokens[name] {
            try require(last.text.count == token.count, "\(name): a token of another length")
            if last.place == place, last.window == window {
                try require(
                    last.text == token,
                    "\(name): the token changed though it could see nothing happen: \(places(last.text, token, name))")
            } else if last.place != place {
                try require(
                    last.text != token,
                    "\(name): the token stayed though it could see something happen: \(places(token, token, name))")
            }
        }
        lastTokens[name] = KnownToken(place: place, window: window, text: token)
    }

    private func window(of token: String, _ name: String) throws -> Int64 {
        let identifiers = house.broker.grants.standing(of: app(name).session).identifiers
        guard let held = identifiers?.open(token, as: .history).flatMap(HistoryToken.init) else {
            throw Difference("\(name): a token that is none")
        }
        // What a watch was told before much time passed may be old, and still none is of another time than a window's start.
        try require(
            held.time <= model.now && held.time.isMultiple(of: 10 * 86_400), "\(name): a token of \(held.time)")
        return held.time
    }

    /// What two tokens hold, for whoever looks for the difference.
    private func places(_ one: String, _ other: String, _ name: String) -> [HistoryPlace?] {
        let identifiers = house.broker.grants.standing(of: app(name).session).identifiers
        return [one, other].map { identifiers?.open($0, as: .history).flatMap(HistoryToken.init)?.place }
    }

    /// What happened since a token that the app kept, or everything where it kept none that is good.
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
            // Good for twenty days at least; older than thirty it cannot be.
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

    /// What the app could see for a while is told as it is now: as gone, or as there. Of what it neither knew then nor knows now,
    /// and of what it knew then and knows now, that changes nothing, so it is compared apart from the rest.
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
                // With what is linked, its cards are told as gone too.
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
                try require(contact["identifier"]?.string == identifier, "\(name): an event of two identifiers")
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

    /// Each watcher was told what it can see, and nothing else. Called with every second that passes.
    func checkWatches() throws {
        house.loop.turn()
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
                        "\(name): is told of what it cannot see: \(places(watch.token, new.last?.token ?? "", name))")
                } else {
                    guard let token = new.last?.token, new.allSatisfy({ $0.error == nil && $0.continues }) else {
                        throw Difference("\(name): is not told of what it can see: \(new.map(\.text))")
                    }
                    try saw(token, name)
                    try require(Set(new.compactMap(\.token)).count == new.count, "\(name): is told the same twice")
                    watch.place = place
                    watch.token = token
                }
            case .denied, .notDetermined, .restricted:
                if watch.place == nil, app.level == .notDetermined {
                    try require(new.isEmpty && !watch.call.isOver, "\(name): watching, it is not silent")
                } else {
                    try require(
                        new.last?.error == "AccessDenied" && watch.call.isOver,
                        "\(name): goes on watching: \(new.map(\.text))"
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
