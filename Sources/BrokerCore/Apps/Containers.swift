import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerModel

/// The place for contacts that every book has.
enum Containers {
    /// Below every number that a record is given: those are times.
    static let local = RecordNumber(1)
    static let localName = "Local"
}

/// Containers as a caller sees them. Who sees everything sees them all; for anybody else there is one, and whatever they see
/// is in it: another's name is the person's own word, and that there is one is too.
extension Reading {
    /// `nil` is the one that every book has; it comes first.
    func containers() throws(StoreError) -> [StoredContainer?] {
        guard disclosure.scope == .all, let book else { return [nil] }
        return [nil] + (try book.containers())
    }

    func identifier(of container: StoredContainer?) -> String { containerIdentifier(container?.record) }

    func containerIdentifier(_ record: RecordNumber?) -> String {
        let told = disclosure.scope == .all ? record : nil
        return identifiers.identifier(of: told ?? Containers.local, as: .container)
    }

    func containerIdentifier(ofContact record: RecordNumber) throws(StoreError) -> String {
        guard disclosure.scope == .all else { return containerIdentifier(nil) }
        return containerIdentifier(try book?.container(ofContact: record))
    }
}
