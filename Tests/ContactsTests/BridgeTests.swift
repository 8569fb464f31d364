import BrokerModel
import Contacts
import Foundation
import Testing

@Suite("Contacts made from cards")
struct BridgeTests {
    private static var card: Contact {
        var card = Contact()
        card.givenName = "Ada"
        card.birthday = "--12-10"
        card.phoneNumbers = [LabeledString(identifier: 7, label: CNLabelPhoneNumberMobile, value: "+44 20 7946 0001")]
        var address = PostalAddress()
        address.city = "London"
        card.postalAddresses = [address]
        card.extraProperties = ["X-ODD:kept"]
        return card
    }

    @Test("A contact made from a card has the card's values, and gives an equal card back")
    func reading() {
        let contact = CNMutableContact(Self.card)
        #expect(contact.givenName == "Ada" && contact.extraProperties == ["X-ODD:kept"])
        #expect(contact.phoneNumbers.map(\.value.stringValue) == ["+44 20 7946 0001"])
        #expect(contact.birthday?.month == 12 && contact.birthday?.year == nil)
        #expect(contact.postalAddresses.first?.value.city == "London")
        var same = Self.card
        same.phoneNumbers[0].identifier = nil
        #expect(contact.wire.contact == same && contact.wire.keys == .all)
        #expect(contact.wire.identifier == contact.identifier && !contact.identifier.isEmpty)
    }

    @Test("A contact made from a card can be changed like any other, and its copies keep their values")
    func changing() throws {
        let contact = CNMutableContact(Self.card)
        let before = contact.identifier
        let copy = try #require(contact.copy() as? CNContact)
        contact.givenName = "Augusta"
        #expect(contact.givenName == "Augusta" && contact.phoneNumbers.count == 1 && contact.identifier == before)
        #expect(copy.givenName == "Ada" && copy.identifier == before)
        #expect(contact != CNMutableContact(Self.card))
    }

    @Test("Several threads can read a contact made from a card at once")
    func threads() {
        let contact = CNMutableContact(Self.card)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            #expect(contact.phoneNumbers.count == 1 && contact.givenName == "Ada")
        }
    }

    @Test("An error without a broker's reply has none of its details; an app's own error keeps its values")
    func errors() {
        let error = CNError(.policyViolation, userInfo: [NSLocalizedFailureReasonErrorKey: "too much"])
        #expect(error.brokerError == nil && error.failedStep == nil && error.exceededLimit == nil)
        #expect(error.recoverySuggestion == nil && error.retryAfter == nil && error.failureReason == "too much")
    }
}
