import BookSamples
import BrokerModel
import Testing

@testable import BrokerContactFiles

@Suite("LDIF, written and read")
struct LDIFRoundTripTests {
    private func afterLDIF(_ contact: Contact) -> Contact {
        let found = rowItems(of: LDIFWriter().entry(contact, uuid: Self.uuid).bytes, from: LDIFReader(), chunk: 1_024)
        guard found.count == 1, case .row(let row) = found[0] else {
            Issue.record("\(contact): \(found)")
            return Contact()
        }
        #expect(row.remarks.isEmpty)
        return row.contact
    }

    private static let uuid = "8bf87495-a576-b43e-7ede-6a2e97165ee5"

    /// Whether a property comes back.
    private func isCarried(_ property: SampleProperty, _ contact: Contact) -> Bool {
        let hadUID = contact.extraProperties.contains(where: SampleProperty.isUID)
        func value(_ contact: Contact) -> [String] {
            property.value(contact.inAnyBook(hadUID: hadUID)).map { $0.replacing("UID:urn:uuid:", with: "UID:") }
        }
        return value(afterLDIF(contact)) == value(contact)
    }

    private static let generated: [Contact] = (0..<400).map {
        var generator = GeneratedContacts($0)
        var contact = generator.contact()
        contact.extraProperties += $0.isMultiple(of: 2) ? ["UID:person-\($0)"] : ["FN:A \($0)", "FN:B"]
        return contact
    }

    @Test("The table says exactly which properties LDIF carries", arguments: SampleProperty.all)
    func table(property: SampleProperty) {
        let isCarried = ([SampleProperty.whole] + property.variants()).allSatisfy { self.isCarried(property, $0) }
        #expect(isCarried == (property.inLDIF != .lost))
        switch property.inLDIF {
        case .whole:
            let lost = Self.generated.first { !self.isCarried(property, $0) }
            #expect(lost == nil, "became \(lost.map { property.value(afterLDIF($0)) } ?? [])")
        case .partly: #expect(!Self.generated.allSatisfy { self.isCarried(property, $0) })
        case .lost: break
        }
    }
}
