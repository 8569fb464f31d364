import BrokerModel
import Foundation
import Synchronization

/// A postal address. It is immutable; use ``CNMutablePostalAddress`` to create one.
public class CNPostalAddress: NSObject, NSCopying, NSMutableCopying, NSSecureCoding {
    /// A lock protects the fields, because the subclass changes them, and objects of both classes may be sent
    /// between threads.
    fileprivate let fields: Mutex<PostalAddress>

    /// Creates an empty address.
    public override init() {
        fields = Mutex(PostalAddress())
    }

    required init(_ address: PostalAddress) {
        var address = address
        // The address's ``CNLabeledValue`` stores these two.
        address.identifier = nil
        address.label = nil
        fields = Mutex(address)
    }

    /// The address as a `PostalAddress` of BrokerModel, without label and identifier.
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
    /// The country’s name, as it was entered.
    public var country: String { model.country }
    /// The country’s two-letter code (ISO 3166-1).
    public var isoCountryCode: String { model.isoCountryCode }

    /// Returns the name of a field, such as `CNPostalAddressCityKey`, in the person’s language.
    public class func localizedString(forKey key: String) -> String { Languages.key(key) }

    /// Whether all fields are exactly equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNPostalAddress else { return false }
        return model == other.model
    }

    /// The hash of all fields.
    public override var hash: Int { model.hashValue }

    /// Returns this address, which is immutable. A mutable address returns an immutable copy.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns a mutable copy.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { CNMutablePostalAddress(model) }

    /// Always `true`: the class supports only secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes all fields.
    public func encode(with coder: NSCoder) {
        let model = self.model
        for field in PostalAddress.fields { coder.encode(field.get(model) as NSString, forKey: field.name) }
    }

    /// Decodes an address that `encode(with:)` encoded. A missing field becomes empty.
    public required convenience init?(coder: NSCoder) {
        var model = PostalAddress()
        for field in PostalAddress.fields {
            guard let text = coder.decodeObject(of: NSString.self, forKey: field.name) else { continue }
            field.set(&model, text as String)
        }
        self.init(model)
    }

    /// The description contains town and country, which are contact data and do not belong in a log.
    public override var description: String { "<\(type(of: self)): city=\(city), country=\(country)>" }
}

// Proof: the only stored property is a constant that is Sendable. The compiler cannot check this, because the
// class has a subclass. The subclass has no stored property.
extension CNPostalAddress: @unchecked Sendable {}

extension CNPostalAddress {
    /// Whether this object is immutable.
    var isImmutable: Bool { !(self is CNMutablePostalAddress) }
}

// Proof that the class is Sendable: it has no stored property of its own.
/// A postal address that can be changed.
public final class CNMutablePostalAddress: CNPostalAddress, @unchecked Sendable {
    /// Returns an immutable copy of the address in its current state.
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
    /// The country’s two-letter code (ISO 3166-1).
    public override var isoCountryCode: String {
        get { self[\.isoCountryCode] }
        set { self[\.isoCountryCode] = newValue }
    }
}
