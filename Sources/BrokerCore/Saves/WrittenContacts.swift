import BrokerInterface
import BrokerJSON
import BrokerModel

/// What the steps of a save say of contacts.
struct WrittenContacts {
    private let changes: [SaveContactsParameters.Change]
    /// By step, as far as they have been read; `nil` for a step that writes none.
    private var read: [Result<WireContact, ContactError>?] = []

    init(_ changes: [SaveContactsParameters.Change]) { self.changes = changes }

    /// Reads some more, at least one.
    ///
    /// - Returns: whether that is all of them.
    mutating func readMore(until end: ContinuousClock.Instant) -> Bool {
        while read.count < changes.count {
            let change = changes[read.count]
            read.append(change.contact.map { Self.read($0, change) })
            if .now >= end { break }
        }
        return read.count == changes.count
    }

    /// - Throws: of one that is not as it should be; of one that is not there, or was not read, that the changes are not.
    func contact(ofStep index: Int) throws(ContactError) -> WireContact {
        guard read.indices.contains(index), let contact = read[index] else { throw .invalidParameter("changes") }
        return try contact.get()
    }

    private static func read(
        _ json: JSONValue, _ change: SaveContactsParameters.Change
    ) -> Result<WireContact, ContactError> {
        do throws(ContactError) {
            let wire = try WireContact(json)
            if change.operation == .add || change.operation == .update { try wire.contact.validate(writing: wire.keys) }
            return .success(wire)
        } catch {
            return .failure(error)
        }
    }
}
