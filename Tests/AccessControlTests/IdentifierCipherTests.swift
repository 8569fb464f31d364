import BrokerModel
import Testing

@testable import BrokerAccessControl
@testable import BrokerDisclosure

private func cipher(_ byte: UInt8) throws -> IdentifierCipher {
    try #require(IdentifierCipher(key: [UInt8](repeating: byte, count: 16)))
}

@Suite("Identifiers of contacts for one app")
struct IdentifierCipherTests {
    private let records = [0, 1, 1_700_000_000_000_000, Int64.max, -1, Int64.min].map { RecordNumber($0) }

    @Test("An identifier decrypts to its record", arguments: RecordKind.allCases)
    func roundTrip(kind: RecordKind) throws {
        let cipher = try cipher(1)
        for record in records {
            let identifier = cipher.identifier(of: record, as: kind)
            #expect(identifier.utf8.count == 32)
            #expect(cipher.record(identifier, as: kind) == record)
        }
    }

    @Test("A contact keeps its identifier as long as the app keeps its key")
    func stable() throws {
        let first = try cipher(1).identifier(of: RecordNumber(5), as: .contact)
        let again = try cipher(1).identifier(of: RecordNumber(5), as: .contact)
        #expect(first == again)
    }

    @Test("Two apps have different identifiers for a contact, and one app's identifier names nothing for the other")
    func otherKey() throws {
        let mine = try cipher(1).identifier(of: RecordNumber(5), as: .contact)
        let theirs = try cipher(2).identifier(of: RecordNumber(5), as: .contact)
        #expect(mine != theirs)
        #expect(try cipher(2).record(mine, as: .contact) == nil)
    }

    @Test("An identifier of one kind names nothing as another kind")
    func otherKind() throws {
        let cipher = try cipher(1)
        for kind in RecordKind.allCases {
            let identifier = cipher.identifier(of: RecordNumber(5), as: kind)
            for other in RecordKind.allCases {
                #expect((cipher.record(identifier, as: other) != nil) == (other == kind))
            }
        }
    }

    @Test("An identifier with one changed bit names nothing")
    func bitFlips() throws {
        let cipher = try cipher(1)
        let bytes = Array(cipher.identifier(of: RecordNumber(5), as: .contact).utf8)
        for place in 0..<32 {
            let digit = try #require(Int(String(decoding: [bytes[place]], as: UTF8.self), radix: 16))
            for bit in 0..<4 {
                var changed = bytes
                changed[place] = Array(String(digit ^ 1 << bit, radix: 16).utf8)[0]
                #expect(cipher.record(String(decoding: changed, as: UTF8.self), as: .contact) == nil)
            }
        }
    }

    @Test(
        "A string that is not 32 lower-case hexadecimal digits, or is invented, names nothing",
        arguments: [
            "", "0", String(repeating: "0", count: 31), String(repeating: "0", count: 32),
            String(repeating: "0", count: 33), String(repeating: "g", count: 32), String(repeating: "é", count: 16),
            String(repeating: "\u{0}", count: 32), String(repeating: "0", count: 1_000_000),
        ])
    func malformed(text: String) throws {
        #expect(try cipher(1).record(text, as: .contact) == nil)
    }

    @Test("An identifier in upper case names nothing")
    func upperCase() throws {
        let cipher = try cipher(1)
        let identifier = cipher.identifier(of: RecordNumber(5), as: .contact)
        let upper = identifier.uppercased()
        try #require(upper != identifier)
        #expect(cipher.record(upper, as: .contact) == nil)
    }

    @Test("A key has 16 bytes", arguments: [0, 15, 17, 32])
    func keySize(count: Int) {
        #expect(IdentifierCipher(key: [UInt8](repeating: 0, count: count)) == nil)
    }

    @Test("A hundred random keys all differ")
    func randomKeys() throws {
        let keys = try (0..<100).map { _ in try #require(IdentifierCipher.randomKey()) }
        #expect(Set(keys).count == 100)
        #expect(keys.allSatisfy { $0.count == IdentifierCipher.keySize })
    }

    @Test("Identifiers encrypted in one batch equal those encrypted one by one")
    func many() throws {
        let cipher = try cipher(1)
        let single = records.map { cipher.identifier(of: $0, as: .contact) }.joined()
        #expect(cipher.identifiers(of: records, as: .contact) == Array(single.utf8))
        #expect(cipher.identifiers(of: [], as: .contact).isEmpty)
    }
}

@Suite("Tokens that an app stores for the broker")
struct TokenTests {
    @Test("A token opens to the bytes that were sealed", arguments: [0, 1, 16, 100])
    func roundTrip(count: Int) throws {
        let cipher = try cipher(1)
        let bytes = (0..<count).map { UInt8($0) }
        let token = try #require(cipher.seal(bytes, as: .page))
        #expect(cipher.open(token, as: .page) == bytes)
    }

    @Test("Two page tokens for the same bytes differ, and have the same length")
    func fresh() throws {
        let cipher = try cipher(1)
        let first = try #require(cipher.seal([1, 2, 3], as: .page))
        let second = try #require(cipher.seal([1, 2, 3], as: .page))
        #expect(first != second)
        #expect(first.count == second.count)
    }

    @Test("A token opens only for its own purpose and app")
    func otherPurpose() throws {
        let token = try #require(try cipher(1).seal([1], as: .page))
        #expect(try cipher(1).open(token, as: .history) == nil)
        #expect(try cipher(2).open(token, as: .page) == nil)
    }

    @Test("A token with one changed digit does not open")
    func changed() throws {
        let cipher = try cipher(1)
        let token = Array(try #require(cipher.seal([1, 2], as: .history)).utf8)
        for place in token.indices {
            var other = token
            other[place] = other[place] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            #expect(cipher.open(String(decoding: other, as: UTF8.self), as: .history) == nil)
        }
    }

    @Test(
        "A string that was never a token does not open",
        arguments: [
            "", "0", "zz", String(repeating: "0", count: 55), String(repeating: "0", count: 56),
            String(repeating: "0", count: 2_048), String(repeating: "0", count: 2_049),
        ])
    func malformed(text: String) throws {
        #expect(try cipher(1).open(text, as: .page) == nil)
    }
}

@Suite("History tokens")
struct HistoryTokenTests {
    @Test("A history token is the same each time, and opens only under its key and as a history token")
    func tokens() throws {
        let first = try #require(IdentifierCipher(key: [UInt8](repeating: 1, count: 16)))
        let second = try #require(IdentifierCipher(key: [UInt8](repeating: 2, count: 16)))
        let token = try #require(first.seal([1, 2, 3], as: .history))
        #expect(first.seal([1, 2, 3], as: .history) == token)
        #expect(first.seal([1, 2, 4], as: .history) != token)
        #expect(second.seal([1, 2, 3], as: .history) != token)
        #expect(first.open(token, as: .history) == [1, 2, 3])
        #expect(second.open(token, as: .history) == nil)
        #expect(first.open(token, as: .page) == nil)
        // Page tokens disclose nothing, not even whether two of them are for the same position.
        #expect(first.seal([1, 2, 3], as: .page) != first.seal([1, 2, 3], as: .page))
    }

    @Test("An app's mark stays the same and differs from another app's")
    func marks() throws {
        let first = try #require(IdentifierCipher(key: [UInt8](repeating: 1, count: 16)))
        let second = try #require(IdentifierCipher(key: [UInt8](repeating: 2, count: 16)))
        #expect(first.mark == first.mark && first.mark != second.mark && first.mark.count == 16)
    }
}
