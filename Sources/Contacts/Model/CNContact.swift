import BrokerJSON
import BrokerModel
import Foundation

/// A fetched contact. It is immutable, outlives its store, and may be sent between threads.
///
/// It has only the requested properties. Reading any other property traps, with a message that contains the
/// property's key. To avoid this, check ``isKeyAvailable(_:)`` first.
///
/// A subclass, such as one for tests, can override the properties. The library itself saves, formats and compares the
/// stored values, not those of an override.
open class CNContact: NSObject, NSCopying, NSMutableCopying, NSSecureCoding, Identifiable {
    /// The keys that were requested.
    let availableKeys: ContactKeySet
    /// The JSON object that the broker sent; empty if the contact did not come from a reply. It is valid,
    /// because the whole reply was parsed. All contacts of a reply share one buffer, so a fetch of thousands
    /// of contacts copies no text.
    let text: ArraySlice<UInt8>
    /// The decoded text, after the first read. If two threads decode it, the first result is kept.
    private let decoded = SetOnce<ContactContent>()

    /// Creates an empty contact.
    public override init() {
        availableKeys = .all
        text = []
        _ = decoded.set(ContactContent(ContactValues(identifier: RandomIdentifier.make())))
    }

    init(_ values: ContactValues, keys: ContactKeySet) {
        availableKeys = keys
        text = []
        _ = decoded.set(ContactContent(values))
    }

    /// Creates a contact from the text that the broker sent.
    init(text: ArraySlice<UInt8>, keys: ContactKeySet) {
        availableKeys = keys
        self.text = text
    }

    /// Creates a contact, or a mutable contact, from the broker's reply.
    static func received(_ json: JSONValue, _ keys: ContactKeySet, _ isMutable: Bool) -> CNContact {
        let contact = CNContact(text: json.text, keys: keys)
        return isMutable ? CNMutableContact(contact.values, keys: keys) : contact
    }

    /// Initializes the base class of ``CNMutableContact``, which stores the content itself.
    init(keys: ContactKeySet) {
        availableKeys = keys
        text = []
    }

    /// The whole content, without a check that a key was fetched.
    var content: ContactContent {
        if let decoded = decoded.value { return decoded }
        let values = (try? JSONDocument(parsing: Array(text))).map { ContactValues(wire: $0.root) }
        return decoded.set(ContactContent(values ?? ContactValues(identifier: "")))
    }

    final var values: ContactValues { content.values }

    /// The content, after a check that the key was fetched.
    func fetched(_ key: ContactKey) -> ContactContent {
        require(key)
        return content
    }

    final func require(_ key: ContactKey) {
        guard !availableKeys.contains(key) else { return }
        // The program reads a property that it did not request. Apple's systems raise an exception with this
        // name. Swift has no such exceptions, so the program traps. The message names the key, in release
        // builds too.
        fatalError(
            "\(CNContactPropertyNotFetchedExceptionName): the property \(key.rawValue) was not requested when the contact was "
                + "fetched; add its key to keysToFetch")
    }

    /// The keys that were fetched, and those that were set since.
    var keysThatCanBeRead: ContactKeySet { availableKeys }

    /// Identifies the contact for this app only, for as long as the contact exists.
    open var identifier: String { content.values.identifier }

    /// Names the state in which this app saw the contact, for ``CNSaveRequest/update(_:unchangedSince:)``; `nil` unless it was fetched
    /// as an immutable contact with ``CNContactFetchRequest/includesRevisions``. It says nothing else, and no other app has the same. An
    /// extension of this library.
    open var revision: String? {
        guard !text.isEmpty, let json = try? JSONDocument(parsing: Array(text)) else { return nil }
        return json.root["revision"]?.string
    }

    /// The identifier as a 128-bit number, for lists in user interfaces.
    open var id: UUID { UUID(contactIdentifier: identifier) }

    /// Whether the property with this key can be read without a trap.
    open func isKeyAvailable(_ key: String) -> Bool {
        if key == CNContactIdentifierKey { return true }
        return ContactKey(rawValue: key).map(keysThatCanBeRead.contains) ?? false
    }

    /// Whether all properties that these descriptors need can be read.
    open func areKeysAvailable(_ descriptors: [any CNKeyDescriptor]) -> Bool {
        guard let keys = try? ContactKeySet(descriptors) else { return false }
        return keys.isSubset(of: keysThatCanBeRead)
    }

    /// Whether this contact has that identifier, or is a unified contact that contains the card with that
    /// identifier.
    ///
    /// This asks the broker, because a contact does not contain the identifiers of its linked contacts. It
    /// returns `false` if the call fails.
    open func isUnifiedWithContact(withIdentifier identifier: String) -> Bool {
        self.identifier == identifier || isLinked(toContactWithIdentifier: identifier)
    }

    // MARK: Copying

    /// Returns this contact, which is immutable. A mutable contact returns an immutable copy.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns a mutable copy.
    open func mutableCopy(with zone: NSZone? = nil) -> Any { CNMutableContact(values, keys: keysThatCanBeRead) }

    /// Always `true`: the class supports only secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the readable properties as JSON, in the form of the Varlink type `Contact`.
    open func encode(with coder: NSCoder) {
        var writer = JSONWriter(reservingCapacity: 1_024)
        values.write(keysThatCanBeRead, to: &writer)
        coder.encode(Data(writer.bytes) as NSData, forKey: "contact")
        coder.encode(NSNumber(value: keysThatCanBeRead.rawValue), forKey: "keys")
    }

    /// Decodes a contact that `encode(with:)` encoded; returns `nil` if the data is not valid.
    public required init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: "contact") as Data?,
            let keys = coder.decodeObject(of: NSNumber.self, forKey: "keys")?.uint64Value,
            ContactKeySet(rawValue: keys).isSubset(of: .all),
            let document = try? JSONDocument(parsing: Array(data)), document.root.kind == .object
        else { return nil }
        availableKeys = ContactKeySet(rawValue: keys)
        text = []
        _ = decoded.set(ContactContent(ContactValues(wire: document.root)))
    }

    // MARK: Comparing

    /// Whether both contacts have the same identifier, readable keys and values.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNContact else { return false }
        if self === other { return true }
        return keysThatCanBeRead == other.keysThatCanBeRead && values == other.values
    }

    /// The hash of the identifier only, which does not change with the values.
    open override var hash: Int { identifier.hashValue }

    /// The identifier and the readable keys. The text contains no values, because values do not belong in a
    /// log.
    open override var description: String {
        let keys = keysThatCanBeRead.keys.map(\.rawValue).joined(separator: ",")
        return "<\(type(of: self)): identifier=\(identifier), keys=\(keysThatCanBeRead == .all ? "all" : keys)>"
    }

    // MARK: Properties

    /// Whether this is a person or an organization.
    open var contactType: CNContactType { CNContactType(fetched(.contactType).values.card.contactType) }
    /// The name prefix, for example Dr.
    open var namePrefix: String { fetched(.namePrefix).values.card.namePrefix }
    /// The given name.
    open var givenName: String { fetched(.givenName).values.card.givenName }
    /// The middle name.
    open var middleName: String { fetched(.middleName).values.card.middleName }
    /// The family name.
    open var familyName: String { fetched(.familyName).values.card.familyName }
    /// The previous family name, for example before a marriage.
    open var previousFamilyName: String { fetched(.previousFamilyName).values.card.previousFamilyName }
    /// The name suffix, for example Jr.
    open var nameSuffix: String { fetched(.nameSuffix).values.card.nameSuffix }
    /// The nickname.
    open var nickname: String { fetched(.nickname).values.card.nickname }
    /// The pronunciation of the given name.
    open var phoneticGivenName: String { fetched(.phoneticGivenName).values.card.phoneticGivenName }
    /// The pronunciation of the middle name.
    open var phoneticMiddleName: String { fetched(.phoneticMiddleName).values.card.phoneticMiddleName }
    /// The pronunciation of the family name.
    open var phoneticFamilyName: String { fetched(.phoneticFamilyName).values.card.phoneticFamilyName }
    /// The organization.
    open var organizationName: String { fetched(.organizationName).values.card.organizationName }
    /// The department.
    open var departmentName: String { fetched(.departmentName).values.card.departmentName }
    /// The job title.
    open var jobTitle: String { fetched(.jobTitle).values.card.jobTitle }
    /// The pronunciation of the organization’s name.
    open var phoneticOrganizationName: String {
        fetched(.phoneticOrganizationName).values.card.phoneticOrganizationName
    }
    /// The note. An app can read or write it only if its key was granted by name.
    open var note: String { fetched(.note).values.card.note }
    /// The birthday in the Gregorian calendar. The year is `nil` if it is not known.
    open var birthday: DateComponents? { fetched(.birthday).values.birthday }
    /// The birthday in another calendar.
    open var nonGregorianBirthday: DateComponents? { fetched(.nonGregorianBirthday).values.nonGregorianBirthday }
    /// Phone numbers.
    open var phoneNumbers: [CNLabeledValue<CNPhoneNumber>] { fetched(.phoneNumbers).values.phoneNumbers }
    /// E-mail addresses.
    open var emailAddresses: [CNLabeledValue<NSString>] { fetched(.emailAddresses).values.emailAddresses }
    /// Postal addresses.
    open var postalAddresses: [CNLabeledValue<CNPostalAddress>] { fetched(.postalAddresses).values.postalAddresses }
    /// Dates other than the birthday. The year is `nil` if it is not known.
    open var dates: [CNLabeledValue<NSDateComponents>] { fetched(.dates).values.dates }
    /// Web addresses.
    open var urlAddresses: [CNLabeledValue<NSString>] { fetched(.urlAddresses).values.urlAddresses }
    /// Related people.
    open var contactRelations: [CNLabeledValue<CNContactRelation>] {
        fetched(.contactRelations).values.contactRelations
    }
    /// Social network accounts.
    open var socialProfiles: [CNLabeledValue<CNSocialProfile>] { fetched(.socialProfiles).values.socialProfiles }
    /// Messenger accounts.
    open var instantMessageAddresses: [CNLabeledValue<CNInstantMessageAddress>] {
        fetched(.instantMessageAddresses).values.instantMessageAddresses
    }
    /// The photo, as it was saved.
    open var imageData: Data? { Data(image: fetched(.imageData).values.card.imageData) }
    /// The thumbnail that the broker made from the photo.
    open var thumbnailImageData: Data? { Data(image: fetched(.thumbnailImageData).values.card.thumbnailImageData) }
    /// Whether the contact has a photo.
    open var imageDataAvailable: Bool { fetched(.imageDataAvailable).values.card.imageDataAvailable }
}

// Proof: every stored property is a constant that is Sendable: keys, bytes, and a decoded value that is set
// once. The compiler cannot check this, because the class is open. CNMutableContact keeps its state behind a lock. An
// app's subclass must state for its own properties that it is Sendable: the compiler warns if it does not.
extension CNContact: @unchecked Sendable {}

/// The values of a contact behind one reference, so that reading one property does not copy the others.
final class ContactContent: Sendable {
    let values: ContactValues

    init(_ values: ContactValues) {
        self.values = values
    }
}

extension UUID {
    /// Creates a UUID from an identifier. If the identifier consists of 32 hexadecimal digits, with or
    /// without hyphens, they form the UUID; otherwise the UUID is a hash of the identifier.
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
        // This hashes twice with FNV-1a, each time from a different start value. Unlike Swift's own hashes,
        // the result is the same in every run.
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
    /// Decodes an image from base64; returns `nil` if the text is empty or not valid.
    init?(image text: String) {
        guard !text.isEmpty else { return nil }
        self.init(base64Encoded: text)
    }
}
