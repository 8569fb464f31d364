import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Shows the person what an app wants to save.
extension AgentSearches {
    /// The rows of a save, each with what it does.
    func rows(
        of save: ProposedSave, _ parameters: SearchParameters, _ prompt: Prompt, _ book: ContactsStore
    ) throws(StoreError) -> DisclosedReply {
        let first = min(parameters.offset, save.rows.count)
        let page = save.rows[first...].prefix(parameters.limit)
        let subjects = page.flatMap { [$0.subject, $0.other].compactMap(\.self) }
        let found = try contacts(subjects, save, book)
        var writer = DisclosedWriter(reservingCapacity: 256 + page.count * 512)
        writer.beginArray("rows")
        for (index, row) in zip(page.indices, page) {
            let identifier = prompt.rows.identifier(of: RecordNumber(Int64(index)), as: .agentRow)
            let other = row.newName.map { Self.contact(named: $0) } ?? row.other.flatMap { found[$0] }
            writer.object { writer in
                write(found[row.subject] ?? StoredContact(values: []), identifier, &writer)
                writer.member("granted", "none")
                writer.member("enabled", true)
                writer.member("change", row.effect.rawValue)
                writer.member("record", row.subject.kind)
                if let other { writer.member("other", of: self.row(of: other)) }
            }
        }
        writer.endArray()
        writer.member("total", save.rows.count)
        writer.member("more", page.endIndex < save.rows.count)
        return writer.replyToPerson(recording: page.count)
    }

    /// The contacts and the names of groups and containers, as they are now, or as the save adds them.
    private func contacts(
        _ subjects: [ProposedSave.Subject], _ save: ProposedSave, _ book: ContactsStore
    ) throws(StoreError) -> [ProposedSave.Subject: StoredContact] {
        let records = subjects.compactMap { if case .contact(let record) = $0 { record } else { nil } }
        var found: [ProposedSave.Subject: StoredContact] = [:]
        if !records.isEmpty {
            let query = ContactQuery(scope: .only(Set(records)), limit: records.count)
            _ = try book.fetch(query) { record, contact, _ in found[.contact(record)] = contact }
        }
        for subject in subjects where found[subject] == nil {
            switch subject {
            case .contact(let record): found[subject] = StoredContact(save.contact(record, after: nil))
            case .group(let record):
                var name = save.names[record]
                if name == nil { name = try book.group(record, of: nil)?.name }
                found[subject] = Self.contact(named: name ?? "")
            case .container(let record):
                var name = save.names[record]
                if name == nil { name = try book.containers().first { $0.record == record }?.name }
                found[subject] = Self.contact(named: name ?? "")
            }
        }
        return found
    }

    /// One contact of a save, as it is now and as it would be.
    ///
    /// - Returns: `nil` if there is no such row, or it is no contact.
    func contact(
        _ identifier: String, of save: ProposedSave, _ prompt: Prompt, _ book: ContactsStore
    ) throws(StoreError) -> ShownContact? {
        guard let index = prompt.rows.record(identifier, as: .agentRow).map({ Int($0.rawValue) }),
            save.rows.indices.contains(index), case .contact(let record) = save.rows[index].subject
        else { return nil }
        var stored: StoredContact?
        _ = try book.fetch(ContactQuery(scope: .only([record]), limit: 1)) { _, contact, _ in stored = contact }
        let former = stored.flatMap { Contact($0) }
        let photo = save.photo(of: record, hadPhoto: former?.imageDataAvailable == true)
        switch save.rows[index].effect {
        case .changed, .added:
            // A contact that was deleted meanwhile is shown without what it was.
            let after = StoredContact(save.contact(record, after: former))
            return ShownContact(record: record, contact: after, former: stored, photo: photo)
        case .deleted, .joins, .leaves, .linked, .unlinked, .own, .notOwn:
            let contact = stored ?? StoredContact(save.contact(record, after: nil))
            return ShownContact(record: record, contact: contact, former: nil, photo: nil)
        }
    }

    struct ShownContact {
        let record: RecordNumber
        let contact: StoredContact
        let former: StoredContact?
        let photo: String?
    }
}

extension ProposedSave.Subject {
    fileprivate var kind: String {
        switch self {
        case .contact: "contact"
        case .group: "group"
        case .container: "container"
        }
    }
}
