import Testing

@_spi(StoredBytes) @testable import BrokerModel

@Suite("Parts of a stored contact")
struct StoredPartsTests {
    private static let whole = StoredContact(values: [
        (.givenName, Array("\"Ada\"".utf8)), (.phoneNumbers, Array("[]".utf8)), (.note, Array("\"n\"".utf8)),
        (.extraProperties, Array("[\"X:1\"]".utf8)),
    ])

    @Test("Two parts make the whole again, byte for byte")
    func parts() {
        let whole = Self.whole
        let (first, rest) = (whole.only(whole.present.subtracting(.named)), whole.only(.named))
        #expect(first.present == ContactKeySet([.givenName, .phoneNumbers]) && rest.present == .named)
        #expect(first.followed(by: rest) == whole)
        #expect(whole.only(.all) == whole)
        let nothing = StoredContact(values: [])
        #expect(nothing.followed(by: rest) == rest && first.followed(by: nothing) == first)
    }

    @Test("Parts that overlap or come in the wrong order make nothing")
    func wrongOrder() {
        let rest = Self.whole.only(.named)
        #expect(rest.followed(by: Self.whole.only(ContactKeySet([.givenName]))) == nil)
        #expect(Self.whole.followed(by: rest) == nil)
    }
}
