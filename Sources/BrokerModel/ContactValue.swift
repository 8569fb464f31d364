import BrokerJSON

/// One value of a multi-valued property.
public protocol ContactValue: Hashable, Sendable {
    /// Unique within one contact and key, and never reused there; `nil` until the broker saves the value.
    var identifier: Int? { get set }
    /// Apple's stored form for predefined labels (`_$!<Home>!$_`); any other text is a custom label.
    var label: String? { get set }

    init()

    /// The value's fields except identifier and label, in wire order.
    static var fields: [ContactValueField<Self>] { get }
}

/// One text field of a value.
public struct ContactValueField<Value: ContactValue>: Sendable {
    public let name: String
    /// Whether the interface requires the field. It is then written even if it is empty.
    public let isRequired: Bool
    private let path: WritableKeyPath<Value, String> & Sendable

    init(_ name: String, _ path: WritableKeyPath<Value, String> & Sendable, isRequired: Bool = false) {
        self.name = name
        self.isRequired = isRequired
        self.path = path
    }

    public func get(_ value: Value) -> String { value[keyPath: path] }

    public func set(_ value: inout Value, _ text: String) { value[keyPath: path] = text }
}

/// A phone number, e-mail address, URL or related name.
public struct LabeledString: ContactValue {
    public var identifier: Int?
    public var label: String?
    public var value = ""

    public init() {}

    public init(identifier: Int? = nil, label: String? = nil, value: String) {
        self.identifier = identifier
        self.label = label
        self.value = value
    }

    public static let fields = [
        ContactValueField<Self>("value", \.value, isRequired: true)
    ]
}

/// A date other than the birthday: `YYYY-MM-DD` or `--MM-DD`.
public typealias LabeledDate = LabeledString

/// A postal address.
public struct PostalAddress: ContactValue {
    public var identifier: Int?
    public var label: String?
    public var street = ""
    public var subLocality = ""
    public var city = ""
    public var subAdministrativeArea = ""
    public var state = ""
    public var postalCode = ""
    public var country = ""
    public var isoCountryCode = ""

    public init() {}

    public static let fields = [
        ContactValueField<Self>("street", \.street),
        ContactValueField<Self>("subLocality", \.subLocality),
        ContactValueField<Self>("city", \.city),
        ContactValueField<Self>("subAdministrativeArea", \.subAdministrativeArea),
        ContactValueField<Self>("state", \.state),
        ContactValueField<Self>("postalCode", \.postalCode),
        ContactValueField<Self>("country", \.country),
        ContactValueField<Self>("isoCountryCode", \.isoCountryCode),
    ]
}

/// An account at a social network.
public struct SocialProfile: ContactValue {
    public var identifier: Int?
    public var label: String?
    public var urlString = ""
    public var username = ""
    public var userIdentifier = ""
    public var service = ""

    public init() {}

    public static let fields = [
        ContactValueField<Self>("urlString", \.urlString),
        ContactValueField<Self>("username", \.username),
        ContactValueField<Self>("userIdentifier", \.userIdentifier),
        ContactValueField<Self>("service", \.service),
    ]
}

/// An account at a messenger.
public struct InstantMessageAddress: ContactValue {
    public var identifier: Int?
    public var label: String?
    public var username = ""
    public var service = ""

    public init() {}

    public static let fields = [
        ContactValueField<Self>("username", \.username, isRequired: true),
        ContactValueField<Self>("service", \.service),
    ]
}
