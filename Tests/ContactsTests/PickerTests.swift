import BrokerJSON
import Foundation
import Testing

@testable import Contacts

@Suite("Predicates of the picker")
struct PickerTests {
    /// The JSON for the broker; `nil` if the predicate is refused.
    private func written(_ predicate: NSPredicate) -> String? {
        var writer = JSONWriter()
        do throws(CNError) { try PickerPredicate.write(predicate, "enabling", to: &writer) } catch { return nil }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("Apple's documented formats give the same JSON as the picker's own predicates")
    func formats() throws {
        let same: [(NSPredicate, NSPredicate)] = [
            (
                NSPredicate(format: "emailAddresses.@count > 0"),
                picker.predicate(key: "emailAddresses", count: 1...Int.max)
            ),
            (NSPredicate(format: "phoneNumbers.@count == 1"), picker.predicate(key: "phoneNumbers", count: 1...1)),
            (NSPredicate(format: "birthday != nil"), picker.predicate(havingKeys: ["birthday"])),
            (NSPredicate(format: "givenName.length > 0"), picker.predicate(havingKeys: ["givenName"])),
            (NSPredicate(format: "key == 'emailAddresses'"), picker.predicate(propertyKey: "emailAddresses")),
            (NSPredicate(format: "(key = %@)", "emailAddresses"), picker.predicate(propertyKey: "emailAddresses")),
            (
                NSPredicate(format: "familyName IN {'King', \"Byron\"}"),
                picker.predicate(familyNames: ["King", "Byron"])
            ),
            (NSPredicate(format: "NOT (identifier IN %@)", ["1"]), picker.predicate(excludingIdentifiers: ["1"])),
        ]
        for (format, predicate) in same.dropFirst() { #expect(written(format) == written(predicate)) }
        #expect(written(same[0].0) == #""enabling":{"minimumCount":{"emailAddresses":1}}"#)
        let both = NSPredicate(format: "emailAddresses.@count >= 2 AND (familyName == 'King')")
        #expect(written(both) == #""enabling":{"minimumCount":{"emailAddresses":2},"familyNames":["King"]}"#)
        #expect(written(NSPredicate(value: true)) == "")
        #expect(written(NSPredicate(value: false)) == #""enabling":{"familyNames":[]}"#)
    }

    private typealias picker = CNContactPickerViewController

    @Test(
        "A predicate that the library does not understand is refused",
        arguments: [
            "", "emailAddresses.@count", "emailAddresses.@count > many", "shoeSize.@count > 0", "familyName LIKE 'K*'",
            "key == 'a' OR key == 'b'", "key == 'a' AND key == 'b'", "ANY emailAddresses.label == 'x'",
            "key == 'unended",
            "familyName IN {'unended'", "key == %@", "((((", "%", "NOT", "emailAddresses.@count < 0",
            "emailAddresses.@count == -1",
        ])
    func refused(format: String) {
        let predicate = NSPredicate(format: format)
        if format.isEmpty {
            #expect(written(predicate) == #""enabling":{}"#)
        } else {
            #expect(written(predicate) == nil)
        }
        #expect(throws: CNError.self) { try CNContactStore().unifiedContacts(matching: predicate, keysToFetch: []) }
    }

    @Test("Blocks are refused, and so are two predicates that cannot be combined")
    func blocks() {
        #expect(written(NSPredicate { _, _ in true }) == nil)
        #expect(throws: CNError.self) {
            try picker.predicate(all: [picker.predicate(propertyKey: "a"), picker.predicate(propertyKey: "b")])
        }
    }

    private final class Recorder: CNContactPickerDelegate {
        var calls: [String] = []

        func contactPickerDidCancel(_ picker: CNContactPickerViewController) { calls.append("cancelled") }

        func contactPicker(_ picker: CNContactPickerViewController, didSelect contact: CNContact) {
            calls.append("contact")
        }

        func contactPicker(
            _ picker: CNContactPickerViewController, didSelectContactProperties contactProperties: [CNContactProperty]
        ) {
            calls.append("\(contactProperties.count) values")
        }
    }

    private final class Mute: CNContactPickerDelegate {}

    @Test("A delegate gets every pick through the methods that it implements, or one cancellation")
    func delivers() {
        let (contact, recorder) = (CNContact(), Recorder())
        let value = CNContactProperty(contact: contact, key: CNContactNicknameKey, identifier: nil, label: nil)
        let made = picker()
        made.delegate = recorder
        for isMultiple in [false, true] {
            made.allowsMultipleSelection = isMultiple
            made.deliver(.init(contacts: [contact, contact], properties: [value]))
            #expect(recorder.calls == ["contact", "contact", "1 values"])
            recorder.calls = []
        }
        made.deliver(.init(contacts: [], properties: []))
        #expect(recorder.calls == ["cancelled"])
        // A delegate with no method at all receives nothing, and the library does not call itself without end.
        let mute = Mute()
        made.delegate = mute
        made.deliver(.init(contacts: [contact], properties: [value]))
    }
}
