import BrokerModel
import Testing

@testable import BrokerFormatting

@Suite("Mailing labels")
struct MailingLabelTests {
    @Test("A label has every part of an address, in every country and for every reader", arguments: [nil, "US", "SE"])
    func complete(region: String?) {
        // In Latin letters and in others, because some countries have a format for each.
        for sample in ["X", "я"] {
            for code in AddressFormat.all.keys.sorted() + ["CA", ""] {
                var address = PostalAddress()
                (address.street, address.subLocality) = ("\(sample)street", "\(sample)locality")
                (address.city, address.subAdministrativeArea) = ("\(sample)city", "\(sample)county")
                (address.state, address.postalCode) = ("\(sample)state", "123\(sample)")
                address.isoCountryCode = code
                let label = PostalAddressFormatter(region: region).lines(of: address).joined(separator: "\n")
                for part in [
                    address.street, address.subLocality, address.city, address.subAdministrativeArea, address.state,
                    address.postalCode,
                ] {
                    #expect(label.contains(part), "\(code): \(label)")
                }
            }
        }
    }
}
