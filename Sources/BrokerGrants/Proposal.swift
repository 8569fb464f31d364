import BrokerInterface
import BrokerModel
import BrokerVarlink

/// A card that an app proposes.
package struct Proposal {
    package let card: Contact
    /// The card as shown to the person: an encoded `Contact`.
    package let shown: [UInt8]

    package init(card: Contact, shown: [UInt8]) {
        self.card = card
        self.shown = shown
    }

    /// Returns the card with the person's changes. It has no keys that the offered card lacks, and the offered image.
    package func changed(to changed: WireContact) throws(VarlinkError) -> Contact {
        let present = changed.contact.present
        guard present.isSubset(of: card.present), changed.keys.isDisjoint(with: .images) else {
            throw AgentError.invalidAnswer(
                .malformed, "the changed card has keys that the offered one lacks, or an image")
        }
        do throws(ContactError) {
            try changed.contact.validate(writing: changed.keys)
        } catch {
            throw AgentError.invalidAnswer(.malformed, "the changed card is not valid")
        }
        guard !present.isEmpty else { throw AgentError.invalidAnswer(.malformed, "the changed card is empty") }
        var contact = changed.contact
        contact.imageData = card.imageData
        return contact
    }
}
