import BrokerJSON
import BrokerModel
import Testing

/// Saves by apps.
extension ModelRun {
    // MARK: Texts

    func makeTexts(_ number: Int, notes: Bool) -> [ModelKey: [String]] {
        var texts: [ModelKey: [String]] = [.previousFamilyName: [ModelContact.mark(number)]]
        for key in ModelKey.written where key != .previousFamilyName && (notes || key != .note) && chance(60) {
            texts[key] = makeTexts(of: key)
        }
        return texts
    }

    /// Possibly empty, so that a value is cleared.
    private func makeTexts(of key: ModelKey) -> [String] {
        if chance(10) { return [] }
        switch key {
        case .phoneNumbers: return Set((0..<number(1...2)).map { _ in "+49 30 555 10\(number(10...29))" }).sorted()
        case .emailAddresses:
            return Set(
                (0..<number(1...2)).map { _ in
                    "\(one(Self.words)?.lowercased() ?? "")\(number(1...4))@\(one(Self.domains) ?? "")"
                }
            ).sorted()
        case .note: return ["Note \(number(1...9))"]
        default: return [one(Self.words) ?? ""]
        }
    }

    func json(_ texts: [ModelKey: [String]]) -> String {
        texts.sorted { $0.key.rawValue < $1.key.rawValue }.map { key, texts in
            guard key.isList else { return #""\#(key.rawValue)":"\#(texts.first ?? "")""# }
            return #""\#(key.rawValue)":[\#(texts.map { #"{"value":"\#($0)"}"# }.joined(separator: ","))]"#
        }.joined(separator: ",")
    }

    // MARK: Steps of a save

    func save(_ name: String) throws {
        let mayAsk = chance(75)
        // An app that has to wait is refused without a prompt.
        if mayAsk, chance(80), let wait = heldOff(app(name)) { try advance(by: wait) }
        // Learns the identifiers of the app's contacts and groups first.
        let level = model.app(name).level
        if level == .limited || level == .full {
            _ = try compareEverybody(name)
            try compareGroups(name)
        }
        let isEvidence = level == .full && model.app(name).keys.isWhole && model.app(name).changes == .all
        let containers = isEvidence ? try containers(name) : []
        var draft = ModelDraft(book: model.book)
        (draft.book.isEvidence, draft.containers) = (isEvidence, containers)
        for _ in 0..<number(1...3) where !draft.isOver { try addStep(to: &draft, name) }
        guard !draft.texts.isEmpty else { return }
        note(
            "save: \(name) \(draft.description.joined(separator: ", "))"
                + (draft.answer.map { ", refused: " + $0 } ?? ""))
        let (answer, error): (Answer?, String?)
        if level == .limited || level == .full, mayAsk {
            (answer, error) = try ask(saving: draft, name)
        } else {
            answer = try app(name).call(
                "SaveContacts", #"{"changes":[\#(draft.texts.joined(separator: ","))],"mayAsk":false}"#)
            error =
                level == .limited || level == .full
                ? draft.answer : level == .notDetermined ? "AuthorizationNotDetermined{}" : "AccessDenied{}"
        }
        // If the app has left, its save must not be in the book.
        guard let answer else { return try compareBin() }
        if let error { return try requireSame((answer.error ?? "") + answer.text, error, "\(name): a save") }
        try require(answer.error == nil, "\(name): a save: \(answer.error ?? "") \(answer.text)")
        model.change(draft.book, draft.events, joining: Set(draft.contacts.values), by: name)
        if model.book.links != model.book.handLinks { linkedByEvidence += 1 }
        let told = answer.strings("identifiers")
        try require(told.count == draft.texts.count, "\(name): a save of \(draft.texts.count) steps: \(answer.text)")
        let key = model.app(name).key
        for (step, identifier) in told.enumerated() {
            var problem: String?
            if let contact = draft.contacts[step] {
                problem = contactNames.learn(identifier, contact, key)
            } else if let group = draft.groups[step] {
                problem = groupNames.learn(identifier, group, key)
            } else if !identifier.isEmpty {
                problem = "step \(step) added nothing and has an identifier"
            }
            if let problem { throw Difference(problem) }
        }
        try saw(answer.token ?? "", name)
    }

    /// Returns the identifiers of the containers, of which an app that sees everything creates two.
    private func containers(_ name: String) throws -> [String] {
        func known() throws -> [String] {
            let answer = try app(name).call("ListContainers")
            try require(answer.error == nil, "\(name): containers: \(answer.error ?? "") \(answer.text)")
            return answer.parameters["containers"]?.elements?.compactMap { $0["identifier"]?.string } ?? []
        }
        for number in model.book.containers.count..<max(2, model.book.containers.count) {
            let made = try app(name).save([.other(#"{"operation":"addContainer","container":"C\#(number)"}"#)])
            try require(made.error == nil, "\(name): a container: \(made.error ?? "") \(made.text)")
            var book = model.book
            book.containers.append(book.takeNumber())
            model.change(book, [], by: name)
        }
        let all = try known()
        try require(all.count == model.book.containers.count + 1, "\(name): \(all.count) containers")
        return all
    }

    private func addStep(to draft: inout ModelDraft, _ name: String) throws {
        let crowd = draft.book.contacts.count
        switch number(0...22) {
        case 0, 1, 2, 3: if crowd < 40 { addContact(to: &draft, name) } else { deleteContact(in: &draft, name) }
        case 4, 5, 6, 7: updateContact(in: &draft, name)
        case 8: if crowd > 8 { deleteContact(in: &draft, name) }
        case 9: if draft.book.groups.count < 10 { addGroup(to: &draft, name) }
        case 10: renameOrDeleteGroup(in: &draft, name, deletes: draft.book.groups.count > 4)
        case 11, 12, 13: member(in: &draft, name, adds: true)
        case 14: member(in: &draft, name, adds: false)
        case 15: subgroup(in: &draft, name, adds: true)
        case 16: subgroup(in: &draft, name, adds: false)
        case 17, 18, 19, 20: forFullApps(in: &draft, name)
        default: nothing(in: &draft, name)
        }
    }

    func step(
        _ operation: String, contact: String? = nil, group: String? = nil, member: String? = nil,
        container: String? = nil, revision: String? = nil
    ) -> String {
        var text = #"{"operation":"\#(operation)""#
        if let contact { text += #","contact":{\#(contact)}"# }
        if let group { text += #","group":{\#(group)}"# }
        if let member { text += #","member":"\#(member)""# }
        if let container { text += #","container":"\#(container)""# }
        if let revision { text += #","unchangedSince":"\#(revision)""# }
        return text + "}"
    }

    func groupFields(_ identifier: String, _ name: String = "any") -> String {
        #""identifier":"\#(identifier)","name":"\#(name)""#
    }

    /// A contact that the app may name, with its identifier.
    func visibleContact(_ draft: ModelDraft, _ name: String) -> (number: Int, identifier: String)? {
        let app = model.app(name)
        let contacts = draft.book.contacts.keys.filter { app.sees(contact: $0) && !draft.used.contains($0) }.sorted()
        return one(contacts).flatMap { number in contactNames.name(number, app.key).map { (number, $0) } }
    }

    func visibleGroup(_ draft: ModelDraft, _ name: String) -> (number: Int, identifier: String)? {
        let app = model.app(name)
        let groups = draft.book.groups.values.filter {
            app.sees(groupMadeBy: $0.maker) && !draft.usedGroups.contains($0.number)
        }
        return one(groups.map(\.number).sorted()).flatMap { number in
            groupNames.name(number, app.key).map { (number, $0) }
        }
    }

    private func addContact(to draft: inout ModelDraft, _ name: String) {
        let number = draft.book.takeNumber()
        var texts = makeTexts(number, notes: true)
        if chance(40), let other = one(draft.book.contacts.values.sorted { $0.number < $1.number }) {
            // A card of the same person from another source.
            for key in [ModelKey.givenName, .familyName, .nickname, .organizationName] { texts[key] = other.texts(key) }
            if chance(30) { texts[.givenName] = other.texts(.givenName).map { String($0.prefix(1)) } }
            for key in [ModelKey.phoneNumbers, .emailAddresses] where chance(70) { texts[key] = other.texts(key) }
        }
        texts = texts.filter { model.app(name).rule.writable.contains($0.key) }
        let place = draft.containers.isEmpty || chance(65) ? 0 : self.number(1...draft.containers.count - 1)
        let container = place == 0 ? nil : draft.containers[place]
        draft.contacts[draft.texts.count] = number
        draft.texts.append(
            step("add", contact: json(texts) + #","identifier":"new \#(number)""#, container: container))
        draft.description.append("adds \(number) to container \(place)")
        draft.events.append(
            draft.book.add(number, texts, maker: model.app(name).key, at: model.now, model.moment + 1))
        draft.book.contacts[number]?.container = place == 0 ? 0 : draft.book.containers[place - 1]
        guard model.app(name).changes >= .own else { return draft.mayNotAdd() }
        // A later step may add it to a group, by the identifier that the app chose.
        guard chance(40), let group = visibleGroup(draft, name) else { return }
        addMember(number, "new \(number)", to: group, name, in: &draft)
    }

    /// A single card, or the unified contact that it belongs to if no earlier step names the other cards.
    private func visiblePerson(_ draft: ModelDraft, _ name: String) -> (members: [Int], identifier: String)? {
        guard let (number, identifier) = visibleContact(draft, name) else { return nil }
        let app = model.app(name)
        let members = draft.book.linked(with: number, seesEvidence: app.keys.isWhole)
            .filter { app.sees(contact: $0) }.sorted()
        guard chance(60), members.count > 1, draft.used.isDisjoint(with: members),
            // The identifier is the one that the contact had when the save began.
            let unified = unifiedNames.name(members[0], app.key), meaning(of: unified, name) == members
        else { return ([number], identifier) }
        return (members, unified)
    }

    private func updateContact(in draft: inout ModelDraft, _ name: String) {
        guard let (members, identifier) = visiblePerson(draft, name) else { return }
        let app = model.app(name)
        var texts: [ModelKey: [String]] = [:]
        for key in ModelKey.written where key != .previousFamilyName && chance(30) {
            guard app.keys.keys.contains(key) || chance(4) else { continue }
            texts[key] = makeTexts(of: key)
        }
        let unreadable = texts.keys.filter { !app.keys.keys.contains($0) }
        let revision = nameRevision(of: members, name, in: &draft)
        draft.used.formUnion(members)
        draft.texts.append(
            step(
                "update", contact: #""identifier":"\#(identifier)""# + (texts.isEmpty ? "" : ",") + json(texts),
                revision: revision))
        draft.description.append("updates \(texts.keys.map(\.rawValue).sorted()) of \(members)")
        let makers = members.reduce(into: [:]) { $0[$1] = draft.book.contacts[$1]?.maker }
        let parts = draft.book.parts(of: members, texts)
        let changed = parts.filter { !$0.texts.isEmpty || members.count == 1 }.map(\.number)
        let emptied = parts.compactMap { part -> ModelContact? in
            guard let contact = draft.book.contacts[part.number] else { return nil }
            let keys = [ModelKey.phoneNumbers, .emailAddresses].filter(app.keys.keys.contains)
            return keys.contains { !contact.texts($0).isEmpty }
                && keys.allSatisfy { (part.texts[$0] ?? contact.texts($0)).isEmpty } ? contact : nil
        }
        draft.changes.formUnion(changed)
        draft.events += draft.book.update(members: members, texts, at: model.now, model.moment + 1)
        if !unreadable.isEmpty {
            // The error names the keys in the order of the interface's list.
            let named = ModelKey.allCases.filter(unreadable.contains)
            draft.error = #"UnauthorizedKeys{"keys":[\#(list(named))]}"#
        } else {
            let mayUpdate = { (app: ModelApp) in changed.allSatisfy { app.mayUpdate(contactMadeBy: makers[$0] ?? nil) }
            }
            if !mayUpdate(app) { draft.refuse(app.needed(mayUpdate), identifier) }
            let raised = app.allowing(draft.refusal?.right ?? app.changes)
            if !emptied.allSatisfy({ raised.mayDelete(contactMadeBy: $0.maker) }) {
                draft.emptying = .init(right: app.changes == .all ? nil : .all, error: draft.notWritable())
            }
        }
    }

    private func nameRevision(of members: [Int], _ name: String, in draft: inout ModelDraft) -> String? {
        guard let revision = chooseRevision(of: members, name) else { return nil }
        if !revision.isPresent { draft.late = #"RecordChanged{"index":\#(draft.texts.count)}"# }
        return revision.text
    }

    private func deleteContact(in draft: inout ModelDraft, _ name: String) {
        guard let (members, identifier) = visiblePerson(draft, name) else { return }
        let app = model.app(name)
        draft.used.formUnion(members)
        let revision = nameRevision(of: members, name, in: &draft)
        draft.texts.append(step("delete", contact: #""identifier":"\#(identifier)""#, revision: revision))
        draft.description.append("deletes \(members)")
        draft.deletions.formUnion(members)
        let makers = members.map { draft.book.contacts[$0]?.maker }
        let mayDelete = { (app: ModelApp) in makers.allSatisfy(app.mayDelete) }
        if !mayDelete(app) { draft.refuse(app.needed(mayDelete), identifier) }
        for number in members { draft.events.append(draft.book.delete(number)) }
    }

    /// Links, and the person's own card.
    private func forFullApps(in draft: inout ModelDraft, _ name: String) {
        guard let (number, identifier) = visibleContact(draft, name) else { return }
        let app = model.app(name)
        var isEnough = { (app: ModelApp) in app.level == .full && app.changes == .all }
        let contact = #""identifier":"\#(identifier)""#
        if chance(75) {
            guard let (member, memberIdentifier) = visibleContact(draft, name) else { return }
            isEnough = { $0.level == .full && $0.changes == .all && $0.keys.isWhole }
            let operation = chance(75) ? "link" : "unlink"
            draft.texts.append(step(operation, contact: contact, member: memberIdentifier))
            draft.description.append("\(operation)s \(number) and \(member)")
            if operation == "link" {
                draft.book.link(number, member)
            } else {
                draft.book.unlink(member, from: number)
            }
        } else {
            draft.texts.append(step("setMe", contact: contact))
            draft.description.append("calls \(number) the person's own")
            draft.book.me = number
        }
        if !isEnough(app) { draft.refuse(app.needed(isEnough)) }
    }

    private func anyRevision() -> String? { chance(50) ? one(revisions.known.keys.sorted() + ["nothing"]) : nil }

    /// A step that names what the app may not see.
    private func nothing(in draft: inout ModelDraft, _ name: String) {
        let app = model.app(name)
        let hidden = (contactNames.all + unifiedNames.all).filter { meaning(of: $0, name).isEmpty }
        let hiddenGroups = groupNames.all.filter { identifier in
            guard let number = groupNames.number(identifier, app.key), let group = model.book.groups[number] else {
                return true
            }
            return !app.sees(groupMadeBy: group.maker)
        }
        let (contact, group) = (one(hidden) ?? "nothing", one(hiddenGroups) ?? "nothing")
        let index = draft.texts.count
        draft.description.append("names what it cannot see")
        draft.error = #"RecordDoesNotExist{"index":\#(index)}"#
        switch number(0...5) {
        case 0:
            draft.texts.append(
                step("update", contact: #""identifier":"\#(contact)","note":"n""#, revision: anyRevision()))
        case 1: draft.texts.append(step("delete", contact: #""identifier":"\#(contact)""#, revision: anyRevision()))
        case 2: draft.texts.append(step("update", group: groupFields(group)))
        case 3: draft.texts.append(step("delete", group: groupFields(group)))
        case 4:
            draft.texts.append(step("addMember", group: groupFields(group), member: contact))
            draft.error = #"ParentRecordDoesNotExist{"index":\#(index)}"#
        default:
            guard let visible = visibleGroup(draft, name) else {
                draft.texts.append(step("delete", contact: #""identifier":"\#(contact)""#))
                return
            }
            draft.texts.append(step("addMember", group: groupFields(visible.identifier), member: contact))
        }
    }
}
