import BrokerModel
import Testing

@Suite("Merging a card into a contact")
struct CompletingTests {
    private func contact() -> Contact {
        var contact = Contact()
        contact.givenName = "Ada"
        contact.note = "first programmer"
        contact.phoneNumbers = [LabeledString(identifier: 4, label: "home", value: "1")]
        return contact
    }

    @Test("A contact keeps its UID, and gets one only if it has none")
    func uid() {
        var one = Contact()
        one.extraProperties = ["item1.uid;X-A=b:1"]
        var card = Contact()
        card.extraProperties = ["UID:2", "X-UID:3"]
        #expect(one.completed(by: card).contact.extraProperties == ["item1.uid;X-A=b:1", "X-UID:3"])
        #expect(Contact().completed(by: card).contact.extraProperties == card.extraProperties)
    }

    @Test("Existing values are kept, and new ones are added")
    func adds() {
        var card = Contact()
        card.givenName = "Augusta"
        card.familyName = "Lovelace"
        card.note = "met in London"
        card.phoneNumbers = [
            LabeledString(identifier: 9, label: "work", value: "1"), LabeledString(identifier: 4, value: "2"),
            LabeledString(value: "2"),
        ]
        card.contactType = .organization
        let (completed, keys) = contact().completed(by: card)
        #expect(completed.givenName == "Ada")
        #expect(completed.familyName == "Lovelace")
        #expect(completed.note == "first programmer\nmet in London")
        #expect(
            completed.phoneNumbers == [
                LabeledString(identifier: 4, label: "home", value: "1"), LabeledString(value: "2"),
            ])
        #expect(completed.contactType == .person)
        #expect(keys == ContactKeySet([.familyName, .note, .phoneNumbers]))
    }

    @Test("A card without new values changes nothing")
    func nothingNew() {
        for card in [Contact(), contact()] {
            let (completed, keys) = contact().completed(by: card)
            #expect(completed == contact())
            #expect(keys == [])
        }
    }

    @Test("A photo is taken only if the contact has none")
    func photo() {
        var card = Contact()
        card.imageData = "AAAA"
        #expect(contact().completed(by: card).keys == ContactKeySet([.imageData]))
        var pictured = contact()
        pictured.imageDataAvailable = true
        #expect(pictured.completed(by: card).keys == [])
    }
}
