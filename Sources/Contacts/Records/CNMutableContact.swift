import BrokerModel
import Foundation
import Synchronization

// Proof of the Sendable: its only stored property is a constant that is Sendable.
/// A contact to fill in or to change, and then to save with a ``CNSaveRequest``.
///
/// Of one that was fetched only the properties that were fetched can be saved. Each property is read and written under a
/// lock; who changes one from several threads loses no more than their own last word.
public final class CNMutableContact: CNContact, @unchecked Sendable {
    private let state: Mutex<State>

    private struct State {
        var content: MutableContent
        /// The keys that were written since this was made or fetched.
        var changed = ContactKeySet()
        /// Those of them that had not been fetched.
        var unfetched = ContactKeySet()
    }

    /// An empty contact with an identifier of its own, until it is saved and has the broker’s.
    public override init() {
        state = Mutex(State(content: .objects(ContactContent(ContactValues(identifier: RandomIdentifier.make())))))
        super.init(keys: .all)
    }

    required init(_ values: ContactValues, keys: ContactKeySet) {
        state = Mutex(State(content: .objects(ContactContent(values))))
        super.init(keys: keys)
    }

    /// Reads what a contact’s `encode(with:)` wrote; `nil` where it is anything else. Nothing counts as changed.
    public required convenience init?(coder: NSCoder) {
        guard let contact = CNContact(coder: coder) else { return nil }
        self.init(contact.values, keys: contact.availableKeys)
    }

    /// A contact of which a save writes just these keys.
    convenience init(_ values: ContactValues, writing keys: ContactKeySet) {
        self.init(values, keys: .all)
        state.withLock { $0.changed = keys }
    }

    /// A contact that says what a card says, of which an update writes just these keys.
    init(_ card: ContactCard, writing keys: ContactKeySet) {
        state = Mutex(State(content: .card(card, seen: nil), changed: keys))
        super.init(keys: .all)
    }

    override var content: ContactContent { state.withLock { $0.content.objects() } }

    /// Names the contact for this app; of one that was made here an identifier of its own, until it is saved.
    public override var identifier: String { state.withLock { $0.content.identifier } }

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

    /// What a save has to write, taken in one moment.
    var changes: (content: MutableContent, changed: ContactKeySet, unfetched: ContactKeySet) {
        state.withLock { ($0.content, $0.changed, $0.unfetched) }
    }

    /// From here on this is the saved contact.
    ///
    /// - Parameter identifier: the one that it was given; empty where it has one.
    func wasSaved(as identifier: String) {
        state.withLock { state in
            if !identifier.isEmpty { state.content.rename(to: identifier) }
            state.changed = []
        }
    }

    /// Takes over what a save gave: from here on this is the saved contact.
    func wasSaved(_ change: (inout ContactValues) -> Void) {
        state.withLock { state in
            state.content.change(change)
            state.changed = []
        }
    }

    /// A contact as this one is now, which nobody changes any more.
    public override func copy(with zone: NSZone? = nil) -> Any { CNContact(values, keys: keysThatCanBeRead) }

    // MARK: Properties

    /// Whether this is a person or an organization.
    public override var contactType: CNContactType {
        get { super.contactType }
        set { set(.contactType) { $0.card.contactType = newValue.model } }
    }
    /// What stands before the name: Dr.
    public override var namePrefix: String {
        get { fetched(.namePrefix).values.card.namePrefix }
        set { set(.namePrefix) { $0.card.namePrefix = newValue } }
    }
    /// The given name.
    public override var givenName: String {
        get { fetched(.givenName).values.card.givenName }
        set { set(.givenName) { $0.card.givenName = newValue } }
    }
    /// The middle name.
    public override var middleName: String {
        get { fetched(.middleName).values.card.middleName }
        set { set(.middleName) { $0.card.middleName = newValue } }
    }
    /// The family name.
    public override var familyName: String {
        get { fetched(.familyName).values.card.familyName }
        set { set(.familyName) { $0.card.familyName = newValue } }
    }
    /// The family name before, as by marriage.
    public override var previousFamilyName: String {
        get { fetched(.previousFamilyName).values.card.previousFamilyName }
        set { set(.previousFamilyName) { $0.card.previousFamilyName = newValue } }
    }
    /// What stands after the name: Jr.
    public override var nameSuffix: String {
        get { fetched(.nameSuffix).values.card.nameSuffix }
        set { set(.nameSuffix) { $0.card.nameSuffix = newValue } }
    }
    /// The nickname.
    public override var nickname: String {
        get { fetched(.nickname).values.card.nickname }
        set { set(.nickname) { $0.card.nickname = newValue } }
    }
    /// How the given name is said.
    public override var phoneticGivenName: String {
        get { fetched(.phoneticGivenName).values.card.phoneticGivenName }
        set { set(.phoneticGivenName) { $0.card.phoneticGivenName = newValue } }
    }
    /// How the middle name is said.
    public override var phoneticMiddleName: String {
        get { fetched(.phoneticMiddleName).values.card.phoneticMiddleName }
        set { set(.phoneticMiddleName) { $0.card.phoneticMiddleName = newValue } }
    }
    /// How the family name is said.
    public override var phoneticFamilyName: String {
        get { fetched(.phoneticFamilyName).values.card.phoneticFamilyName }
        set { set(.phoneticFamilyName) { $0.card.phoneticFamilyName = newValue } }
    }
    /// The organization.
    public override var organizationName: String {
        get { fetched(.organizationName).values.card.organizationName }
        set { set(.organizationName) { $0.card.organizationName = newValue } }
    }
    /// The department.
    public override var departmentName: String {
        get { fetched(.departmentName).values.card.departmentName }
        set { set(.departmentName) { $0.card.departmentName = newValue } }
    }
    /// The job title.
    public override var jobTitle: String {
        get { fetched(.jobTitle).values.card.jobTitle }
        set { set(.jobTitle) { $0.card.jobTitle = newValue } }
    }
    /// How the organization’s name is said.
    public override var phoneticOrganizationName: String {
        get { fetched(.phoneticOrganizationName).values.card.phoneticOrganizationName }
        set { set(.phoneticOrganizationName) { $0.card.phoneticOrganizationName = newValue } }
    }
    /// The note. Reading and writing it must be granted by name.
    public override var note: String {
        get { fetched(.note).values.card.note }
        set { set(.note) { $0.card.note = newValue } }
    }
    /// The birthday in the Gregorian calendar; one without a year has none.
    public override var birthday: DateComponents? {
        get { fetched(.birthday).values.birthday }
        set { set(.birthday) { $0.birthday = newValue } }
    }
    /// The birthday in another calendar.
    public override var nonGregorianBirthday: DateComponents? {
        get { fetched(.nonGregorianBirthday).values.nonGregorianBirthday }
        set { set(.nonGregorianBirthday) { $0.nonGregorianBirthday = newValue } }
    }
    /// Phone numbers.
    public override var phoneNumbers: [CNLabeledValue<CNPhoneNumber>] {
        get { fetched(.phoneNumbers).values.phoneNumbers }
        set { set(.phoneNumbers) { $0.phoneNumbers = newValue } }
    }
    /// E-mail addresses.
    public override var emailAddresses: [CNLabeledValue<NSString>] {
        get { fetched(.emailAddresses).values.emailAddresses }
        set { set(.emailAddresses) { $0.emailAddresses = newValue } }
    }
    /// Postal addresses.
    public override var postalAddresses: [CNLabeledValue<CNPostalAddress>] {
        get { fetched(.postalAddresses).values.postalAddresses }
        set { set(.postalAddresses) { $0.postalAddresses = newValue } }
    }
    /// Dates other than the birthday; one without a year has none.
    public override var dates: [CNLabeledValue<NSDateComponents>] {
        get { fetched(.dates).values.dates }
        set { set(.dates) { $0.dates = newValue } }
    }
    /// Web addresses.
    public override var urlAddresses: [CNLabeledValue<NSString>] {
        get { fetched(.urlAddresses).values.urlAddresses }
        set { set(.urlAddresses) { $0.urlAddresses = newValue } }
    }
    /// Related people.
    public override var contactRelations: [CNLabeledValue<CNContactRelation>] {
        get { fetched(.contactRelations).values.contactRelations }
        set { set(.contactRelations) { $0.contactRelations = newValue } }
    }
    /// Accounts at social networks.
    public override var socialProfiles: [CNLabeledValue<CNSocialProfile>] {
        get { fetched(.socialProfiles).values.socialProfiles }
        set { set(.socialProfiles) { $0.socialProfiles = newValue } }
    }
    /// Accounts at messengers.
    public override var instantMessageAddresses: [CNLabeledValue<CNInstantMessageAddress>] {
        get { fetched(.instantMessageAddresses).values.instantMessageAddresses }
        set { set(.instantMessageAddresses) { $0.instantMessageAddresses = newValue } }
    }
    /// The picture: JPEG, PNG or what else the person’s programs show; 8 MiB at most.
    public override var imageData: Data? {
        get { super.imageData }
        set { set(.imageData) { $0.card.imageData = newValue?.base64EncodedString() ?? "" } }
    }
}
