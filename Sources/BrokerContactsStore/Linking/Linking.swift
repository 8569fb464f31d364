import BrokerBounds
import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// Updates the links between cards during one save. Use it only within the save's transaction.
///
/// Links by evidence are a function of the cards' content and containers, the links made by hand, and the pairs
/// unlinked by hand. The order in which cards were added does not matter. A save derives the links again for the cards
/// that it changes, and for cards that share an address or a number with them.
final class Linking {
    private let db: Database
    private let book: LinkTables
    private let bin: BinWriter?
    private let normalizer: Normalizer
    /// The links before the save (`former`), and after the steps applied so far (`links`). Only
    /// ``finish(_:)`` evaluates the evidence.
    private let former: BookLinks
    private var links: BookLinks
    let isEvidence: Bool
    /// Cards whose links may have changed.
    private var touched: Set<RecordNumber> = []
    /// The values that the touched cards had before the save.
    private var formerValues: Set<LinkValue> = []
    /// The added cards whose content may link cards. Most of them share no value with another card, so
    /// ``finish(_:)`` examines only those that do.
    private var added: [RecordNumber] = []

    /// - Parameter isEvidence: whether the content that the save writes may link cards.
    init(_ db: Database, _ normalizer: Normalizer, _ links: BookLinks, isEvidence: Bool, _ bin: BinWriter? = nil) {
        self.db = db
        self.bin = bin
        book = LinkTables(db: db, bin: bin)
        self.normalizer = normalizer
        (former, self.links, self.isEvidence) = (links, links, isEvidence)
    }

    func added(_ record: RecordNumber) throws {
        if isEvidence { added.append(record) } else { try book.setUnsure(record) }
    }

    /// Call this before the card is updated.
    func willUpdate(_ record: RecordNumber, from former: Contact, to contact: Contact) throws {
        try willChange(record)
        // Otherwise an app could copy a hidden card's values to a visible card and thereby link the two
        // cards.
        if !isEvidence, contact.saysMore(than: former) { try book.setUnsure(record) }
    }

    /// Call this before the card is deleted.
    func willDelete(_ record: RecordNumber) throws {
        try willChange(record)
        touched.formUnion(links.all.members(of: record))
        links.all.remove(record)
        links.byHand.remove(record)
        try book.dropUnlike(record)
    }

    private func willChange(_ record: RecordNumber) throws {
        touched.insert(record)
        formerValues.formUnion(try book.values(of: record))
    }

    /// Applies one step. ``finish(_:)`` later records the changed links.
    func apply(_ change: LinkChange, _ index: Int) throws {
        let (one, other) = change.cards
        guard try db.hasContact(one), try db.hasContact(other) else {
            throw ChangeError.recordDoesNotExist(index: index)
        }
        touched.formUnion(links.all.members(of: one) + links.all.members(of: other))
        switch change {
        case .link:
            guard one != other, !links.byHand.areLinked(one, other) else { return }
            guard
                links.byHand.members(of: one).count + links.byHand.members(of: other).count
                    <= StoreLimits.linkedCards
            else { throw ChangeError.tooManyLinked(index: index) }
            // The new link overrides earlier unlinks between the two sets.
            try book.removeUnlike(links.all.members(of: one), links.all.members(of: other))
            links.byHand.join(one, other)
            links.all.join(one, other)
        case .unlink:
            var others = links.all.areLinked(one, other) ? links.all.members(of: one) : [other]
            others.removeAll { $0 == one }
            for other in others { try book.setUnlike(one, other) }
            guard links.all.areLinked(one, other) else { return }
            links.byHand.remove(one)
            links.all.remove(one)
        }
    }

    /// Derives the links again, writes them, and records the changed links in the history. Call this after
    /// all other changes of the save have been written to their tables.
    func finish(_ log: inout ChangeLog) throws -> BookLinks {
        if !added.isEmpty { touched.formUnion(try book.sharing(added)) }
        guard !touched.isEmpty else { return links }
        let evidence = try LinkEvidence(book, normalizer, byHand: links.byHand, changed: touched.count)
        let start = try cardsConcerned(evidence)
        let found = try evidence.sets(of: start, linked: links.all)
        links.all.replace(found.examined, by: found.sets)
        let changed = touched.union(start).union(found.examined).sorted()
        try write("link", changed, former.all, links.all)
        try write("handLink", changed, former.byHand, links.byHand)
        Self.note(changed, from: former, to: links, &log)
        return links
    }

    /// Derives all links by evidence again, after the rules or the search terms have changed. Writes no history.
    static func remake(_ db: Database, _ normalizer: Normalizer) throws {
        let book = LinkTables(db: db)
        let byHand = try LinkTables.all(db, "handLink")
        var links = byHand
        var rest = try book.sharing(db.statement("SELECT record FROM contact").records())[...]
        while !rest.isEmpty {
            // Evidence keeps what it has read in memory, so each part gets its own.
            let part = rest.prefix(4_096)
            rest = rest.dropFirst(part.count)
            let evidence = try LinkEvidence(book, normalizer, byHand: byHand, changed: 0)
            let found = try evidence.sets(of: part, linked: byHand)
            links.replace(found.examined, by: found.sets)
        }
        try db.execute("DELETE FROM link")
        for record in links.records { try book.write(record, first: links.first(of: record), in: "link") }
    }

    /// Returns the existing cards whose links the save may affect.
    private func cardsConcerned(_ evidence: LinkEvidence) throws -> Set<RecordNumber> {
        // Cards linked by hand count as one person, so all of them are examined.
        var start: Set<RecordNumber> = []
        for record in touched {
            start.formUnion(former.byHand.members(of: record))
            start.formUnion(links.byHand.members(of: record))
        }
        for record in start { formerValues.formUnion(try evidence.values(of: record)) }
        for value in formerValues { start.formUnion(try evidence.concerned(by: value)) }
        for record in start {
            start.formUnion(former.all.members(of: record))
            start.formUnion(links.all.members(of: record))
        }
        return try start.filter { try db.hasContact($0) }
    }

    private func write(_ table: String, _ records: [RecordNumber], _ former: ContactLinks, _ now: ContactLinks) throws {
        for record in records where former.first(of: record) != now.first(of: record) {
            if table == "handLink" { try bin?.keep(handLink: record, first: former.first(of: record)) }
            try book.write(record, first: now.first(of: record), in: table)
        }
    }

    // MARK: Putting back

    /// Call this before a card of the bin is written.
    func willPutBack(_ record: RecordNumber) throws {
        try willChange(record)
        touched.formUnion(links.all.members(of: record))
    }

    /// Brings the cards back to the sets, made by hand, that they were in.
    ///
    /// - Parameter firsts: existing cards, each with the first card of its former set; `nil` if it was not linked.
    func putBack(handLinks firsts: [(record: RecordNumber, first: RecordNumber?)]) throws {
        for (record, _) in firsts {
            touched.formUnion(links.all.members(of: record))
            links.byHand.remove(record)
            links.all.remove(record)
        }
        // If the first card is gone, the others of its set are linked all the same.
        var anchors: [RecordNumber: RecordNumber] = [:]
        for (record, first) in firsts {
            guard let first else { continue }
            guard let anchor = anchors[first] else {
                anchors[first] = try db.hasContact(first) ? first : record
                if anchors[first] == record { continue }
                try join(record, first)
                continue
            }
            try join(record, anchor)
        }
    }

    private func join(_ record: RecordNumber, _ anchor: RecordNumber) throws {
        guard links.byHand.members(of: record).count + links.byHand.members(of: anchor).count <= StoreLimits.linkedCards
        else { return }
        touched.formUnion(links.all.members(of: anchor))
        links.byHand.join(record, anchor)
        links.all.join(record, anchor)
    }

    /// Sets whether a card is no evidence.
    func set(_ record: RecordNumber, isUnsure: Bool) throws {
        if isUnsure { return try book.setUnsure(record) }
        try db.statement("DELETE FROM unsure WHERE record = ?").bind(1, record.rawValue).run()
    }

    /// - Parameter existed: whether the two existing cards must not be linked.
    func putBack(unlike one: RecordNumber, _ other: RecordNumber, existed: Bool) throws {
        for record in [one, other] { touched.formUnion(links.all.members(of: record)) }
        if existed { try book.setUnlike(one, other) } else { try book.removeUnlike([one], [other]) }
    }

    /// Records the changed links of these cards in the history.
    static func note(
        _ records: [RecordNumber], from former: BookLinks, to links: BookLinks, _ log: inout ChangeLog
    ) {
        for record in records {
            let sets = [former.all, links.all, former.byHand, links.byHand].map { links in
                Set(links.members(of: record).filter { $0 > record })
            }
            for member in Set(sets.joined()).sorted() {
                let linked = sets.map { $0.contains(member) }
                switch (linked[0] != linked[1], linked[2] != linked[3]) {
                case (true, true): log.note(linked[1] ? .link : .unlink, record, member: member)
                case (true, false): log.note(linked[1] ? .linkByEvidence : .unlinkByEvidence, record, member: member)
                case (false, true): log.note(linked[3] ? .linkByHand : .unlinkByHand, record, member: member)
                case (false, false): break
                }
            }
        }
    }
}

extension LinkChange {
    fileprivate var cards: (RecordNumber, RecordNumber) {
        switch self {
        case .link(let one, let other), .unlink(let one, from: let other): (one, other)
        }
    }
}

extension Contact {
    /// Whether the type or a name differs from the former contact's, or an address or number is new.
    fileprivate func saysMore(than former: Contact) -> Bool {
        if contactType != former.contactType { return true }
        if !LinkName.keys.keys.allSatisfy({ text(of: $0) == former.text(of: $0) }) { return true }
        return !Set(emailAddresses.map(\.value)).isSubset(of: former.emailAddresses.map(\.value))
            || !Set(phoneNumbers.map(\.value)).isSubset(of: former.phoneNumbers.map(\.value))
    }
}
