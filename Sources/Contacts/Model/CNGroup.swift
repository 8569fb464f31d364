import Foundation
import Synchronization

/// A group of contacts. It is immutable.
public class CNGroup: NSObject, NSCopying, NSMutableCopying, NSSecureCoding, Identifiable {
    struct Values: Hashable, Sendable {
        var identifier: String
        var name = ""
        var container: String?
        var parents: [String] = []
        var isNamedByOther = false
    }

    /// A lock protects the values, because the subclass changes them, and objects of both classes may be sent
    /// between threads.
    fileprivate let state: Mutex<Values>

    /// Creates a group with an empty name and a temporary identifier.
    public override init() {
        state = Mutex(Values(identifier: RandomIdentifier.make()))
    }

    required init(_ values: Values) {
        state = Mutex(values)
    }

    var values: Values { state.withLock { $0 } }

    /// Identifies the group for this app only.
    public var identifier: String { values.identifier }

    /// The identifier as a 128-bit number, for lists in user interfaces.
    public var id: UUID { UUID(contactIdentifier: identifier) }

    /// The name that the person sees.
    public var name: String { values.name }

    /// Returns this group, which is immutable. A mutable group returns an immutable copy.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns a mutable copy.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { CNMutableGroup(values) }

    /// Whether both have the same identifier, name, container and parents, and the same kind of app chose the name.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNGroup else { return false }
        return values == other.values
    }

    /// The hash of the identifier only, which does not change with the name.
    public override var hash: Int { identifier.hashValue }

    /// Always `true`: the class supports only secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the identifier and the name, but not the container and the parents.
    public func encode(with coder: NSCoder) {
        let values = self.values
        coder.encode(values.identifier as NSString, forKey: CNGroupIdentifierKey)
        coder.encode(values.name as NSString, forKey: CNGroupNameKey)
    }

    /// Decodes a group that `encode(with:)` encoded; returns `nil` if the identifier or the name is missing.
    public required convenience init?(coder: NSCoder) {
        guard let identifier = coder.decodeObject(of: NSString.self, forKey: CNGroupIdentifierKey) as String?,
            let name = coder.decodeObject(of: NSString.self, forKey: CNGroupNameKey) as String?
        else { return nil }
        self.init(Values(identifier: identifier, name: name))
    }

    /// The identifier. The text omits the name, which does not belong in a log.
    public override var description: String { "<\(type(of: self)): identifier=\(identifier)>" }
}

// Proof: the only stored property is a constant that is Sendable. The compiler cannot check this, because the
// class has a subclass. The subclass has no stored property.
extension CNGroup: @unchecked Sendable {}

// Proof that the class is Sendable: it has no stored property of its own.
/// A group that can be renamed, and saved with a ``CNSaveRequest``.
public final class CNMutableGroup: CNGroup, @unchecked Sendable {
    /// The name that the person sees.
    public override var name: String {
        get { values.name }
        set { state.withLock { $0.name = newValue } }
    }

    /// Returns an immutable copy of the group in its current state.
    public override func copy(with zone: NSZone? = nil) -> Any { CNGroup(values) }

    /// Sets the identifier that a save assigned.
    func wasSaved(as identifier: String) { state.withLock { $0.identifier = identifier } }
}
