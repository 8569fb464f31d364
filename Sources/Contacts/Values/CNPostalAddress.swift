import BrokerModel
import Foundation
import Synchronization

/// A postal address. Immutable; ``CNMutablePostalAddress`` is the one to fill in.
public class CNPostalAddress: NSObject, NSCopying, NSMutableCopying, NSSecureCoding {
    /// Behind a lock, since the subclass changes it: both may be sent between threads.
    fileprivate let fields: Mutex<PostalAddress>

    /// An empty address.
    public override init() {
        fields = Mutex(PostalAddress())
    }

    required init(_ address: PostalAddress) {
        var address = address
        // These belong to the labeled value around it.
        address.identifier = nil
        address.label = nil
        fields = Mutex(address)
    }

    /// The address as the model has it, without label and identifier.
    var model: PostalAddress { fields.withLock { $0 } }

    /// Street and house number.
    public var street: String { model.street }
    /// A part of the town.
    public var subLocality: String { model.subLocality }
    /// The town.
    public var city: String { model.city }
    /// The county or district.
    public var subAdministrativeArea: String { model.subAdministrativeArea }
    /// The state or province.
    public var state: String { model.state }
    /// The postal code.
    public var postalCode: String { model.postalCode }
    /// The country’s name, as it was written.
    public var country: String { model.country }
    /// The country’s two letters (ISO 3166-1).
    public var isoCountryCode: String { model.isoCountryCode }

    /// The name of a field, such as `CNPostalAddressCityKey`, in the person’s language.
    public class func localizedString(forKey key: String) -> String { Languages.key(key) }

    /// Whether all fields are the same, letter by letter.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNPostalAddress else { return false }
        return model == other.model
    }

    /// Of all fields.
    public override var hash: Int { model.hashValue }

    /// An address that nobody changes: this one, or a copy of one that can be.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// An address to change.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { CNMutablePostalAddress(model) }

    /// Always `true`: it is archived with secure coding alone.
    public static var supportsSecureCoding: Bool { true }

    /// Writes all fields.
    public func encode(with coder: NSCoder) {
        let model = self.model
        for field in PostalAddress.fields { coder.encode(field.get(model) as NSString, forKey: field.name) }
    }

    /// Reads what `encode(with:)` wrote; a field that is not there is empty.
    public required convenience init?(coder: NSCoder) {
        var model = PostalAddress()
        for field in PostalAddress.fields {
            guard let text = coder.decodeObject(of: NSString.self, forKey: field.name) else { continue }
            field.set(&model, text as String)
        }
        self.init(model)
    }

    /// Town and country, which are a contact’s: not for a log.
    public override var description: String { "<\(type(of: self)): city=\(city), country=\(country)>" }
}

// Proof: the only stored property is a constant that is Sendable. It is not checked because the class has a subclass, and that
// has no property of its own.
extension CNPostalAddress: @unchecked Sendable {}

extension CNPostalAddress {
    /// Whether this very object cannot be changed.
    var isImmutable: Bool { !(self is CNMutablePostalAddress) }
}

// Proof of the Sendable: it has no stored property of its own.
/// A postal address to fill in.
public final class CNMutablePostalAddress: CNPostalAddress, @unchecked Sendable {
    /// An address as this one is now, which nobody changes any more.
    public override func copy(with zone: NSZone? = nil) -> Any { CNPostalAddress(model) }

    private subscript(path: WritableKeyPath<PostalAddress, String> & Sendable) -> String {
        get { fields.withLock { $0[keyPath: path] } }
        set { fields.withLock { $0[keyPath: path] = newValue } }
    }

    /// Street and house number.
    public override var street: String {
        get { self[\.street] }
        set { self[\.street] = newValue }
    }
    /// A part of the town.
    public override var subLocality: String {
        get { self[\.subLocality] }
        set { self[\.subLocality] = newValue }
    }
    /// The town.
    public override var city: String {
        get { self[\.city] }
        set { self[\.city] = newValue }
    }
    /// The county or district.
    public override var subAdministrativeArea: String {
        get { self[\.subAdministrativeArea] }
        set { self[\.subAdministrativeArea] = newValue }
    }
    /// The state or province.
    public override var state: String {
        get { self[\.state] }
        set { self[\.state] = newValue }
    }
    /// The postal code.
    public override var postalCode: String {
        get { self[\.postalCode] }
        set { self[\.postalCode] = newValue }
    }
    /// The country’s name.
    public override var country: String {
        get { self[\.country] }
        set { self[\.country] = newValue }
    }
    /// The country’s two letters (ISO 3166-1).
    public override var isoCountryCode: String {
        get { self[\.isoCountryCode] }
        set { self[\.isoCountryCode] = newValue }
    }
}
