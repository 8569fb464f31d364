/// What a save can change. The bin keeps each subject for itself.
enum ModelSubject: Hashable {
    case contact(Int)
    case group(Int)
    case container(Int)
    case member(Int, of: Int)
    case subgroup(Int, of: Int)
    case handLink(Int)
    case unlike(Set<Int>)
    case me
}

/// What is so about a subject. A subject without a fact does not exist.
enum ModelFact: Equatable {
    case contact([ModelKey: [ModelValue]], modified: Int64)
    case group(String, isNamed: Bool)
    case member(isConfirmed: Bool)
    case set(first: Int)
    case me(Int)
    case exists
}

/// A save of which the bin has something.
struct ModelSave {
    let number: Int
    /// The app that made it; empty for the person.
    let app: String
    /// The key of the app that made it.
    let author: String
    let time: Int64
    let isPutBack: Bool
    let before: ModelBook
    let subjects: Set<ModelSubject>
    /// How many contacts it added, changed and deleted.
    let counts: [Int]
}

/// What the person puts back.
enum ModelRequest {
    case save(Int)
    case contact(Int, of: Int)
    case app(String, since: Int64)
}

/// How many contacts come back, change, are removed, or stay because somebody else changed them since, and how many groups
/// are concerned.
struct ModelPutBack: Equatable {
    var returned = 0
    var changed = 0
    var removed = 0
    var conflicts = 0
    var groups = 0
}

extension ModelBook {
    /// Everything that is so.
    fileprivate var facts: [ModelSubject: ModelFact] {
        var facts: [ModelSubject: ModelFact] = [:]
        for (number, contact) in contacts {
            facts[.contact(number)] = .contact(contact.contents, modified: contact.modified)
        }
        for (number, group) in groups {
            facts[.group(number)] = .group(group.name, isNamed: group.isNamed)
            for contact in group.members {
                facts[.member(contact, of: number)] = .member(isConfirmed: group.confirmed.contains(contact))
            }
            for child in group.subgroups { facts[.subgroup(child, of: number)] = .exists }
        }
        for set in handLinks { for card in set { facts[.handLink(card)] = .set(first: set.min() ?? 0) } }
        for pair in unlike { facts[.unlike(pair)] = .exists }
        for container in containers { facts[.container(container)] = .exists }
        if let me { facts[.me] = .me(me) }
        return facts
    }

    fileprivate func handLinked(_ card: Int) -> Set<Int>? { handLinks.first { $0.contains(card) } }
}

extension Model {
    /// How long the bin keeps a save, in seconds.
    private static let binTime: Int64 = 30 * 86_400

    /// The saves that can be put back.
    var saves: [ModelSave] { bin.filter { $0.time >= now - Self.binTime } }

    /// Keeps what a save changed.
    mutating func keep(_ former: ModelBook, by name: String?, putsBack: Set<ModelSubject>?) {
        let (before, after) = (former.facts, book.facts)
        let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
        let newGroups = Set(book.groups.keys).subtracting(former.groups.keys)
        let new = Set(book.contacts.keys).subtracting(former.contacts.keys)
        // What a save adds goes whole.
        let whole = putsBack == nil ? new : []
        let subjects = changed.union(putsBack ?? []).filter { subject in
            switch subject {
            case .contact, .group, .container, .me: true
            case .member(let contact, let group): !whole.contains(contact) && !newGroups.contains(group)
            case .subgroup(let child, let parent): newGroups.isDisjoint(with: [child, parent])
            case .handLink(let card): !whole.contains(card)
            case .unlike(let pair): whole.isDisjoint(with: pair)
            }
        }
        guard !subjects.isEmpty else { return }
        lastSave += 1
        let deleted = Set(former.contacts.keys).subtracting(book.contacts.keys).count
        let contacts = changed.count { if case .contact = $0 { true } else { false } }
        bin = saves
        bin.append(
            ModelSave(
                number: lastSave, app: name ?? "", author: name.map { app($0).key } ?? "", time: now,
                isPutBack: putsBack != nil, before: former, subjects: subjects,
                counts: [new.count, contacts - new.count - deleted, deleted]))
    }

    // MARK: Putting back

    /// What a request names, each subject with the first save that changed it.
    private func steps(_ request: ModelRequest) -> [ModelSubject: ModelSave] {
        var steps: [ModelSubject: ModelSave] = [:]
        for save in saves {
            switch request {
            case .save(save.number): for subject in save.subjects { steps[subject] = save }
            case .contact(let contact, of: save.number):
                for subject in save.subjects where concerns(subject, contact, save) { steps[subject] = save }
            case .app(save.app, let since) where save.time >= since && !save.isPutBack:
                for subject in save.subjects where steps[subject] == nil { steps[subject] = save }
            case .save, .contact, .app: continue
            }
        }
        return steps
    }

    private func concerns(_ subject: ModelSubject, _ contact: Int, _ save: ModelSave) -> Bool {
        switch subject {
        case .contact(contact), .handLink(contact), .member(contact, _): true
        case .unlike(let pair): pair.contains(contact)
        case .me: save.before.me == contact
        // Those that were linked with the contact, if the save changed that.
        case .handLink(let card):
            save.subjects.contains(.handLink(contact)) && save.before.handLinked(contact)?.contains(card) == true
        case .contact, .member, .group, .subgroup, .container: false
        }
    }

    private func isConflict(_ subject: ModelSubject, _ save: ModelSave) -> Bool {
        bin.contains {
            $0.number > save.number && $0.author != save.author && !$0.isPutBack && $0.subjects.contains(subject)
        }
    }

    /// What would happen; `nil` if the bin has nothing of that.
    func wouldPutBack(_ request: ModelRequest, isForced: Bool) -> ModelPutBack? {
        var (would, isAnything) = (ModelPutBack(), false)
        for (subject, save) in steps(request) {
            let isStaying = !isForced && isConflict(subject, save)
            switch subject {
            case .contact(let number):
                switch (save.before.contacts[number] != nil, book.contacts[number] != nil) {
                case (false, false): continue
                case _ where isStaying: would.conflicts += 1
                case (true, false): would.returned += 1
                case (true, true): would.changed += 1
                case (false, true): would.removed += 1
                }
            case .group(let number):
                guard save.before.groups[number] != nil || book.groups[number] != nil else { continue }
                if !isStaying { would.groups += 1 }
            case .member, .subgroup, .handLink, .unlike, .me, .container: continue
            }
            isAnything = true
        }
        return isAnything ? would : nil
    }

    /// Puts back, in a save of the person.
    ///
    /// - Returns: what happened.
    mutating func putBack(_ request: ModelRequest, isForced: Bool) -> ModelPutBack {
        var made = wouldPutBack(request, isForced: isForced) ?? ModelPutBack()
        let steps = steps(request).filter { isForced || !isConflict($0.key, $0.value) }
        var (book, events) = (self.book, [ModelEvent]())
        let formerly = { (subject: ModelSubject) in steps[subject]?.before }
        made.changed = 0
        var kept: Set<ModelSubject> = []
        for case .contact(let number) in steps.keys {
            guard let contact = formerly(.contact(number))?.contacts[number] else { continue }
            guard let event = book.putBack(contact.after(states(of: number)), moment + 1) else { continue }
            events.append(event)
            if case .touched = event { made.changed += 1 }
        }
        for case .group(let number) in steps.keys {
            guard let group = formerly(.group(number))?.groups[number] else {
                if let event = book.deleteGroup(number) { events.append(event) }
                continue
            }
            if book.groups[number] != nil { kept.insert(.group(number)) }
            if let event = book.putBack(group, moment + 1) { events.append(event) }
        }
        for subject in steps.keys { events += book.putBack(subject, formerly(subject)) }
        // What is taken out makes room for what comes back.
        for case .subgroup(let child, let parent) in steps.keys {
            guard formerly(.subgroup(child, of: parent))?.groups[parent]?.subgroups.contains(child) == true,
                book.groups[child] != nil, book.groups[parent] != nil,
                !book.reaches(parent, from: child, within: Set(book.groups.keys))
            else { continue }
            if book.groups[parent]?.subgroups.insert(child).inserted == true {
                events.append(.subgroup(child, of: parent))
            }
        }
        let linked = steps.keys.compactMap { subject -> Int? in
            guard case .handLink(let card) = subject, book.contacts[card] != nil else { return nil }
            return card
        }
        book.putBack(linked) { formerly(.handLink($0))?.handLinked($0) }
        for case .contact(let number) in steps.keys
        where formerly(.contact(number))?.contacts[number] == nil && book.contacts[number] != nil {
            events.append(book.delete(number))
        }
        for case .container(let number) in steps.keys
        where formerly(.container(number))?.containers.contains(number) == false {
            if !book.contacts.values.contains(where: { $0.container == number }) {
                book.containers.removeAll { $0 == number }
            }
        }
        let returned = Set(book.contacts.keys).subtracting(self.book.contacts.keys)
        change(book, events, by: nil, putsBack: kept)
        for name in apps.keys { apps[name]?.rejoin(returned, self.book.sharedMembers, moment, at: now) }
        return made
    }

    /// What a contact is and was.
    private func states(of contact: Int) -> [ModelContact] {
        (bin.map(\.before) + [book]).compactMap { $0.contacts[contact] }
    }
}

extension ModelBook {
    /// Makes a contact as it was. Returns `nil` if it is.
    fileprivate mutating func putBack(_ former: ModelContact, _ moment: Int) -> ModelEvent? {
        var contact = former
        let now = contacts[former.number]
        if contact.container != 0, !containers.contains(contact.container) {
            containers = (containers + [contact.container]).sorted()
        }
        contact.touched = now?.touched ?? [:]
        let (then, values) = (former.contents, now?.contents ?? [:])
        let keys = ModelKey.written.filter { now == nil || then[$0] != values[$0] }
        for key in keys { contact.touched[key] = moment }
        contacts[former.number] = contact
        guard let now else { return .contact(former.number) }
        return keys.isEmpty && now.modified == former.modified ? nil : .touched(former.number, Set(keys))
    }

    fileprivate mutating func putBack(_ former: ModelGroup, _ moment: Int) -> ModelEvent? {
        var group = former
        let now = groups[former.number]
        (group.members, group.confirmed, group.subgroups) = (
            now?.members ?? [], now?.confirmed ?? [], now?.subgroups ?? []
        )
        if now?.name != group.name { group.renamed = moment } else { group.renamed = now?.renamed ?? moment }
        groups[former.number] = group
        return now?.name == group.name ? nil : .group(group.number, maker: group.maker)
    }

    /// Makes a relation as it was, unless a record of it is gone. Subgroups are only taken out.
    fileprivate mutating func putBack(_ subject: ModelSubject, _ former: ModelBook?) -> [ModelEvent] {
        guard let former else { return [] }
        switch subject {
        case .contact, .group, .handLink: return []
        case .container(let number):
            guard former.containers.contains(number), !containers.contains(number) else { return [] }
            containers = (containers + [number]).sorted()
            return []
        case .me:
            if former.me.map({ contacts[$0] != nil }) ?? true { me = former.me }
            return []
        case .unlike(let pair):
            guard pair.allSatisfy({ contacts[$0] != nil }) else { return [] }
            if former.unlike.contains(pair) { unlike.insert(pair) } else { unlike.remove(pair) }
            return []
        case .member(let contact, let group):
            guard contacts[contact] != nil, let now = groups[group] else { return [] }
            let (wasMember, wasConfirmed) = (
                former.groups[group]?.members.contains(contact) == true,
                former.groups[group]?.confirmed.contains(contact) == true
            )
            if wasMember { groups[group]?.members.insert(contact) } else { groups[group]?.members.remove(contact) }
            if wasConfirmed {
                groups[group]?.confirmed.insert(contact)
            } else {
                groups[group]?.confirmed.remove(contact)
            }
            return now.members.contains(contact) == wasMember ? [] : [.member(contact, of: group)]
        case .subgroup(let child, let parent):
            guard former.groups[parent]?.subgroups.contains(child) != true,
                groups[parent]?.subgroups.remove(child) != nil
            else { return [] }
            return [.subgroup(child, of: parent)]
        }
    }
}
