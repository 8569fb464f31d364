import BrokerContactsStore
import BrokerDisclosure
import BrokerModel

extension FetchedContact {
    /// The contact as a disclosure takes it.
    package var disclosable: DisclosableContact { (record, contact, images ?? ContactImages()) }
}
