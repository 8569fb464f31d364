import BrokerModel
import Foundation

/// Something that names keys to fetch: a key, or what a formatter or another part of the library needs.
///
/// Only strings and what this library returns as a descriptor mean something to a contact store.
public protocol CNKeyDescriptor {}

extension String: CNKeyDescriptor {}
extension NSString: CNKeyDescriptor {}

/// The keys that one task needs.
struct TaskKeys: CNKeyDescriptor, Hashable, Sendable {
    let keys: ContactKeySet
}

extension ContactKeySet {
    /// The keys that descriptors stand for.
    ///
    /// - Throws: ``CNError/Code/unauthorizedKeys`` with the names of those that nobody knows.
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
                .unauthorizedKeys, reason: "no contact has \(unknown.joined(separator: ", "))", keyPaths: unknown)
        }
        self = keys
    }

    /// The keys that descriptors of an offer stand for: ``CNGroupsOfOthersKey`` too, which no contact has.
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
