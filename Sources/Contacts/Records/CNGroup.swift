import Foundation
import Synchronization

/// A group of contacts, as it was when it was fetched.
public class CNGroup: NSObject, NSCopying, NSMutableCopying, NSSecureCoding, Identifiable {
    struct Values: Hashable, Sendable {
        var identifier: String
        var name = ""
        var container: String?
        var parents: [String] = []
    }

    /// Behind a lock, since the subclass changes it: both may be sent between threads.
    fileprivate let state: Mutex<Values>

    /// A group without a name, and with an identifier of its own making.
    public override init() {
        state = Mutex(Values(identifier: RandomIdentifier.make()))
    }

    required init(_ values: Values) {
        state = Mutex(values)
    }

    var values: Values { state.withLock { $0 } }

    /// Names the group for this app, and for no other.
    public var identifier: String { values.identifier }

    /// The identifier as a number of 128 bits, for lists of user interfaces.
    public var id: UUID { UUID(contactIdentifier: identifier) }

    /// What the person calls it.
    public var name: String { values.name }

    /// A group that nobody changes: this one, or a copy of one that can be.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// A group to change and to save.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { CNMutableGroup(values) }

    /// Whether both are the same group, and say the same.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNGroup else { return false }
        return values == other.values
    }

    /// Of the identifier alone, which stays when the name changes.
    public override var hash: Int { identifier.hashValue }

    /// Always `true`: it is archived with secure coding alone.
    public static var supportsSecureCoding: Bool { true }

    /// Writes identifier and name.
    public func encode(with coder: NSCoder) {
        let values = self.values
        coder.encode(values.identifier as NSString, forKey: CNGroupIdentifierKey)
        coder.encode(values.name as NSString, forKey: CNGroupNameKey)
    }

    /// Reads what `encode(with:)` wrote; `nil` where something is missing.
    public required convenience init?(coder: NSCoder) {
        guard let identifier = coder.decodeObject(of: NSString.self, forKey: CNGroupIdentifierKey) as String?,
            let name = coder.decodeObject(of: NSString.self, forKey: CNGroupNameKey) as String?
        else { return nil }
        self.init(Values(identifier: identifier, name: name))
    }

    /// The identifier. What a group is called is not for a log.
    public override var description: String { "<\(type(of: self)): identifier=\(identifier)>" }
}

// Proof: the only stored property is a constant that is Sendable. It is not checked because the class has a subclass, and that
// has no property of its own.
extension CNGroup: @unchecked Sendable {}

// Proof of the Sendable: it has no stored property of its own.
/// A group to name, and then to save with a ``CNSaveRequest``.
public final class CNMutableGroup: CNGroup, @unchecked Sendable {
    /// What the person calls it.
    public override var name: String {
        get { values.name }
        set { state.withLock { $0.name = newValue } }
    }

    /// A group as this one is now, which nobody changes any more.
    public override func copy(with zone: NSZone? = nil) -> Any { CNGroup(values) }

    /// Takes over the identifier that a save gave.
    func wasSaved(as identifier: String) { state.withLock { $0.identifier = identifier } }
}
