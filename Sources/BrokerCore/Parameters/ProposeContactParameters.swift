import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `ProposeContact`.
struct ProposeContactParameters: Sendable {
    /// The proposed card, validated like an added contact. Its identifier is ignored.
    var card: WireContact
    var purpose: String?

    init(_ parameters: JSONValue) throws(VarlinkError) {
        let reader = ParameterReader()
        var found: JSONValue?
        var purpose: String?
        try reader.members(of: parameters) { (name, value) throws(VarlinkError) in
            switch name {
            case "contact": found = value
            case "purpose": purpose = try reader.text(value, name, maximum: ParameterLimits.purpose)
            default: throw reader.invalid(name)
            }
        }
        guard let found else { throw .invalidParameter("contact") }
        do throws(ContactError) {
            card = try WireContact(found, limits: ContactLimits())
            try card.contact.validate(writing: card.keys)
        } catch {
            throw Self.error(error)
        }
        card.identifier = nil
        self.purpose = purpose
    }

    private static func error(_ error: ContactError) -> VarlinkError {
        switch error {
        case .invalidParameter(let name): .invalidParameter(name)
        case .invalidContact(let key, let reason): ContactsError.invalidContact(at: nil, key: key, reason: reason)
        case .limitExceeded(let limit, let maximum): ContactsError.limitExceeded(limit, maximum: maximum)
        }
    }

    /// The encoded card for the prompt. It contains no image, but says whether the card has one.
    var shown: [UInt8] {
        var shown = card
        if !shown.contact.imageData.isEmpty {
            shown.contact.imageDataAvailable = true
            shown.keys.formUnion(ContactKeySet([.imageDataAvailable]))
        }
        shown.keys.subtract(.images)
        var writer = JSONWriter(reservingCapacity: 1_024)
        shown.write(to: &writer)
        return writer.bytes
    }
}
