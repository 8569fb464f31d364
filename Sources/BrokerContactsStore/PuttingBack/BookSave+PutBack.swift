@_spi(StoredBytes) import BrokerModel
import BrokerSQLite

extension BookSave {
    /// Makes everything that the steps name as it was. What refers to a record that is gone stays as it is.
    func putBack(_ all: [FormerState]) throws {
        let steps = { (subject: BinSubject, existed: Bool) in
            all.filter { $0.subject == subject && $0.existed == existed }
        }
        try noteLeft(steps(.contact, true), steps(.group, true))
        for step in steps(.contact, true) { try putBack(contact: step) }
        for step in steps(.group, true) { try putBack(group: step) }
        for step in steps(.group, false) where try name(ofGroup: step.record) != nil {
            try apply(.group(.delete(step.record)), 0)
        }
        // What is taken out makes room: a group that comes back into another may not contain it any more.
        for step in all where !step.existed { try putBack(relation: step) }
        for step in all where step.existed { try putBack(relation: step) }
        let links = try all.filter { try $0.subject == .handLink && db.hasContact($0.record) }
        try linking.putBack(handLinks: links.map { ($0.record, $0.former) })
        for step in steps(.contact, false) where try db.hasContact(step.record) { try apply(.delete(step.record), 0) }
        for step in steps(.container, false) { try removeIfEmpty(step.record) }
    }

    /// The memberships of a deleted record went with it, and no entry of the history says so. An app that knew them learns of
    /// those that do not come back with it: their ends come before the record's return.
    private func noteLeft(_ contacts: [FormerState], _ groups: [FormerState]) throws {
        let contacts = try contacts.map(\.record).filter { try !db.hasContact($0) }
        let groups = try groups.map(\.record).filter { try name(ofGroup: $0) == nil }
        let deletion = try db.statement(
            "SELECT save FROM binItem WHERE subject = ? AND record = ? AND existed = 1 ORDER BY number DESC LIMIT 1")
        for (subject, records) in [(BinSubject.contact, contacts), (.group, groups)] {
            for record in records {
                let save = try deletion.bind(1, subject.rawValue).bind(2, record.rawValue).first { $0.integer(0) }
                guard let save else { continue }
                for membership in try left(in: save)[record] ?? []
                where notedAsLeft.insert(membership).inserted {
                    var owner = try owner(ofGroup: membership.group)
                    if membership.isOfGroup, try self.owner(ofGroup: membership.member) != owner { owner = [] }
                    log.note(
                        membership.isOfGroup ? .removeSubgroup : .removeMember, membership.group,
                        member: membership.member, owner: owner)
                }
            }
        }
    }

    /// The memberships that were when a save of the bin changed them, by their members and groups.
    private func left(in save: Int64) throws -> [RecordNumber: [Membership]] {
        if let known = leftMemberships[save] { return known }
        let relations = try db.statement(
            "SELECT subject, record, member FROM binItem WHERE save = ? AND subject IN (3, 4) AND existed = 1")
        let found = try relations.bind(1, save).all {
            Membership(
                group: RecordNumber($0.integer(1)), member: RecordNumber($0.integer(2)),
                isOfGroup: $0.integer(0) == BinSubject.subgroup.rawValue)
        }
        var left: [RecordNumber: [Membership]] = [:]
        for membership in found {
            for record in [membership.group, membership.member] { left[record, default: []].append(membership) }
        }
        leftMemberships[save] = left
        return left
    }

    /// The owner of a group that is there, or was.
    private func owner(ofGroup group: RecordNumber) throws(StoreError) -> [UInt8] {
        let select = try db.statement(
            """
            SELECT owner, 1 AS place, 0 AS number FROM contactGroup WHERE record = ?1
            UNION ALL SELECT maker, 0, number FROM binItem WHERE subject = 2 AND record = ?1 AND existed = 1
            ORDER BY place DESC, number DESC LIMIT 1
            """)
        return try select.bind(1, group.rawValue).first { $0.bytes(0) } ?? []
    }

    // MARK: Contacts

    private func putBack(contact step: FormerState) throws {
        guard let item = step.item, let former = try FormerContact.read(item, step.record, db),
            var contact = Contact(former.card)
        else { return }
        let photo = try FormerContact.photo(item, step.record, db)
        let record = step.record.rawValue
        if try db.hasContact(step.record) {
            try change(step.record, to: former, &contact, photo)
        } else {
            contact.imageData =
                contact.imageDataAvailable ? String(decoding: photo?.image ?? [], as: UTF8.self) : ""
            let made = NewContact(contact, restoredWith: former.identifiers, maker)
            try bin?.putsBack(contact: record)
            try linking.willPutBack(step.record)
            try contacts.insert(record, made, photo: contact.imageData, maker: former.maker)
            // Hidden values do not count, as they do not when they are deleted.
            use.add(try size(of: step.record))
            log.note(.addContact, step.record)
        }
        if let photo, let thumbnail = photo.thumbnail, contact.imageDataAvailable {
            _ = try contacts.writeThumbnail(record, thumbnail, of: photo.image)
        }
        try linking.set(step.record, isUnsure: former.isUnsure)
        try db.statement("UPDATE contact SET container = ? WHERE record = ?")
            .bind(1, try container(former.container)).bind(2, record).run()
    }

    private func change(
        _ number: RecordNumber, to former: FormerContact, _ contact: inout Contact,
        _ photo: (image: [UInt8], thumbnail: [UInt8]?)?
    ) throws {
        let record = number.rawValue
        let size = try contacts.photoSize(record)
        let changesPhoto = contact.imageDataAvailable ? photo != nil : size > 0
        // After a restored backup, the photo may be in neither.
        if contact.imageDataAvailable, photo == nil, size == 0 { contact.imageDataAvailable = false }
        let now: (stored: StoredContact, identifiers: [UInt8])?
        do throws(StoreError) {
            now = try contacts.contact(record, .all)
        } catch {
            guard case .damagedCard = error else { throw error }
            now = nil
        }
        let written = StoredContact(contact)
        var changed = now.map { written.keysDiffering(from: $0.stored) } ?? .all
        if changesPhoto { changed.formUnion(.images) }
        guard !changed.isEmpty else { return }
        try bin?.keep(contact: record)
        try linking.willPutBack(number)
        var identifiers = former.identifiers
        if let later = now.flatMap({ ValueIdentifiers(bytes: $0.identifiers) }) { identifiers.formUnion(later) }
        try contacts.update(record, written, identifiers, .all, by: author)
        let forms = maker.forms(of: contact)
        try contacts.removeForms(record)
        try contacts.writeKeys(record, forms.names)
        try contacts.writeForms(record, forms)
        if changesPhoto {
            try bin?.keepPhoto(record)
            try contacts.writeImage(
                record, contact.imageDataAvailable ? String(decoding: photo?.image ?? [], as: UTF8.self) : "")
        }
        use.add(written.size(of: changed), removing: now?.stored.size(of: changed) ?? 0)
        // The former date comes back, too. An app that sees dates must not learn from it of a key that it does not see.
        log.note(.updateContact, number, keys: changed.subtracting(ContactKeySet(.modificationDate)))
    }

    // MARK: Groups and containers

    private func name(ofGroup group: RecordNumber) throws(StoreError) -> String? {
        try db.statement("SELECT name FROM contactGroup WHERE record = ?").bind(1, group.rawValue).first { $0.text(0) }
    }

    private func putBack(group step: FormerState) throws {
        let select = try db.statement("SELECT name, maker, former, flags FROM binItem WHERE number = ?")
        guard let item = step.item,
            let former = try select.bind(1, item).first({ ($0.text(0), $0.bytes(1), $0.record(2), $0.integer(3)) })
        else { return }
        let (name, owner, container, confirmed) = former
        if let now = try self.name(ofGroup: step.record) {
            try bin?.keep(group: step.record.rawValue)
            if now != name { log.note(.updateGroup, step.record, owner: owner) }
        } else {
            try bin?.added(group: step.record.rawValue)
            log.note(.addGroup, step.record, owner: owner)
        }
        try db.statement(
            """
            INSERT INTO contactGroup (record, name, owner, container, confirmed) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET (name, confirmed, sole) = (excluded.name, excluded.confirmed, 0)
            """
        )
        .bind(1, step.record.rawValue).bind(2, name).bind(3, owner).bind(4, try self.container(container))
        .bind(5, confirmed).run()
        use.add(name.utf8.count)
    }

    private func containerName(_ record: RecordNumber) throws(StoreError) -> String? {
        try db.statement("SELECT name FROM container WHERE record = ?").bind(1, record.rawValue).first { $0.text(0) }
    }

    /// Returns the number of a former container. If it is gone, a save of the person adds it again.
    private func container(_ record: RecordNumber?, adds: Bool = false) throws -> Int64? {
        guard let record else { return nil }
        if try containerName(record) != nil { return record.rawValue }
        guard adds || author == .nobody else { return nil }
        let select = try db.statement(
            "SELECT name FROM binItem WHERE subject = 8 AND record = ? AND existed = 1 ORDER BY number DESC LIMIT 1")
        guard let name = try select.bind(1, record.rawValue).first({ $0.text(0) }) else { return nil }
        do throws(ChangeError) {
            try apply(.container(.add(record, name: name)))
        } catch {
            guard case .tooManyContainers = error else { throw error }
            return nil
        }
        return record.rawValue
    }

    private func removeIfEmpty(_ container: RecordNumber) throws {
        do throws(ChangeError) {
            try apply(.container(.delete(container)))
        } catch {
            switch error {
            case .containerInUse, .recordDoesNotExist: return
            default: throw error
            }
        }
    }

    /// Applies a step of which no index is reported.
    private func apply(_ change: ContactChange) throws(ChangeError) {
        do { try apply(change, 0) } catch { throw error as? ChangeError ?? .store(StoreError(error)) }
    }

    // MARK: Relations

    private func putBack(relation step: FormerState) throws {
        switch step.subject {
        case .contact, .group, .handLink, .added: return
        case .container: if step.existed { _ = try container(step.record, adds: true) }
        case .me:
            guard try step.former.map(db.hasContact) ?? true else { return }
            try apply(.group(.setMe(step.former)), 0)
        case .unlike:
            guard try db.hasContact(step.record), try db.hasContact(step.member) else { return }
            try linking.putBack(unlike: step.record, step.member, existed: step.existed)
        case .member:
            guard try name(ofGroup: step.record) != nil, try db.hasContact(step.member) else { return }
            let confirmed = step.former?.rawValue ?? 0
            let groups = GroupWriter(db: db, isConfirmed: confirmed == 1, bin: bin, author: author.app)
            guard step.existed else { return try groups.apply(.removeMember(step.member, from: step.record), 0, &log) }
            try groups.apply(.addMember(step.member, to: step.record), 0, &log)
            let marked = try db.statement("SELECT 1 FROM member WHERE parent = ? AND contact = ? AND confirmed <> ?")
                .bind(1, step.record.rawValue).bind(2, step.member.rawValue).bind(3, confirmed).hasRow()
            // A mark that was added is in the bin already, but not one that is taken away.
            if marked { try bin?.keep(member: step.member.rawValue, of: step.record.rawValue, confirmed: 1) }
            try db.statement("UPDATE member SET confirmed = ? WHERE parent = ? AND contact = ? AND confirmed <> ?1")
                .bind(1, confirmed).bind(2, step.record.rawValue).bind(3, step.member.rawValue).run()
            // How many hidden groups a contact was in must not show in what the app may still add.
            if author == .nobody { use.add() }
        case .subgroup:
            guard try name(ofGroup: step.record) != nil, try name(ofGroup: step.member) != nil else { return }
            do throws(ChangeError) {
                try apply(
                    .group(
                        step.existed
                            ? .addSubgroup(step.member, to: step.record, visible: nil)
                            : .removeSubgroup(step.member, from: step.record)))
            } catch {
                guard case .containmentCycle = error else { throw error }
            }
        }
    }
}
