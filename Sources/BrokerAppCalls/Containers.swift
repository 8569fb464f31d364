import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerLedger
import BrokerModel

/// The container that every book has.
enum Containers {
    /// The local container. Other record numbers are derived from the time, so no record gets a number this
    /// low.
    static let local = RecordNumber(1)
    static let localName = "Local"
}

/// Containers as a caller sees them. A caller with full access sees all containers. Any other caller sees
/// only the local container, which seems to contain all visible records. The existence and names of other
/// containers are the person's own data.
extension ReadContext {
    /// All visible containers. `nil` stands for the local container and comes first.
    func containers() throws(StoreError) -> [StoredContainer?] {
        guard disclosure.scope == .all, let book else { return [nil] }
        return [nil] + (try book.containers())
    }

    func identifier(of container: StoredContainer?) -> String { containerIdentifier(container?.record) }

    func containerIdentifier(_ record: RecordNumber?) -> String {
        let visible = disclosure.scope == .all ? record : nil
        return identifiers.identifier(of: visible ?? Containers.local, as: .container)
    }

    func containerIdentifier(ofContact record: RecordNumber) throws(StoreError) -> String {
        guard disclosure.scope == .all else { return containerIdentifier(nil) }
        return containerIdentifier(try book?.container(ofContact: record))
    }
}
