import BrokerModel
import BrokerNormalization
import Foundation
import Synchronization

extension CNContact {
    /// Returns a comparator that sorts contacts by name, as the store does: in the alphabet of the person's language
    /// (``CNContactsUserDefaults/language``). Fetch the contacts with ``descriptorForAllComparatorKeys()``; the comparator
    /// ignores properties that were not fetched.
    public class func comparator(forNameSortOrder order: CNContactSortOrder) -> Comparator {
        let order = order == .userDefault ? CNContactsUserDefaults.shared().sortOrder : order
        return comparator(order, language: CNContactsUserDefaults.shared().language)
    }

    /// - Parameter language: a BCP 47 tag, or a locale such as `sv_SE.UTF-8`.
    package class func comparator(_ order: CNContactSortOrder, language: String) -> Comparator {
        let names = NameOrder(isFamilyFirst: order == .familyName, language: language)
        return { left, right in
            guard let left = left as? CNContact, let right = right as? CNContact else { return .orderedSame }
            guard let a = names.key(of: left), let b = names.key(of: right) else { return .orderedSame }
            return a == b ? .orderedSame : a < b ? .orderedAscending : .orderedDescending
        }
    }

    /// Makes the store's sort keys.
    private final class NameOrder: Sendable {
        private let isFamilyFirst: Bool
        /// `nil` if ICU's data are missing.
        private let normalizer: Mutex<Normalizer?>

        init(isFamilyFirst: Bool, language: String) {
            self.isFamilyFirst = isFamilyFirst
            normalizer = Mutex(Normalizer(locale: language))
        }

        func key(of contact: CNContact) -> CollationKey? {
            let keys = CollationKey.keys.intersection(contact.keysThatCanBeRead)
            let names = Contact().applying(contact.values.card, keys: keys)
            return normalizer.withLock { normalizer in
                (normalizer?.collationKeys(of: names)).map { isFamilyFirst ? $0.familyName : $0.givenName }
            }
        }
    }

    /// Returns the keys that ``comparator(forNameSortOrder:)`` needs.
    public class func descriptorForAllComparatorKeys() -> any CNKeyDescriptor { TaskKeys(keys: CollationKey.keys) }
}
