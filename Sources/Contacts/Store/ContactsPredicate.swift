import BrokerInterface
import BrokerJSON
import Foundation

/// A predicate that the broker evaluates. This object only stores the predicate's conditions.
final class ContactsPredicate: NSPredicate, NSSecureCoding {
    enum Meaning: Hashable, Sendable {
        case contacts(WirePredicate)
        case groups(GroupPredicate)
        case containers(ContainerPredicate)
    }

    let meaning: Meaning

    init(_ meaning: Meaning) {
        self.meaning = meaning
        super.init(value: true)
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool { (object as? ContactsPredicate)?.meaning == meaning }

    override var hash: Int { meaning.hashValue }

    /// Returns `true` for every object, because only the broker can decide which records match.
    override func evaluate(with object: Any?) -> Bool { true }

    // Foundation's predicates on Linux cannot be archived, so this class archives `meaning` instead.

    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) { write(to: coder) }

    required convenience init?(coder: NSCoder) {
        guard let meaning = Self.read(from: coder)?.meaning else { return nil }
        self.init(meaning)
    }

    func write(to coder: NSCoder) {
        let (kind, texts) = meaning.written
        coder.encode(kind as NSString, forKey: "predicate")
        coder.encode(texts.map { $0 as NSString } as NSArray, forKey: "predicateTexts")
    }

    static func read(from coder: NSCoder) -> ContactsPredicate? {
        guard let kind = coder.decodeObject(of: NSString.self, forKey: "predicate") as String?,
            let texts = coder.decodeTexts(forKey: "predicateTexts")
        else { return nil }
        return Meaning(kind, texts).map(ContactsPredicate.init)
    }
}

extension WirePredicate {
    /// - Throws: ``CNError/Code/predicateInvalid`` if ``CNContact`` did not make the predicate.
    init(_ predicate: NSPredicate) throws(CNError) {
        guard case .contacts(let meaning)? = (predicate as? ContactsPredicate)?.meaning else {
            throw CNError(.predicateInvalid, reason: "the predicate must be a single one that CNContact makes")
        }
        self = meaning
    }

    func write(to writer: inout JSONWriter) {
        writer.name("predicate")
        writer.object { writer in
            switch self {
            case .name(let text): writer.member("name", text)
            case .emailAddress(let text): writer.member("emailAddress", text)
            case .phoneNumber(let text): writer.member("phoneNumber", text)
            case .identifiers(let identifiers): writer.member("identifiers", identifiers)
            case .group(let identifier): writer.member("group", identifier)
            case .container(let identifier): writer.member("container", identifier)
            case .me: writer.member("me", true)
            }
        }
    }
}

/// The conditions of a predicate for groups.
enum GroupPredicate: Hashable, Sendable {
    case identifiers([String])
    case container(String)
    case subgroups(of: String)
}

/// The conditions of a predicate for containers.
enum ContainerPredicate: Hashable, Sendable {
    case identifiers([String])
    case contact(String)
    case group(String)
}

extension ContactsPredicate.Meaning {
    /// The archived form: a word for the kind of condition, and the condition's strings.
    var written: (kind: String, texts: [String]) {
        switch self {
        case .contacts(.name(let text)): ("name", [text])
        case .contacts(.emailAddress(let text)): ("emailAddress", [text])
        case .contacts(.phoneNumber(let text)): ("phoneNumber", [text])
        case .contacts(.identifiers(let texts)): ("identifiers", texts)
        case .contacts(.group(let text)): ("group", [text])
        case .contacts(.container(let text)): ("container", [text])
        case .contacts(.me): ("me", [])
        case .groups(.identifiers(let texts)): ("groups", texts)
        case .groups(.container(let text)): ("groupsInContainer", [text])
        case .groups(.subgroups(let text)): ("subgroups", [text])
        case .containers(.identifiers(let texts)): ("containers", texts)
        case .containers(.contact(let text)): ("containerOfContact", [text])
        case .containers(.group(let text)): ("containerOfGroup", [text])
        }
    }

    init?(_ kind: String, _ texts: [String]) {
        switch (kind, texts.count) {
        case ("identifiers", _): self = .contacts(.identifiers(texts))
        case ("groups", _): self = .groups(.identifiers(texts))
        case ("containers", _): self = .containers(.identifiers(texts))
        case ("me", 0): self = .contacts(.me)
        case ("name", 1): self = .contacts(.name(texts[0]))
        case ("emailAddress", 1): self = .contacts(.emailAddress(texts[0]))
        case ("phoneNumber", 1): self = .contacts(.phoneNumber(texts[0]))
        case ("group", 1): self = .contacts(.group(texts[0]))
        case ("container", 1): self = .contacts(.container(texts[0]))
        case ("groupsInContainer", 1): self = .groups(.container(texts[0]))
        case ("subgroups", 1): self = .groups(.subgroups(of: texts[0]))
        case ("containerOfContact", 1): self = .containers(.contact(texts[0]))
        case ("containerOfGroup", 1): self = .containers(.group(texts[0]))
        default: return nil
        }
    }
}

extension CNContact {
    /// Matches contacts by name: each word of `name` must be the start of a word in the contact's
    /// name. The order of the words does not matter.
    public class func predicateForContacts(matchingName name: String) -> NSPredicate {
        ContactsPredicate(.contacts(.name(name)))
    }

    /// Matches contacts with this e-mail address.
    public class func predicateForContacts(matchingEmailAddress emailAddress: String) -> NSPredicate {
        ContactsPredicate(.contacts(.emailAddress(emailAddress)))
    }

    /// Matches contacts with this phone number, in any notation.
    public class func predicateForContacts(matching phoneNumber: CNPhoneNumber) -> NSPredicate {
        ContactsPredicate(.contacts(.phoneNumber(phoneNumber.stringValue)))
    }

    /// Matches contacts with these identifiers, at most 10,000. Identifiers of contacts that the app may not
    /// see are ignored.
    public class func predicateForContacts(withIdentifiers identifiers: [String]) -> NSPredicate {
        ContactsPredicate(.contacts(.identifiers(identifiers)))
    }

    /// Matches contacts in a group.
    public class func predicateForContactsInGroup(withIdentifier groupIdentifier: String) -> NSPredicate {
        ContactsPredicate(.contacts(.group(groupIdentifier)))
    }

    /// Matches contacts in a container.
    public class func predicateForContactsInContainer(withIdentifier containerIdentifier: String) -> NSPredicate {
        ContactsPredicate(.contacts(.container(containerIdentifier)))
    }
}

extension CNGroup {
    /// Matches groups with these identifiers.
    public class func predicateForGroups(withIdentifiers identifiers: [String]) -> NSPredicate {
        ContactsPredicate(.groups(.identifiers(identifiers)))
    }

    /// Matches groups in a container.
    public class func predicateForGroupsInContainer(withIdentifier containerIdentifier: String) -> NSPredicate {
        ContactsPredicate(.groups(.container(containerIdentifier)))
    }

    /// Matches direct subgroups of a group.
    public class func predicateForSubgroupsInGroup(withIdentifier parentGroupIdentifier: String) -> NSPredicate {
        ContactsPredicate(.groups(.subgroups(of: parentGroupIdentifier)))
    }
}

extension CNContainer {
    /// Matches containers with these identifiers.
    public class func predicateForContainers(withIdentifiers identifiers: [String]) -> NSPredicate {
        ContactsPredicate(.containers(.identifiers(identifiers)))
    }

    /// Matches the container of a contact.
    public class func predicateForContainerOfContact(withIdentifier contactIdentifier: String) -> NSPredicate {
        ContactsPredicate(.containers(.contact(contactIdentifier)))
    }

    /// Matches the container of a group.
    public class func predicateForContainerOfGroup(withIdentifier groupIdentifier: String) -> NSPredicate {
        ContactsPredicate(.containers(.group(groupIdentifier)))
    }
}
