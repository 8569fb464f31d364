import BrokerModel
import Foundation

/// The base class of all fetch requests.
open class CNFetchRequest: NSObject {}

/// A request that selects the contacts and the properties to fetch.
open class CNContactFetchRequest: CNFetchRequest, NSSecureCoding {
    /// A predicate that ``CNContact`` made; `nil` selects all contacts that the app may see.
    open var predicate: NSPredicate?
    /// The properties to fetch. A short list makes a fetch faster.
    open var keysToFetch: [any CNKeyDescriptor]
    /// Whether the fetched contacts are ``CNMutableContact`` objects.
    open var mutableObjects = false
    /// Whether linked contacts are merged into one unified contact.
    open var unifyResults = true
    /// The sort order of the results.
    open var sortOrder = CNContactSortOrder.none

    /// Whether each contact has its ``CNContact/revision``. The broker then reads all that the app may see of each
    /// contact. An extension of this library.
    open var includesRevisions = false

    /// Requests these properties of all contacts, in unspecified order.
    public init(keysToFetch: [any CNKeyDescriptor]) {
        self.keysToFetch = keysToFetch
    }

    /// Always `true`: the class supports only secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the request. A predicate that ``CNContact`` did not make is left out.
    open func encode(with coder: NSCoder) {
        let keys = (try? ContactKeySet(keysToFetch))?.keys.map(\.rawValue) ?? []
        coder.encode(keys.map { $0 as NSString } as NSArray, forKey: "keysToFetch")
        (predicate as? ContactsPredicate)?.write(to: coder)
        coder.encode(mutableObjects, forKey: "mutableObjects")
        coder.encode(unifyResults, forKey: "unifyResults")
        coder.encode(includesRevisions, forKey: "includesRevisions")
        coder.encode(Int32(sortOrder.rawValue), forKey: "sortOrder")
    }

    /// Decodes a request that `encode(with:)` encoded; returns `nil` if the keys are missing or the sort
    /// order is unknown.
    public required init?(coder: NSCoder) {
        guard let keys = coder.decodeTexts(forKey: "keysToFetch"),
            let order = CNContactSortOrder(rawValue: Int(coder.decodeInt32(forKey: "sortOrder")))
        else { return nil }
        keysToFetch = keys
        super.init()
        predicate = ContactsPredicate.read(from: coder)
        mutableObjects = coder.decodeBool(forKey: "mutableObjects")
        unifyResults = coder.decodeBool(forKey: "unifyResults")
        includesRevisions = coder.decodeBool(forKey: "includesRevisions")
        sortOrder = order
    }
}

/// A fetched value, with the history token at which it was read. To fetch later changes, start a
/// ``CNChangeHistoryFetchRequest`` at this token.
public final class CNFetchResult<ValueType>: NSObject {
    /// The fetched value.
    public let value: ValueType
    /// The history token; empty if it is not known.
    public let currentHistoryToken: Data

    init(value: ValueType, currentHistoryToken: Data?) {
        self.value = value
        self.currentHistoryToken = currentHistoryToken ?? Data()
    }
}
