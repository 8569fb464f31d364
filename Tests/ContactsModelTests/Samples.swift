import BrokerJSON
import BrokerModel

/// A contact with a value for every key.
func everything() -> Contact {
    var contact = Contact()
    for key in ContactKey.allCases { contact.setText("\(key.rawValue) \"ß\" \\ 王\n", of: key) }
    contact.contactType = .organization
    contact.birthday = "1815-12-10"
    contact.nonGregorianBirthday = "chinese:--08-15"
    contact.imageData = "/9j/4AAQ"
    contact.thumbnailImageData = "/9j/"
    contact.imageDataAvailable = true
    contact.creationDate = "2026-01-01T00:00:00Z"
    contact.modificationDate = "2026-01-02T00:00:00Z"
    contact.phoneNumbers = [
        LabeledString(identifier: 1, label: "_$!<Mobile>!$_", value: "+44 20"), LabeledString(value: ""),
    ]
    contact.emailAddresses = [LabeledString(identifier: 3, value: "ada@example.org")]
    contact.dates = [LabeledDate(identifier: 1, label: "_$!<Anniversary>!$_", value: "--07-08")]
    contact.urlAddresses = [LabeledString(label: "blog", value: "https://example.org/ä")]
    contact.contactRelations = [LabeledString(label: "_$!<Mother>!$_", value: "Anne")]
    var address = PostalAddress()
    for field in PostalAddress.fields { field.set(&address, "the \(field.name)") }
    address.identifier = 2
    address.label = "_$!<Home>!$_"
    contact.postalAddresses = [address, PostalAddress()]
    var profile = SocialProfile()
    for field in SocialProfile.fields { field.set(&profile, "the \(field.name)") }
    contact.socialProfiles = [profile]
    var messenger = InstantMessageAddress()
    for field in InstantMessageAddress.fields { field.set(&messenger, "the \(field.name)") }
    contact.instantMessageAddresses = [messenger]
    contact.extraProperties = ["X-FOO;TYPE=a:b", "KIND:individual"]
    return contact
}

func read(_ json: String) throws -> WireContact {
    try WireContact(JSONDocument(parsing: Array(json.utf8)).root)
}

func text(_ contact: WireContact) -> String {
    var writer = JSONWriter()
    contact.write(to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
}

/// The error of a check, if any.
func refusal(_ body: () throws -> Void) -> ContactError? {
    do {
        try body()
        return nil
    } catch {
        return error as? ContactError
    }
}
