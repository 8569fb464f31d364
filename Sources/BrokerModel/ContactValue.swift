import BrokerJSON

/// One value of a property that can have several.
public protocol ContactValue: Hashable, Sendable {
    /// Unique within one contact and key, and never used again there; `nil` until the value was saved.
    var identifier: Int? { get set }
    /// Apple's stored form for predefined labels (`_$!<Home>!$_`); any other text is a label of the person's own.
    var label: String? { get set }

    init()

    /// The value's own fields by their names on the wire, in that order, without identifier and label.
    static var fields: [ContactValueField<Self>] { get }
}

/// One text of a value, by its name on the wire.
public struct ContactValueField<Value: ContactValue>: Sendable {
    public let name: String
    /// Whether the interface demands it: then it is written even where it is empty.
    public let isRequired: Bool
    public let get: @Sendable (Value) -> String
    public let set: @Sendable (inout Value, String) -> Void

    init(
        _ name: String, isRequired: Bool = false, get: @escaping @Sendable (Value) -> String,
        set: @escaping @Sendable (inout Value, String) -> Void
    ) {
        self.name = name
        self.isRequired = isRequired
        self.get = get
        self.set = set
    }
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
        ContactValueField<Self>("value", isRequired: true, get: { $0.value }, set: { $0.value = $1 })
    ]
}

/// A date other than the birthday: `YYYY-MM-DD` or `--MM-DD`.
public struct LabeledDate: ContactValue {
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
        ContactValueField<Self>("value", isRequired: true, get: { $0.value }, set: { $0.value = $1 })
    ]
}

/// Where somebody lives or works.
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
        ContactValueField<Self>("street", get: { $0.street }, set: { $0.street = $1 }),
        ContactValueField<Self>("subLocality", get: { $0.subLocality }, set: { $0.subLocality = $1 }),
        ContactValueField<Self>("city", get: { $0.city }, set: { $0.city = $1 }),
        ContactValueField<Self>(
            "subAdministrativeArea", get: { $0.subAdministrativeArea }, set: { $0.subAdministrativeArea = $1 }),
        ContactValueField<Self>("state", get: { $0.state }, set: { $0.state = $1 }),
        ContactValueField<Self>("postalCode", get: { $0.postalCode }, set: { $0.postalCode = $1 }),
        ContactValueField<Self>("country", get: { $0.country }, set: { $0.country = $1 }),
        ContactValueField<Self>("isoCountryCode", get: { $0.isoCountryCode }, set: { $0.isoCountryCode = $1 }),
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
        ContactValueField<Self>("urlString", get: { $0.urlString }, set: { $0.urlString = $1 }),
        ContactValueField<Self>("username", get: { $0.username }, set: { $0.username = $1 }),
        ContactValueField<Self>("userIdentifier", get: { $0.userIdentifier }, set: { $0.userIdentifier = $1 }),
        ContactValueField<Self>("service", get: { $0.service }, set: { $0.service = $1 }),
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
        ContactValueField<Self>("username", isRequired: true, get: { $0.username }, set: { $0.username = $1 }),
        ContactValueField<Self>("service", get: { $0.service }, set: { $0.service = $1 }),
    ]
}
