import BrokerModel

/// Steps of a save that change groups.
extension ModelRun {
    func addGroup(to draft: inout ModelDraft, _ name: String) {
        let number = draft.book.takeNumber()
        let group = ModelGroup(
            number: number, maker: model.app(name).key, name: "\(number) \(one(Self.words) ?? "")",
            isNamed: draft.book.isEvidence)
        draft.groups[draft.texts.count] = number
        draft.texts.append(step("add", group: groupFields("new \(number)", group.name)))
        draft.description.append("adds group \(number)")
        draft.book.groups[number] = group
        draft.events.append(.group(number, maker: group.maker))
        guard model.app(name).changes >= .own else { return draft.mayNotAdd() }
        guard chance(60), let contact = visibleContact(draft, name) else { return }
        addMember(contact.number, contact.identifier, to: (number, "new \(number)"), name, in: &draft)
    }

    func renameOrDeleteGroup(in draft: inout ModelDraft, _ name: String, deletes: Bool) {
        guard let (number, identifier) = visibleGroup(draft, name), let group = draft.book.groups[number] else {
            return
        }
        draft.usedGroups.insert(number)
        let app = model.app(name)
        let isEnough = { (app: ModelApp) in app.owns(groupMadeBy: group.maker) }
        defer { if !isEnough(app) { draft.refuse(app.needed(isEnough), identifier) } }
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

    func member(in draft: inout ModelDraft, _ name: String, adds: Bool) {
        guard let group = visibleGroup(draft, name), let contact = visibleContact(draft, name) else { return }
        if adds { return addMember(contact.number, contact.identifier, to: group, name, in: &draft) }
        draft.texts.append(step("removeMember", group: groupFields(group.identifier), member: contact.identifier))
        requireFilling(group, name, in: &draft)
        draft.description.append("takes \(contact.number) out of \(group.number)")
        draft.book.groups[group.number]?.confirmed.remove(contact.number)
        if draft.book.groups[group.number]?.members.remove(contact.number) != nil {
            draft.events.append(.member(contact.number, of: group.number))
        }
        draft.used.insert(contact.number)
    }

    func addMember(
        _ contact: Int, _ identifier: String, to group: (number: Int, identifier: String), _ name: String,
        in draft: inout ModelDraft
    ) {
        draft.texts.append(step("addMember", group: groupFields(group.identifier), member: identifier))
        requireFilling(group, name, in: &draft)
        draft.description.append("puts \(contact) into \(group.number)")
        draft.used.insert(contact)
        draft.usedGroups.insert(group.number)
        if draft.book.isEvidence { draft.book.groups[group.number]?.confirmed.insert(contact) }
        if draft.book.groups[group.number]?.members.insert(contact).inserted == true {
            draft.events.append(.member(contact, of: group.number))
        }
    }

    private func requireFilling(
        _ group: (number: Int, identifier: String), _ name: String, in draft: inout ModelDraft
    ) {
        guard let maker = draft.book.groups[group.number]?.maker else { return }
        let (app, isEnough) = (model.app(name), { (app: ModelApp) in app.fills(groupMadeBy: maker) })
        if !isEnough(app) { draft.refuse(app.needed(isEnough), group.identifier) }
    }

    func subgroup(in draft: inout ModelDraft, _ name: String, adds: Bool) {
        guard let parent = visibleGroup(draft, name), let child = visibleGroup(draft, name) else { return }
        let operation = adds ? "addSubgroup" : "removeSubgroup"
        draft.texts.append(step(operation, group: groupFields(parent.identifier), member: child.identifier))
        draft.description.append("\(operation) \(child.number) in \(parent.number)")
        draft.usedGroups.formUnion([parent.number, child.number])
        let app = model.app(name)
        let visible = Set(draft.book.groups.values.filter { app.sees(groupMadeBy: $0.maker) }.map(\.number))
        let makers = [parent, child].compactMap { draft.book.groups[$0.number]?.maker }
        let isEnough = { (app: ModelApp) in makers.allSatisfy(app.owns) }
        if !isEnough(app) { draft.refuse(app.needed(isEnough), parent.identifier) }
        if adds, draft.book.reaches(parent.number, from: child.number, within: visible) {
            draft.late = #"ContainmentCycle{"index":\#(draft.texts.count - 1)}"#
        } else if adds {
            guard draft.book.groups[parent.number]?.subgroups.insert(child.number).inserted == true else { return }
            draft.events.append(.subgroup(child.number, of: parent.number))
        } else if draft.book.groups[parent.number]?.subgroups.remove(child.number) != nil {
            draft.events.append(.subgroup(child.number, of: parent.number))
        }
    }
}
