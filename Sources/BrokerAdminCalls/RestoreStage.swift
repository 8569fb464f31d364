import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerModel
import BrokerVarlink
import Synchronization

/// A backup that is being restored, in a book of its own that no app sees. If the restore is not finished, this book is
/// deleted and nothing has changed.
final class RestoreStage: Sendable {
    /// What a complete backup contains.
    struct Contents: Sendable {
        let header: BackupReader.Header
        let apps: [BackedUpApp]
        /// The contacts.
        let records: Set<RecordNumber>
        let groups: Set<RecordNumber>
        /// The contacts with a photo.
        let photographed: [RecordNumber]
        let damaged: Int
    }

    private struct State {
        var reader: BackupReader
        var seal: BackupSeal?
        var book: ContactsStore?
        var records: Set<RecordNumber> = []
        var groups: Set<RecordNumber> = []
        var photographed: [RecordNumber] = []
        /// Whether a call failed, so that lines are missing.
        var hasFailed = false
    }

    let contactsOnly: Bool
    let folder: String
    private let owner: StoreOwner
    private let language, region: String
    private let space: SpaceBounds
    private let state: Mutex<State>

    /// - Parameters:
    ///   - seal: authenticates the lines; `nil` if the caller did.
    ///   - folder: a folder for the book. It must not exist.
    init(
        owner: StoreOwner, contactsOnly: Bool, seal: BackupSeal?, folder: String, language: String,
        region: String, space: SpaceBounds
    ) {
        self.owner = owner
        self.contactsOnly = contactsOnly
        self.folder = folder
        (self.language, self.region) = (language, region)
        self.space = space
        state = Mutex(State(reader: BackupReader(contactsOnly: contactsOnly), seal: seal))
    }

    deinit {
        state.withLock { $0.book?.close() }
        try? ContactsStore.remove(folder: folder)
    }

    /// Adds the next lines to the book. Do not call this on the event loop.
    ///
    /// - Parameters:
    ///   - numbers: new record numbers, as many as lines, for contacts that do not keep theirs.
    ///   - seconds: the current time.
    func read(
        _ lines: [[UInt8]], code: String?, numbers: [RecordNumber], at seconds: Int64
    ) throws(VarlinkError) {
        try state.withLock { state throws(VarlinkError) in
            guard !state.hasFailed else { throw BackupReader.invalid("an earlier part of it was refused") }
            do throws(VarlinkError) {
                try read(lines, code, numbers, seconds, &state)
            } catch {
                state.hasFailed = true
                throw error
            }
        }
    }

    private func read(
        _ lines: [[UInt8]], _ code: String?, _ numbers: [RecordNumber], _ seconds: Int64, _ state: inout State
    ) throws(VarlinkError) {
        if state.seal != nil {
            guard let code, state.seal?.accepts(code, for: lines) == true else {
                throw AdminError.invalidValue(
                    "code", reason: "the backup was made by another contact broker, or was changed")
            }
        }
        var parts: [RestoredPart] = []
        for (line, number) in zip(lines, numbers) {
            guard let part = try state.reader.read(line) else { continue }
            switch part {
            case .row(let row):
                if let group = row.group { state.groups.insert(group) }
                parts.append(part)
            case .card(let record, let contact, _): note(record, contact, part, &state, &parts)
            case .contact(_, let contact): note(number, contact, .contact(number, contact), &state, &parts)
            }
        }
        guard let header = state.reader.header else { return }
        guard contactsOnly || header.user == owner.name else {
            throw BackupReader.invalid("it is the backup of user \(header.user)")
        }
        do throws(ChangeError) {
            try book(&state).restore(parts, at: seconds)
        } catch .bookFull(_, let most) {
            throw BackupReader.invalid(
                "the address book would have more than \(SpaceWords.megabytes(most)) MB; set limits.address_book_mb in "
                    + "contactbroker.toml to more")
        } catch {
            throw BackupReader.invalid("it cannot be stored: \(error)")
        }
    }

    private func note(
        _ record: RecordNumber, _ contact: Contact, _ part: RestoredPart, _ state: inout State,
        _ parts: inout [RestoredPart]
    ) {
        state.records.insert(record)
        if !contact.imageData.isEmpty { state.photographed.append(record) }
        parts.append(part)
    }

    private func book(_ state: inout State) throws(ChangeError) -> ContactsStore {
        if let book = state.book { return book }
        do throws(StoreError) {
            let opened = try ContactsStore.open(
                folder: folder, owner: owner, creating: true, locale: language, region: region, space: space,
                onDamage: { _ in })
            guard let opened else { throw .unavailable(reason: "it could not be created") }
            state.book = opened
            return opened
        } catch {
            throw .store(error)
        }
    }

    /// Closes the book and returns what the backup contains. Throws if its end is missing. Do not call this on the event
    /// loop.
    func end() throws(VarlinkError) -> Contents {
        try state.withLock { state throws(VarlinkError) in
            guard !state.hasFailed, state.reader.isComplete, let header = state.reader.header else {
                throw BackupReader.invalid("its end is missing")
            }
            state.book?.close()
            return Contents(
                header: header, apps: state.reader.apps, records: state.records, groups: state.groups,
                photographed: state.photographed,
                damaged: state.reader.damaged)
        }
    }

    /// The highest record number in the backup; 0 if its numbers are not used.
    var highestRecord: Int64 { contactsOnly ? 0 : state.withLock(\.reader.highestRecord) }
}
