import BrokerModel
import Foundation

/// Names keys to fetch: a single key, or all keys that a formatter or another part of the library needs.
///
/// A contact store accepts only strings and descriptors that this library returned.
public protocol CNKeyDescriptor {}

extension String: CNKeyDescriptor {}
extension NSString: CNKeyDescriptor {}

/// The keys that one task needs.
struct TaskKeys: CNKeyDescriptor, Hashable, Sendable {
    let keys: ContactKeySet
}

extension ContactKeySet {
    /// Creates the set of keys that the descriptors name.
    ///
    /// - Throws: ``CNError/Code/unauthorizedKeys`` with the names of unknown keys.
    init(_ descriptors: [any CNKeyDescriptor]) throws(CNError) {
        var keys = ContactKeySet()
        var unknown: [String] = []
        for descriptor in descriptors {
            switch descriptor {
            case let name as String: keys.formUnion(Self.keys(named: name, &unknown))
            case let task as TaskKeys: keys.formUnion(task.keys)
            case let name as NSString: keys.formUnion(Self.keys(named: name as String, &unknown))
            default: unknown.append(String(describing: type(of: descriptor)))
            }
        }
        guard unknown.isEmpty else {
            throw CNError(
                .unauthorizedKeys, reason: "contacts have no key \(unknown.joined(separator: ", "))", keyPaths: unknown)
        }
        self = keys
    }

    /// Creates the set of keys to offer. The descriptors may include ``CNGroupsOfOthersKey``, which is not a
    /// key of contacts.
    init(offered descriptors: [any CNKeyDescriptor]) throws(CNError) {
        let ofContacts = descriptors.filter { ($0 as? String) != CNGroupsOfOthersKey }
        self = try ContactKeySet(ofContacts)
        if ofContacts.count < descriptors.count { formUnion(.groups) }
    }

    private static func keys(named name: String, _ unknown: inout [String]) -> ContactKeySet {
        if name == CNContactIdentifierKey { return [] }
        if let key = ContactKey(rawValue: name) { return ContactKeySet(key) }
        unknown.append(name)
        return []
    }
}
