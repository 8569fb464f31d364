import ContactsInterface
import ContactsModel
import ContactsStore
import Varlink

/// Where contacts are kept. There is one place: this broker's own book.
enum Containers {
    /// Below every number that a record is given: those are times.
    static let local = RecordNumber(1)
    static let localName = "Local"
}

extension Broker {
    func listContainers(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try ListContainersParameters(call.parameters)
        read(call, session) { [weak self] (reading) throws(Reading.Failure) in
            guard let self else { return }
            if let contact = parameters.contact { _ = try reading.contact(contact) }
            if let name = parameters.group {
                let group: StoredGroup?
                do throws(StoreError) {
                    group = try reading.group(named: name)
                } catch {
                    throw .store(error)
                }
                guard group != nil else { throw .call(ContactsError.recordDoesNotExist()) }
            }
            let identifier = reading.localContainer
            reply(to: call, session, reading, count: 0) {
                $0.name("containers")
                $0.array(CollectionOfOne(identifier)) { writer, identifier in
                    writer.object {
                        $0.member("identifier", identifier)
                        $0.member("name", Containers.localName)
                        $0.member("kind", "local")
                    }
                }
                $0.member("defaultContainer", identifier)
            }
        }
    }
}
