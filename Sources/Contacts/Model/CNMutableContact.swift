import BrokerModel
import Foundation
import Synchronization

// Proof that the class is Sendable: its only stored property is a constant that is Sendable. A subclass must state the
// same for its own properties.
/// A contact that can be changed, and saved with a ``CNSaveRequest``.
///
/// For a fetched contact, only the fetched properties can be saved. A lock protects each read and each write
/// of a property. If several threads set one property, the last write wins.
open class CNMutableContact: CNContact, @unchecked Sendable {
    private let state: Mutex<State>

    private struct State {
        var content: MutableContent
        /// The keys that were set since the contact was created, fetched or saved.
        var changed = ContactKeySet()
        /// The keys that were set without having been fetched.
        var unfetched = ContactKeySet()
    }

    /// Creates an empty contact. It has a temporary identifier until it is saved.
    public override init() {
        state = Mutex(State(content: .objects(ContactContent(ContactValues(identifier: RandomIdentifier.make())))))
        super.init(keys: .all)
    }

    override init(_ values: ContactValues, keys: ContactKeySet) {
        state = Mutex(State(content: .objects(ContactContent(values))))
        super.init(keys: keys)
    }

    /// Decodes a contact that `encode(with:)` encoded; returns `nil` if the data is not valid. No key counts
    /// as changed.
    public required init?(coder: NSCoder) {
        guard let contact = CNContact(coder: coder) else { return nil }
        state = Mutex(State(content: .objects(ContactContent(contact.values))))
        super.init(keys: contact.availableKeys)
    }

    /// Creates a contact for an update that writes only these keys.
    convenience init(_ values: ContactValues, writing keys: ContactKeySet) {
        self.init(values, keys: .all)
        state.withLock { $0.changed = keys }
    }

    /// Creates a contact with the values of a card, for an update that writes only these keys.
    init(_ card: ContactCard, writing keys: ContactKeySet) {
        state = Mutex(State(content: .card(card, seen: nil), changed: keys))
        super.init(keys: .all)
    }

    override var content: ContactContent { state.withLock { $0.content.objects() } }

    /// Identifies the contact for this app. A new contact has a temporary identifier until it is saved.
    open override var identifier: String { state.withLock { $0.content.identifier } }

    override func fetched(_ key: ContactKey) -> ContactContent {
        state.withLock { state in
            if !state.unfetched.contains(key) { require(key) }
            return state.content.objects()
        }
    }

    override var keysThatCanBeRead: ContactKeySet { availableKeys.union(state.withLock { $0.unfetched }) }

    private func set(_ key: ContactKey, _ change: (inout ContactValues) -> Void) {
        let wasFetched = availableKeys.contains(key)
        state.withLock { state in
            state.content.change(change)
            state.changed.formUnion(ContactKeySet(key))
            if !wasFetched { state.unfetched.formUnion(ContactKeySet(key)) }
        }
    }

    /// The content and the keys that a save needs, read together under the lock.
    var changes: (content: MutableContent, changed: ContactKeySet, unfetched: ContactKeySet) {
        state.withLock { ($0.content, $0.changed, $0.unfetched) }
    }

    /// Marks the contact as saved.
    ///
    /// - Parameter identifier: the identifier that the save assigned; empty if the contact keeps its
    ///   identifier.
    func wasSaved(as identifier: String) {
        state.withLock { state in
            if !identifier.isEmpty { state.content.rename(to: identifier) }
            state.changed = []
        }
    }

    /// Applies values that were fetched after a save, and marks the contact as saved.
    func wasSaved(_ change: (inout ContactValues) -> Void) {
        state.withLock { state in
            state.content.change(change)
            state.changed = []
        }
    }

    /// Returns an immutable copy of the contact in its current state.
    open override func copy(with zone: NSZone? = nil) -> Any { CNContact(values, keys: keysThatCanBeRead) }

    // MARK: Properties

    /// Whether this is a person or an organization.
    open override var contactType: CNContactType {
        get { super.contactType }
        set { set(.contactType) { $0.card.contactType = newValue.model } }
    }
    /// The name prefix, for example Dr.
    open override var namePrefix: String {
        get { fetched(.namePrefix).values.card.namePrefix }
        set { set(.namePrefix) { $0.card.namePrefix = newValue } }
    }
    /// The given name.
    open override var givenName: String {
        get { fetched(.givenName).values.card.givenName }
        set { set(.givenName) { $0.card.givenName = newValue } }
    }
    /// The middle name.
    open override var middleName: String {
        get { fetched(.middleName).values.card.middleName }
        set { set(.middleName) { $0.card.middleName = newValue } }
    }
    /// The family name.
    open override var familyName: String {
        get { fetched(.familyName).values.card.familyName }
        set { set(.familyName) { $0.card.familyName = newValue } }
    }
    /// The previous family name, for example before a marriage.
    open override var previousFamilyName: String {
        get { fetched(.previousFamilyName).values.card.previousFamilyName }
        set { set(.previousFamilyName) { $0.card.previousFamilyName = newValue } }
    }
    /// The name suffix, for example Jr.
    open override var nameSuffix: String {
        get { fetched(.nameSuffix).values.card.nameSuffix }
        set { set(.nameSuffix) { $0.card.nameSuffix = newValue } }
    }
    /// The nickname.
    open override var nickname: String {
        get { fetched(.nickname).values.card.nickname }
        set { set(.nickname) { $0.card.nickname = newValue } }
    }
    /// The pronunciation of the given name.
    open override var phoneticGivenName: String {
        get { fetched(.phoneticGivenName).values.card.phoneticGivenName }
        set { set(.phoneticGivenName) { $0.card.phoneticGivenName = newValue } }
    }
    /// The pronunciation of the middle name.
    open override var phoneticMiddleName: String {
        get { fetched(.phoneticMiddleName).values.card.phoneticMiddleName }
        set { set(.phoneticMiddleName) { $0.card.phoneticMiddleName = newValue } }
    }
    /// The pronunciation of the family name.
    open override var phoneticFamilyName: String {
        get { fetched(.phoneticFamilyName).values.card.phoneticFamilyName }
        set { set(.phoneticFamilyName) { $0.card.phoneticFamilyName = newValue } }
    }
    /// The organization.
    open override var organizationName: String {
        get { fetched(.organizationName).values.card.organizationName }
        set { set(.organizationName) { $0.card.organizationName = newValue } }
    }
    /// The department.
    open override var departmentName: String {
        get { fetched(.departmentName).values.card.departmentName }
        set { set(.departmentName) { $0.card.departmentName = newValue } }
    }
    /// The job title.
    open override var jobTitle: String {
        get { fetched(.jobTitle).values.card.jobTitle }
        set { set(.jobTitle) { $0.card.jobTitle = newValue } }
    }
    /// The pronunciation of the organization’s name.
    open override var phoneticOrganizationName: String {
        get { fetched(.phoneticOrganizationName).values.card.phoneticOrganizationName }
        set { set(.phoneticOrganizationName) { $0.card.phoneticOrganizationName = newValue } }
    }
    /// The note. An app can read or write it only if its key was granted by name.
    open override var note: String {
        get { fetched(.note).values.card.note }
        set { set(.note) { $0.card.note = newValue } }
    }
    /// The birthday in the Gregorian calendar. Leave out the year if it is not known.
    open override var birthday: DateComponents? {
        get { fetched(.birthday).values.birthday }
        set { set(.birthday) { $0.birthday = newValue } }
    }
    /// The birthday in another calendar.
    open override var nonGregorianBirthday: DateComponents? {
        get { fetched(.nonGregorianBirthday).values.nonGregorianBirthday }
        set { set(.nonGregorianBirthday) { $0.nonGregorianBirthday = newValue } }
    }
    /// Phone numbers.
    open override var phoneNumbers: [CNLabeledValue<CNPhoneNumber>] {
        get { fetched(.phoneNumbers).values.phoneNumbers }
        set { set(.phoneNumbers) { $0.phoneNumbers = newValue } }
    }
    /// E-mail addresses.
    open override var emailAddresses: [CNLabeledValue<NSString>] {
        get { fetched(.emailAddresses).values.emailAddresses }
        set { set(.emailAddresses) { $0.emailAddresses = newValue } }
    }
    /// Postal addresses.
    open override var postalAddresses: [CNLabeledValue<CNPostalAddress>] {
        get { fetched(.postalAddresses).values.postalAddresses }
        set { set(.postalAddresses) { $0.postalAddresses = newValue } }
    }
    /// Dates other than the birthday. Leave out the year if it is not known.
    open override var dates: [CNLabeledValue<NSDateComponents>] {
        get { fetched(.dates).values.dates }
        set { set(.dates) { $0.dates = newValue } }
    }
    /// Web addresses.
    open override var urlAddresses: [CNLabeledValue<NSString>] {
        get { fetched(.urlAddresses).values.urlAddresses }
        set { set(.urlAddresses) { $0.urlAddresses = newValue } }
    }
    /// Related people.
    open override var contactRelations: [CNLabeledValue<CNContactRelation>] {
        get { fetched(.contactRelations).values.contactRelations }
        set { set(.contactRelations) { $0.contactRelations = newValue } }
    }
    /// Social network accounts.
    open override var socialProfiles: [CNLabeledValue<CNSocialProfile>] {
        get { fetched(.socialProfiles).values.socialProfiles }
        set { set(.socialProfiles) { $0.socialProfiles = newValue } }
    }
    /// Messenger accounts.
    open override var instantMessageAddresses: [CNLabeledValue<CNInstantMessageAddress>] {
        get { fetched(.instantMessageAddresses).values.instantMessageAddresses }
        set { set(.instantMessageAddresses) { $0.instantMessageAddresses = newValue } }
    }
    /// The photo: JPEG, PNG or another format that the person’s programs can show; at most 8 MiB.
    open override var imageData: Data? {
        get { super.imageData }
        set { set(.imageData) { $0.card.imageData = newValue?.base64EncodedString() ?? "" } }
    }
}
