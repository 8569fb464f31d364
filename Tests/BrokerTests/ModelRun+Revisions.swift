import BrokerJSON
import Testing

/// What an app sees of a contact, as far as a revision names it.
struct ModelView: Hashable {
    /// The key of the app.
    let app: String
    let cards: [Int]
    /// The values of the cards. Dates do not count.
    let text: String
}

/// The revisions that apps got.
struct RevisionBook {
    struct Known {
        let view: ModelView
        let keys: Set<ModelKey>
    }

    private var revisions: [ModelView: [Set<ModelKey>: String]] = [:]
    private(set) var known: [String: Known] = [:]
    /// The last ones of each contact, by the app's key.
    private(set) var kept: [String: [[Int]: [String]]] = [:]

    /// - Returns: a description of a contradiction to an earlier answer, or `nil`. It is not specified whether other keys
    ///   change a revision if the app sees no value of theirs.
    mutating func learn(_ revision: String, _ view: ModelView, _ keys: Set<ModelKey>) -> String? {
        if let other = known[revision], other.view != view { return "\(revision) names \(view), and \(other.view)" }
        if let other = revisions[view]?[keys], other != revision { return "\(view) has \(other), and \(revision)" }
        guard revisions[view]?[keys] == nil else { return nil }
        known[revision] = Known(view: view, keys: keys)
        revisions[view, default: [:]][keys] = revision
        kept[view.app, default: [:]][view.cards, default: []].append(revision)
        if kept[view.app]?[view.cards]?.count ?? 0 > 3 { kept[view.app]?[view.cards]?.removeFirst() }
        return nil
    }
}

extension Model {
    func view(of cards: [ModelContact], _ app: ModelApp) -> ModelView {
        let texts = cards.map { card in
            ModelKey.written.compactMap { key -> String? in
                guard app.keys.keys.contains(key), let values = card.contents[key] else { return nil }
                return "\(key.rawValue): " + values.map { "\($0.identifier)=\($0.text)" }.joined(separator: ",")
            }.joined(separator: "|")
        }
        return ModelView(app: app.key, cards: cards.map(\.number), text: texts.joined(separator: "\n"))
    }
}

extension ModelRun {
    /// Compares the revisions of all contacts: one is the same as before if and only if the app sees the same.
    func compareRevisions(_ name: String) throws {
        let unify = chance(60)
        let keys = [ModelKey.previousFamilyName] + some([.givenName, .phoneNumbers])
        let answer = try app(name).call(
            "FetchContacts", #"{"keys":[\#(list(keys))],"revisions":true,"unify":\#(unify)}"#)
        let app = model.app(name)
        let people = model.people(of: app, unify: unify)
        try require(
            answer.error == nil && answer.contacts.count == people.count, "\(name): revisions: \(answer.text)")
        try learn(answer.contacts, people, name)
        for (contact, person) in zip(answer.contacts, people) {
            let revision = contact["revision"]?.string ?? ""
            let problem = revisions.learn(revision, model.view(of: person.members, app), app.keys.keys)
            if let problem { throw Difference("\(name): a revision: \(problem)") }
        }
        counted("revisions")
    }

    /// A revision that a change of a contact names, perhaps an earlier one, or of another contact or app.
    ///
    /// - Returns: the revision, and whether it is the present one; `nil` to name none.
    func chooseRevision(of cards: [Int], _ name: String) -> (text: String, isPresent: Bool)? {
        let app = model.app(name)
        let all = revisions.known.keys.sorted()
        let own = revisions.kept[app.key]?[cards] ?? []
        guard chance(40), let text = chance(85) && !own.isEmpty ? one(own) : one(all + ["nothing"]) else { return nil }
        let view = model.view(of: cards.compactMap { model.book.contacts[$0] }, app)
        guard let known = revisions.known[text], known.view == view else {
            counted("another revision")
            return (text, false)
        }
        guard known.keys == app.keys.keys else { return nil }
        counted("the present revision")
        return (text, true)
    }
}
