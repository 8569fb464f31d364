@_spi(StoredBytes) import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// One save, within its transaction. Call ``apply(_:_:)`` for each step, then ``finish()``.
final class BookSave {
    let db: Database
    let contacts: ContactWriter
    let linking: Linking
    let maker: FormMaker
    /// `nil` if the person keeps no bin.
    let bin: BinWriter?
    /// The contacts that the save adds, prepared on another thread; `nil` if there are only a few.
    private var ahead: ContactsAhead.Iterator?
    let author: ChangeAuthor
    /// The keys whose values the author may see. If the author deletes a card, only these values count as
    /// removed, because the size of other values must stay hidden.
    private let visible: ContactKeySet
    /// Contacts that the author may not delete, and therefore not empty.
    private let kept: Set<RecordNumber>
    private let time: String
    var log: ChangeLog

    /// A contact or a group in a group.
    struct Membership: Hashable {
        let group: RecordNumber
        let member: RecordNumber
        let isOfGroup: Bool
    }

    /// The memberships that ended with deletions, as the bin has them, for each of its saves. They are read when the save brings
    /// records back.
    var leftMemberships: [Int64: [RecordNumber: [Membership]]] = [:]
    var notedAsLeft: Set<Membership> = []

    /// The entries that the save adds to the change history.
    var changes: [BookChange] { log.changes }
    var use: SpaceUse

    init(
        _ db: Database, _ contacts: ContactWriter, _ linking: Linking, _ maker: FormMaker, _ ahead: ContactsAhead?,
        by author: ChangeAuthor, _ access: AuthorAccess, keeping kept: Set<RecordNumber>, at seconds: Int64,
        perChange bytesPerChange: Int64, _ bin: BinWriter?
    ) throws(StoreError) {
        self.db = db
        self.bin = bin
        self.contacts = contacts
        self.linking = linking
        self.maker = maker
        self.ahead = ahead.map { ContactsAhead.Iterator($0, maker) }
        self.author = author
        self.kept = kept
        use = SpaceUse(bytesPerChange: bytesPerChange)
        visible =
            switch access {
            case .full: .all
            case .limited(let keys): keys
            }
        time = Timestamp.text(seconds: seconds)
        log = ChangeLog(after: try db.lastChange(), by: author, at: seconds)
    }

    /// - Parameter index: the step's index in the save.
    func apply(_ change: ContactChange, _ index: Int) throws {
        switch change {
        case .add(let record, let contact): try add(record, contact)
        case .update(let record, let patch, let keys): try update(record, patch, keys, index)
        case .delete(let record):
            try bin?.keep(contact: record.rawValue, deletes: true)
            try linking.willDelete(record)
            use.remove(try size(of: record))
            guard try contacts.delete(record.rawValue) else { throw ChangeError.recordDoesNotExist(index: index) }
            log.note(.deleteContact, record)
        case .group(let change):
            let groups = GroupWriter(db: db, isConfirmed: linking.isEvidence, bin: bin, author: author.app)
            try groups.apply(change, index, &log)
            add(change)
        case .container(let change):
            try ContainerWriter(db: db, bin: bin).apply(change, index)
            switch change {
            case .add(_, let name): use.add(name.utf8.count)
            case .put, .delete: break
            }
        case .link(let change):
            try linking.apply(change, index)
            use.add()
        case .putBack(let former): try putBack(former.steps)
        case .thumbnail(let record, let thumbnail, let photo):
            // A thumbnail is not an edit, so the modification date does not change.
            guard let thumbnail else { return try contacts.endWaiting(record.rawValue, for: photo) }
            if try contacts.writeThumbnail(record.rawValue, thumbnail, of: photo) {
                use.add(thumbnail.count)
                log.note(.updateContact, record, keys: ContactKeySet(.thumbnailImageData))
            }
        }
    }

    /// - Returns: the book's links after the save.
    func finish() throws -> BookLinks {
        try contacts.finishForms()
        let links = try linking.finish(&log)
        try log.write(db)
        return links
    }

    private func add(_ record: RecordNumber, _ contact: Contact) throws {
        let made = ahead?.next() ?? NewContact(contact, at: time, maker)
        bin?.added(contact: record.rawValue)
        try contacts.insert(record.rawValue, made, photo: contact.imageData, maker: author.app, isNew: true)
        use.add(made.stored.size + contact.imageData.utf8.count)
        try linking.added(record)
        log.note(.addContact, record)
    }

    private func update(_ record: RecordNumber, _ patch: Contact, _ keys: ContactKeySet, _ index: Int) throws {
        let keys = keys.subtracting(Self.ownKeys)
        guard let (stored, highest) = try contacts.contact(record.rawValue, keys) else {
            throw ChangeError.recordDoesNotExist(index: index)
        }
        guard let former = Contact(stored), var identifiers = ValueIdentifiers(bytes: highest) else {
            throw StoreError.damagedCard(record: record.rawValue)
        }
        var contact = former.applying(patch, keys: keys)
        if keys.contains(.imageData) { contact.imageDataAvailable = !patch.imageData.isEmpty }
        guard !kept.contains(record) || !empties(former, contact) else {
            throw ChangeError.emptiesContact(index: index)
        }
        identifiers.assign(to: &contact, replacing: former)
        let written = StoredContact(contact)
        var changed = written.keysDiffering(from: stored)
        if keys.contains(.imageData), contact.imageDataAvailable || former.imageDataAvailable {
            changed.formUnion(.images)
        }
        // An update that repeats the stored values changes nothing, not even the modification date.
        guard !changed.isEmpty else { return }
        let photo = keys.contains(.imageData) ? try contacts.photoSize(record.rawValue) : 0
        let (new, old) = (written.size(of: changed) + patch.imageData.utf8.count, stored.size(of: changed) + photo)
        if new == 0 { use.remove(old) } else { use.add(new, removing: old) }
        // An app that can read the date but not the notes must not learn from the date that the notes were
        // edited.
        if !changed.isSubset(of: .named) { contact.modificationDate = time }
        log.note(.updateContact, record, keys: changed)
        try bin?.keep(contact: record.rawValue)
        if !changed.isDisjoint(with: BookLinks.evidenceKeys) {
            try linking.willUpdate(record, from: former, to: contact)
        }
        try contacts.update(record.rawValue, StoredContact(contact), identifiers, keys, by: author)
        if !keys.isDisjoint(with: FormMaker.keys.union(CollationKey.keys)) {
            let forms = maker.forms(of: contact)
            try contacts.removeForms(record.rawValue)
            if !keys.isDisjoint(with: CollationKey.keys) { try contacts.writeKeys(record.rawValue, forms.names) }
            try contacts.writeForms(record.rawValue, forms)
        }
        if keys.contains(.imageData) {
            try bin?.keepPhoto(record.rawValue)
            try contacts.writeImage(record.rawValue, patch.imageData)
        }
    }

    /// Whether a contact loses all its names, or all its numbers and addresses. Only what the author may see counts, because
    /// a refusal must not tell more.
    private func empties(_ former: Contact, _ new: Contact) -> Bool {
        [Self.namingKeys, Self.reachingKeys].contains { keys in
            let seen = keys.intersection(visible)
            return !former.present(of: seen).isEmpty && new.present(of: seen).isEmpty
        }
    }

    private static let namingKeys = ContactKeySet.names.subtracting(ContactKeySet(.contactType))
    private static let reachingKeys = ContactKeySet([.phoneNumbers, .emailAddresses, .postalAddresses])

    /// Returns the size, in bytes, of the parts of a card that the author may see.
    func size(of record: RecordNumber) throws(StoreError) -> Int {
        let photo = visible.contains(.imageData) ? try contacts.photoSize(record.rawValue) : 0
        do throws(StoreError) {
            return photo + (try contacts.contact(record.rawValue, visible)?.stored.size(of: visible) ?? 0)
        } catch {
            // A damaged card can still be deleted; only its photo is counted.
            guard case .damagedCard = error else { throw error }
            return photo
        }
    }

    private func add(_ change: GroupChange) {
        switch change {
        case .add(_, let name, _), .rename(_, let name): use.add(name.utf8.count)
        case .addMember, .addSubgroup: use.add()
        case .delete, .removeMember, .removeSubgroup, .setMe: break
        }
    }

    /// The keys that only the book itself writes.
    private static let ownKeys = ContactKeySet([
        .creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData,
    ])
}
