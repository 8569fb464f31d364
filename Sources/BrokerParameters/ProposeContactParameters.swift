import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Parameters of `ProposeContact`.
package struct ProposeContactParameters: Sendable {
    /// The proposed card, validated like an added contact. Its identifier is ignored.
    package var card: WireContact
    package let purpose: String?

    package init(_ parameters: JSONValue) throws(VarlinkError) {
        var reader = try ParameterReader(parameters)
        let found = try reader.required("contact").value
        purpose = try reader["purpose"]?.text(maximum: ParameterLimits.purpose)
        try reader.finish()
        do throws(ContactError) {
            card = try WireContact(found, limits: ContactLimits())
            try card.contact.validate(writing: card.keys)
        } catch {
            throw Self.error(error)
        }
        card.identifier = nil
    }

    private static func error(_ error: ContactError) -> VarlinkError {
        switch error {
        case .invalidParameter(let name): .invalidParameter(name)
        case .invalidContact(let key, let reason): ContactsError.invalidContact(at: nil, key: key, reason: reason)
        case .limitExceeded(let limit, let maximum): ContactsError.limitExceeded(limit, maximum: maximum)
        }
    }

    /// The encoded card for the prompt. It contains no image, but says whether the card has one.
    package var shown: [UInt8] {
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
