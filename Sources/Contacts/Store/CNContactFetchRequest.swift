import BrokerModel
import Foundation

/// What all requests for records have in common.
public class CNFetchRequest: NSObject {}

/// Which contacts to fetch, and what of them.
public final class CNContactFetchRequest: CNFetchRequest, NSSecureCoding {
    /// Which contacts; `nil` for all that the app may see. One of ``CNContact``'s predicates.
    public var predicate: NSPredicate?
    /// The properties that the contacts will have. Naming few makes a fetch faster.
    public var keysToFetch: [any CNKeyDescriptor]
    /// Whether contacts are ``CNMutableContact``.
    public var mutableObjects = false
    /// Whether linked contacts come as one.
    public var unifyResults = true
    /// In which order they come.
    public var sortOrder = CNContactSortOrder.none

    /// Asks for these properties of all contacts, in no order.
    public init(keysToFetch: [any CNKeyDescriptor]) {
        self.keysToFetch = keysToFetch
    }

    /// Always `true`: it is archived with secure coding alone.
    public static var supportsSecureCoding: Bool { true }

    /// Writes what is asked for. A predicate that is none of ``CNContact``’s is left out.
    public func encode(with coder: NSCoder) {
        let keys = (try? ContactKeySet(keysToFetch))?.keys.map(\.rawValue) ?? []
        coder.encode(keys.map { $0 as NSString } as NSArray, forKey: "keysToFetch")
        (predicate as? ContactsPredicate)?.write(to: coder)
        coder.encode(mutableObjects, forKey: "mutableObjects")
        coder.encode(unifyResults, forKey: "unifyResults")
        coder.encode(Int32(sortOrder.rawValue), forKey: "sortOrder")
    }

    /// Reads what `encode(with:)` wrote; `nil` where keys or order are missing or unknown.
    public required convenience init?(coder: NSCoder) {
        guard let keys = coder.decodeTexts(forKey: "keysToFetch"),
            let order = CNContactSortOrder(rawValue: Int(coder.decodeInt32(forKey: "sortOrder")))
        else { return nil }
        self.init(keysToFetch: keys)
        predicate = ContactsPredicate.read(from: coder)
        mutableObjects = coder.decodeBool(forKey: "mutableObjects")
        unifyResults = coder.decodeBool(forKey: "unifyResults")
        sortOrder = order
    }
}

/// What was fetched, and the place in the history at which it was read: what happened since is told by a
/// ``CNChangeHistoryFetchRequest`` that starts there.
public final class CNFetchResult<ValueType>: NSObject {
    /// What was fetched.
    public let value: ValueType
    /// The place in the history; empty where it is not known.
    public let currentHistoryToken: Data

    init(value: ValueType, currentHistoryToken: Data?) {
        self.value = value
        self.currentHistoryToken = currentHistoryToken ?? Data()
    }
}
