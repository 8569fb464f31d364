import BrokerJSON
import BrokerModel
import Foundation

/// A contact as it was when it was fetched: it never changes, outlives its store, and may be sent between threads.
///
/// It has the properties that were asked for. To look at another one stops the program, with a message that names its key;
/// ``isKeyAvailable(_:)`` tells before.
public class CNContact: NSObject, NSCopying, NSMutableCopying, NSSecureCoding, Identifiable {
    /// The keys that were asked for.
    let availableKeys: ContactKeySet
    /// What the broker sent: a JSON object, which has been parsed once. The bytes are those of a whole batch, shared by all of
    /// its contacts: to fetch thousands is to note where each begins.
    let text: ArraySlice<UInt8>
    /// What it says, once somebody has looked. Two threads may both decode it; one of them is believed.
    private let decoded = SetOnce<ContactContent>()

    /// An empty contact.
    public override init() {
        availableKeys = .all
        text = []
        _ = decoded.set(ContactContent(ContactValues(identifier: RandomIdentifier.make())))
    }

    /// A contact of these values.
    required init(_ values: ContactValues, keys: ContactKeySet) {
        availableKeys = keys
        text = []
        _ = decoded.set(ContactContent(values))
    }

    /// A contact as the broker sent it.
    init(text: ArraySlice<UInt8>, keys: ContactKeySet) {
        availableKeys = keys
        self.text = text
    }

    /// A contact as the broker sent it, to change or not.
    static func received(_ json: JSONValue, _ keys: ContactKeySet, _ isMutable: Bool) -> CNContact {
        let contact = CNContact(text: json.text, keys: keys)
        return isMutable ? CNMutableContact(contact.values, keys: keys) : contact
    }

    /// What a class below has in a place of its own.
    init(keys: ContactKeySet) {
        availableKeys = keys
        text = []
    }

    /// All that is there, whatever was fetched.
    var content: ContactContent {
        if let decoded = decoded.value { return decoded }
        let values = (try? JSONDocument(parsing: Array(text))).map { ContactValues(wire: $0.root) }
        return decoded.set(ContactContent(values ?? ContactValues(identifier: "")))
    }

    final var values: ContactValues { content.values }

    /// What is there, if the key was fetched.
    func fetched(_ key: ContactKey) -> ContactContent {
        require(key)
        return content
    }

    final func require(_ key: ContactKey) {
        guard !availableKeys.contains(key) else { return }
        // The program asked for what it had not asked for: Apple's systems raise an exception of this name, and Swift has
        // none that could be caught. The message names the key, in release builds too.
        fatalError(
            "\(CNContactPropertyNotFetchedExceptionName): the property \(key.rawValue) was not requested when the contact was "
                + "fetched; add its key to keysToFetch")
    }

    /// The keys that were fetched, and those that were written since.
    var keysThatCanBeRead: ContactKeySet { availableKeys }

    /// Names the contact for this app, and for no other, for as long as the address book has it.
    public var identifier: String { content.values.identifier }

    /// The identifier as a number of 128 bits, for lists of user interfaces.
    public var id: UUID { UUID(contactIdentifier: identifier) }

    // MARK: Copying

    /// A contact that nobody changes: this one, or a copy of one that can be.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// A contact to change and to save.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { CNMutableContact(values, keys: keysThatCanBeRead) }

    /// Always `true`: it is archived with secure coding alone.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the properties that are there, in the broker’s own form.
    public func encode(with coder: NSCoder) {
        var writer = JSONWriter(reservingCapacity: 1_024)
        values.write(keysThatCanBeRead, to: &writer)
        coder.encode(Data(writer.bytes) as NSData, forKey: "contact")
        coder.encode(NSNumber(value: keysThatCanBeRead.rawValue), forKey: "keys")
    }

    /// Reads what `encode(with:)` wrote; `nil` where it is anything else.
    public required convenience init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: "contact") as Data?,
            let keys = coder.decodeObject(of: NSNumber.self, forKey: "keys")?.uint64Value,
            ContactKeySet(rawValue: keys).isSubset(of: .all),
            let document = try? JSONDocument(parsing: Array(data)), document.root.kind == .object
        else { return nil }
        self.init(ContactValues(wire: document.root), keys: ContactKeySet(rawValue: keys))
    }

    // MARK: Comparing

    /// Whether both are the same contact, with the same keys, and say the same.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNContact else { return false }
        if self === other { return true }
        return keysThatCanBeRead == other.keysThatCanBeRead && values == other.values
    }

    /// Of the identifier alone, which stays when what a contact says changes.
    public override var hash: Int { identifier.hashValue }

    /// The identifier and the keys that are there. What they say is not for a log.
    public override var description: String {
        let keys = keysThatCanBeRead.keys.map(\.rawValue).joined(separator: ",")
        return "<\(type(of: self)): identifier=\(identifier), keys=\(keysThatCanBeRead == .all ? "all" : keys)>"
    }

    // MARK: Properties

    /// Whether this is a person or an organization.
    public var contactType: CNContactType { CNContactType(fetched(.contactType).values.card.contactType) }
    /// What stands before the name: Dr.
    public var namePrefix: String { fetched(.namePrefix).values.card.namePrefix }
    /// The given name.
    public var givenName: String { fetched(.givenName).values.card.givenName }
    /// The middle name.
    public var middleName: String { fetched(.middleName).values.card.middleName }
    /// The family name.
    public var familyName: String { fetched(.familyName).values.card.familyName }
    /// The family name before, as by marriage.
    public var previousFamilyName: String { fetched(.previousFamilyName).values.card.previousFamilyName }
    /// What stands after the name: Jr.
    public var nameSuffix: String { fetched(.nameSuffix).values.card.nameSuffix }
    /// The nickname.
    public var nickname: String { fetched(.nickname).values.card.nickname }
    /// How the given name is said.
    public var phoneticGivenName: String { fetched(.phoneticGivenName).values.card.phoneticGivenName }
    /// How the middle name is said.
    public var phoneticMiddleName: String { fetched(.phoneticMiddleName).values.card.phoneticMiddleName }
    /// How the family name is said.
    public var phoneticFamilyName: String { fetched(.phoneticFamilyName).values.card.phoneticFamilyName }
    /// The organization.
    public var organizationName: String { fetched(.organizationName).values.card.organizationName }
    /// The department.
    public var departmentName: String { fetched(.departmentName).values.card.departmentName }
    /// The job title.
    public var jobTitle: String { fetched(.jobTitle).values.card.jobTitle }
    /// How the organization’s name is said.
    public var phoneticOrganizationName: String {
        fetched(.phoneticOrganizationName).values.card.phoneticOrganizationName
    }
    /// The note. Reading and writing it must be granted by name.
    public var note: String { fetched(.note).values.card.note }
    /// The birthday in the Gregorian calendar; one without a year has none.
    public var birthday: DateComponents? { fetched(.birthday).values.birthday }
    /// The birthday in another calendar.
    public var nonGregorianBirthday: DateComponents? { fetched(.nonGregorianBirthday).values.nonGregorianBirthday }
    /// Phone numbers.
    public var phoneNumbers: [CNLabeledValue<CNPhoneNumber>] { fetched(.phoneNumbers).values.phoneNumbers }
    /// E-mail addresses.
    public var emailAddresses: [CNLabeledValue<NSString>] { fetched(.emailAddresses).values.emailAddresses }
    /// Postal addresses.
    public var postalAddresses: [CNLabeledValue<CNPostalAddress>] { fetched(.postalAddresses).values.postalAddresses }
    /// Dates other than the birthday; one without a year has none.
    public var dates: [CNLabeledValue<NSDateComponents>] { fetched(.dates).values.dates }
    /// Web addresses.
    public var urlAddresses: [CNLabeledValue<NSString>] { fetched(.urlAddresses).values.urlAddresses }
    /// Related people.
    public var contactRelations: [CNLabeledValue<CNContactRelation>] {
        fetched(.contactRelations).values.contactRelations
    }
    /// Accounts at social networks.
    public var socialProfiles: [CNLabeledValue<CNSocialProfile>] { fetched(.socialProfiles).values.socialProfiles }
    /// Accounts at messengers.
    public var instantMessageAddresses: [CNLabeledValue<CNInstantMessageAddress>] {
        fetched(.instantMessageAddresses).values.instantMessageAddresses
    }
    /// The picture, as it was given.
    public var imageData: Data? { Data(image: fetched(.imageData).values.card.imageData) }
    /// The small picture that the broker made of it.
    public var thumbnailImageData: Data? { Data(image: fetched(.thumbnailImageData).values.card.thumbnailImageData) }
    /// Whether there is a picture.
    public var imageDataAvailable: Bool { fetched(.imageDataAvailable).values.card.imageDataAvailable }
}

// Proof: every stored property is a constant that is Sendable: keys, bytes, and decoded values that are set once. It is not checked
// because the class has a subclass, and what that adds is behind a lock too.
extension CNContact: @unchecked Sendable {}

/// What a contact says, behind one reference: reading one property copies no other.
final class ContactContent: Sendable {
    let values: ContactValues

    init(_ values: ContactValues) {
        self.values = values
    }
}

extension UUID {
    /// Thirty-two hexadecimal digits are a number already; any other identifier is spread over one.
    init(contactIdentifier text: String) {
        let digits = text.unicodeScalars.filter { $0 != "-" }
        if digits.count == 32 {
            var parts = String(String.UnicodeScalarView(digits))
            for place in [20, 16, 12, 8] { parts.insert("-", at: parts.index(parts.startIndex, offsetBy: place)) }
            if let uuid = UUID(uuidString: parts) {
                self = uuid
                return
            }
        }
        // FNV-1a, twice over with two beginnings: the same in every run, unlike Swift's own hashes.
        var high: UInt64 = 0xCBF2_9CE4_8422_2325
        var low: UInt64 = 0x8422_2325_CBF2_9CE4
        for byte in text.utf8 {
            high = (high ^ UInt64(byte)) &* 0x100_0000_01B3
            low = (low ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        self.init(high, low)
    }
}

extension Data {
    /// The bytes of an image in base64; `nil` where there is none.
    init?(image text: String) {
        guard !text.isEmpty else { return nil }
        self.init(base64Encoded: text)
    }
}
