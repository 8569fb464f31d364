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

    /// A save under construction: its steps, and their effects on the model.
    struct Draft {
        var book: ModelBook
        var events: [ModelEvent] = []
        var texts: [String] = []
        var description: [String] = []
        /// The contacts and groups that are added, by step.
        var contacts: [Int: Int] = [:]
        var groups: [Int: Int] = [:]
        /// Contacts and groups that an earlier step names. Later steps leave them alone.
        var used: Set<Int> = []
        var usedGroups: Set<Int> = []
        /// The containers that the app may name, in the order of their creation. The default one comes first.
        var containers: [String] = []
        /// The expected answer if the save is refused.
        var error: String?
        /// The expected answer if a contact has changed since the revision that a step names. The app learns of it last.
        var changed: String?

        mutating func notWritable(_ identifier: String? = nil, at step: Int) {
            let named = identifier.map { #","identifier":"\#($0)""# } ?? ""
            error = #"RecordNotWritable{"index":\#(step)\#(named)}"#
        }

        mutating func mayNotAdd() { error = #"ParentContainerNotWritable{"index":\#(texts.count - 1)}"# }
    }

    func save(_ name: String) throws {
        // Learns the identifiers of the app's contacts and groups first.
        let level = model.app(name).level
        if level == .limited || level == .full {
            _ = try compareEverybody(name)
            try compareGroups(name)
        }
        let isEvidence = level == .full && model.app(name).keys.isWhole && model.app(name).changes == .all
        let containers = isEvidence ? try containers(name) : []
        var draft = Draft(book: model.book)
        (draft.book.isEvidence, draft.containers) = (isEvidence, containers)
        for _ in 0..<number(1...3) where draft.error == nil && draft.changed == nil { try addStep(to: &draft, name) }
        guard !draft.texts.isEmpty else { return }
        note(
            "save: \(name) \(draft.description.joined(separator: ", "))"
                + ((draft.error ?? draft.changed).map { ", refused: " + $0 } ?? ""))
        let answer = try app(name).call(
            "SaveContacts", #"{"changes":[\#(draft.texts.joined(separator: ","))],"mayAsk":false}"#)
        if level == .denied || level == .restricted {
            return try requireSame((answer.error ?? "") + answer.text, "AccessDenied{}", name)
        }
        if let error = draft.error ?? draft.changed {
            return try requireSame((answer.error ?? "") + answer.text, error, "\(name): a save")
        }
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

    private func addStep(to draft: inout Draft, _ name: String) throws {
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

    private func step(
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

    private func groupFields(_ identifier: String, _ name: String = "any") -> String {
        #""identifier":"\#(identifier)","name":"\#(name)""#
    }

    /// A contact that the app may name, with its identifier.
    private func visibleContact(_ draft: Draft, _ name: String) -> (number: Int, identifier: String)? {
        let app = model.app(name)
        let contacts = draft.book.contacts.keys.filter { app.sees(contact: $0) && !draft.used.contains($0) }.sorted()
        return one(contacts).flatMap { number in contactNames.name(number, app.key).map { (number, $0) } }
    }

    private func visibleGroup(_ draft: Draft, _ name: String) -> (number: Int, identifier: String)? {
        let app = model.app(name)
        let groups = draft.book.groups.values.filter {
            app.sees(groupMadeBy: $0.maker) && !draft.usedGroups.contains($0.number)
        }
        return one(groups.map(\.number).sorted()).flatMap { number in
            groupNames.name(number, app.key).map { (number, $0) }
        }
    }

    private func addContact(to draft: inout Draft, _ name: String) {
        guard model.app(name).changes >= .own else {
            draft.texts.append(step("add", contact: #""givenName":"Ada""#))
            draft.description.append("adds a contact")
            return draft.mayNotAdd()
        }
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
        // A later step may add it to a group, by the identifier that the app chose.
        guard chance(40), let group = visibleGroup(draft, name) else { return }
        addMember(number, "new \(number)", to: group, name, in: &draft)
    }

    /// A single card, or the unified contact that it belongs to if no earlier step names the other cards.
    private func visiblePerson(_ draft: Draft, _ name: String) -> (members: [Int], identifier: String)? {
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

    private func updateContact(in draft: inout Draft, _ name: String) {
        guard let (members, identifier) = visiblePerson(draft, name) else { return }
        let app = model.app(name)
        var texts: [ModelKey: [String]] = [:]
        for key in ModelKey.written where key != .previousFamilyName && chance(30) {
            guard app.keys.keys.contains(key) || chance(4) else { continue }
            texts[key] = makeTexts(of: key)
        }
        let unreadable = texts.keys.filter { !app.keys.keys.contains($0) }
        draft.used.formUnion(members)
        let revision = nameRevision(of: members, name, in: &draft)
        draft.texts.append(
            step(
                "update", contact: #""identifier":"\#(identifier)""# + (texts.isEmpty ? "" : ",") + json(texts),
                revision: revision))
        draft.description.append("updates \(texts.keys.map(\.rawValue).sorted()) of \(members)")
        let makers = members.reduce(into: [:]) { $0[$1] = draft.book.contacts[$1]?.maker }
        let parts = draft.book.parts(of: members, texts)
        let changed = parts.filter { !$0.texts.isEmpty || members.count == 1 }.map(\.number)
        let empties = parts.contains { part in
            guard let contact = draft.book.contacts[part.number], !app.mayDelete(contactMadeBy: contact.maker) else {
                return false
            }
            let keys = [ModelKey.phoneNumbers, .emailAddresses].filter(app.keys.keys.contains)
            return keys.contains { !contact.texts($0).isEmpty }
                && keys.allSatisfy { (part.texts[$0] ?? contact.texts($0)).isEmpty }
        }
        draft.events += draft.book.update(members: members, texts, at: model.now, model.moment + 1)
        if !unreadable.isEmpty {
            // The error names the keys in the order of the interface's list.
            let named = ModelKey.allCases.filter(unreadable.contains)
            draft.error = #"UnauthorizedKeys{"keys":[\#(list(named))]}"#
        } else if !changed.allSatisfy({ app.mayUpdate(contactMadeBy: makers[$0] ?? nil) }) {
            draft.notWritable(identifier, at: draft.texts.count - 1)
        } else if empties, draft.changed == nil {
            draft.notWritable(at: draft.texts.count - 1)
        }
    }

    private func nameRevision(of members: [Int], _ name: String, in draft: inout Draft) -> String? {
        guard let revision = chooseRevision(of: members, name) else { return nil }
        if !revision.isPresent { draft.changed = #"RecordChanged{"index":\#(draft.texts.count)}"# }
        return revision.text
    }

    private func deleteContact(in draft: inout Draft, _ name: String) {
        guard let (members, identifier) = visiblePerson(draft, name) else { return }
        let app = model.app(name)
        draft.used.formUnion(members)
        let revision = nameRevision(of: members, name, in: &draft)
        draft.texts.append(step("delete", contact: #""identifier":"\#(identifier)""#, revision: revision))
        draft.description.append("deletes \(members)")
        if !members.allSatisfy({ app.mayDelete(contactMadeBy: draft.book.contacts[$0]?.maker) }) {
            draft.notWritable(identifier, at: draft.texts.count - 1)
        }
        for number in members { draft.events.append(draft.book.delete(number)) }
    }

    private func addGroup(to draft: inout Draft, _ name: String) {
        guard model.app(name).changes >= .own else {
            draft.texts.append(step("add", group: #""name":"Friends""#))
            draft.description.append("adds a group")
            return draft.mayNotAdd()
        }
        let number = draft.book.takeNumber()
        let group = ModelGroup(
            number: number, maker: model.app(name).key, name: "\(number) \(one(Self.words) ?? "")",
            isNamed: draft.book.isEvidence)
        draft.groups[draft.texts.count] = number
        draft.texts.append(step("add", group: groupFields("new \(number)", group.name)))
        draft.description.append("adds group \(number)")
        draft.book.groups[number] = group
        draft.events.append(.group(number, maker: group.maker))
        guard chance(60), let contact = visibleContact(draft, name) else { return }
        addMember(contact.number, contact.identifier, to: (number, "new \(number)"), name, in: &draft)
    }

    private func renameOrDeleteGroup(in draft: inout Draft, _ name: String, deletes: Bool) {
        guard let (number, identifier) = visibleGroup(draft, name), let group = draft.book.groups[number] else {
            return
        }
        draft.usedGroups.insert(number)
        if !model.app(name).owns(groupMadeBy: group.maker) {
            draft.notWritable(identifier, at: draft.texts.count)
        }
        if deletes {
            draft.texts.append(step("delete", group: groupFields(identifier)))
            draft.description.append("deletes group \(number)")
            if let event = draft.book.deleteGroup(number) { draft.events.append(event) }
        } else {
            let new = "\(number) \(one(Self.words) ?? "")"
            draft.texts.append(step("update", group: groupFields(identifier, new)))
            draft.description.append("renames group \(number)")
            draft.book.groups[number]?.isNamed = draft.book.isEvidence || group.isNamed && new == group.name
            guard new != group.name else { return }
            draft.book.groups[number]?.name = new
            draft.book.groups[number]?.renamed = model.moment + 1
            draft.events.append(.group(number, maker: group.maker))
        }
    }

    private func member(in draft: inout Draft, _ name: String, adds: Bool) {
        guard let group = visibleGroup(draft, name), let contact = visibleContact(draft, name) else { return }
        if adds { return addMember(contact.number, contact.identifier, to: group, name, in: &draft) }
        draft.texts.append(step("removeMember", group: groupFields(group.identifier), member: contact.identifier))
        if draft.book.groups[group.number].map({ model.app(name).fills(groupMadeBy: $0.maker) }) == false {
            draft.notWritable(group.identifier, at: draft.texts.count - 1)
        }
        draft.description.append("takes \(contact.number) out of \(group.number)")
        draft.book.groups[group.number]?.confirmed.remove(contact.number)
        if draft.book.groups[group.number]?.members.remove(contact.number) != nil {
            draft.events.append(.member(contact.number, of: group.number))
        }
        draft.used.insert(contact.number)
    }

    private func addMember(
        _ contact: Int, _ identifier: String, to group: (number: Int, identifier: String), _ name: String,
        in draft: inout Draft
    ) {
        draft.texts.append(step("addMember", group: groupFields(group.identifier), member: identifier))
        if draft.book.groups[group.number].map({ model.app(name).fills(groupMadeBy: $0.maker) }) == false {
            draft.notWritable(group.identifier, at: draft.texts.count - 1)
        }
        draft.description.append("puts \(contact) into \(group.number)")
        draft.used.insert(contact)
        draft.usedGroups.insert(group.number)
        if draft.book.isEvidence { draft.book.groups[group.number]?.confirmed.insert(contact) }
        if draft.book.groups[group.number]?.members.insert(contact).inserted == true {
            draft.events.append(.member(contact, of: group.number))
        }
    }

    private func subgroup(in draft: inout Draft, _ name: String, adds: Bool) {
        guard let parent = visibleGroup(draft, name), let child = visibleGroup(draft, name) else { return }
        let operation = adds ? "addSubgroup" : "removeSubgroup"
        draft.texts.append(step(operation, group: groupFields(parent.identifier), member: child.identifier))
        draft.description.append("\(operation) \(child.number) in \(parent.number)")
        draft.usedGroups.formUnion([parent.number, child.number])
        let app = model.app(name)
        let visible = Set(draft.book.groups.values.filter { app.sees(groupMadeBy: $0.maker) }.map(\.number))
        let makers = [parent, child].compactMap { draft.book.groups[$0.number]?.maker }
        if !makers.allSatisfy(app.owns(groupMadeBy:)) {
            draft.notWritable(parent.identifier, at: draft.texts.count - 1)
        } else if adds, draft.book.reaches(parent.number, from: child.number, within: visible) {
            draft.error = #"ContainmentCycle{"index":\#(draft.texts.count - 1)}"#
        } else if adds {
            guard draft.book.groups[parent.number]?.subgroups.insert(child.number).inserted == true else { return }
            draft.events.append(.subgroup(child.number, of: parent.number))
        } else if draft.book.groups[parent.number]?.subgroups.remove(child.number) != nil {
            draft.events.append(.subgroup(child.number, of: parent.number))
        }
    }

    /// Links, and the person's own card.
    private func forFullApps(in draft: inout Draft, _ name: String) {
        guard let (number, identifier) = visibleContact(draft, name) else { return }
        let app = model.app(name)
        var mayDoSo = app.level == .full && app.changes == .all
        let contact = #""identifier":"\#(identifier)""#
        if chance(75) {
            guard let (member, memberIdentifier) = visibleContact(draft, name) else { return }
            mayDoSo = mayDoSo && app.keys.isWhole
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
        if !mayDoSo { draft.error = #"RecordNotWritable{"index":\#(draft.texts.count - 1)}"# }
    }

    private func anyRevision() -> String? { chance(50) ? one(revisions.known.keys.sorted() + ["nothing"]) : nil }

    /// A step that names what the app may not see.
    private func nothing(in draft: inout Draft, _ name: String) {
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
