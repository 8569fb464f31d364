import BrokerCardText
import BrokerDAV
import BrokerJSON
import BrokerModel
import BrokerVCard
import Testing

@testable import BrokerCardDAV

@Suite("What a client's card changes of a contact")
struct CardChangeTests {
    private let folder: TemporaryFolder
    private let names: CardNames
    private static let granted = ListedCard.keys.subtracting(.named)

    init() throws {
        folder = try TemporaryFolder()
        names = CardNames(sent: try SentCards(folder: folder.path), connection: "1")
    }

    private func card(_ members: String) throws -> ListedCard {
        let json = try JSONDocument(parsing: Array(#"{"identifier":"0af","revision":"1b2",\#(members)}"#.utf8)).root
        return try #require(try ListedCard(json, names))
    }

    private static let numbers = #"""
        "givenName":"Ada","familyName":"Lovelace","phoneNumbers":[{"identifier":"3","label":"_$!<Home>!$_","value":"+1 1"},
        {"identifier":"7","label":"Boat","value":"+1 2"}],"emailAddresses":[{"identifier":"4","value":"ada@example.org"}]
        """#

    /// The change by a client that was sent `shown`, edited that, and writes it while the card is `now`.
    private func change(
        _ shown: String, now: String? = nil, granted: ContactKeySet = granted, knowsBase: Bool = true,
        _ edit: (String) -> String
    ) throws -> CardChange {
        let (base, current) = (try card(shown), try card(now ?? shown))
        let text = String(decoding: base.text(.v3), as: UTF8.self)
        return try CardChange(
            of: current.contact, try CardText(current.text(.v3)), by: try CardText(Array(edit(text).utf8)),
            since: knowsBase
                ? try CardText(base.text(.v3)).units.map { BaseProperty(name: $0.name, token: $0.canonical) } : nil,
            granted: granted, token: \.canonical)
    }

    @Test("A card that comes back as it was sent changes nothing, also in another spelling")
    func same() throws {
        for edit in [
            { (text: String) in text }, { $0.replacing("\r\n", with: "\n") },
            { $0.replacing("TEL;TYPE=HOME", with: "tel;type=home") },
            { $0.replacing("VERSION:3.0", with: "VERSION:3.0\r\nPRODID:x\r\nREV:20260101T000000Z") },
        ] {
            let change = try change(Self.numbers, edit)
            #expect(change.keys.isEmpty && !change.leavesOut)
        }
    }

    @Test("An edited number keeps its identifier, and the others stay as they are")
    func edited() throws {
        let change = try change(Self.numbers) { $0.replacing("+1 2", with: "+1 3") }
        #expect(change.keys == ContactKeySet([.phoneNumbers]))
        #expect(
            change.contact.phoneNumbers == [
                LabeledString(identifier: 3, label: "_$!<Home>!$_", value: "+1 1"),
                LabeledString(identifier: 7, label: "Boat", value: "+1 3"),
            ])
    }

    @Test("A number that is missing is removed only if the client was sent it")
    func removed() throws {
        let without = { (text: String) in
            text.split(separator: "\r\n").filter { !$0.contains("+1 1") }.joined(separator: "\r\n") + "\r\n"
        }
        let change = try change(Self.numbers, without)
        #expect(change.contact.phoneNumbers.map(\.value) == ["+1 2"] && change.contact.phoneNumbers[0].identifier == 7)
        #expect(try self.change(Self.numbers, knowsBase: false, without).keys.isEmpty)
    }

    @Test("What a card cannot say stays in the address book")
    func unsaid() throws {
        let sip = Self.numbers.replacing(
            #"{"identifier":"3","label":"_$!<Home>!$_","value":"+1 1"}"#,
            with: #"{"identifier":"3","value":"sip:a@example.org"}"#)
        let change = try change(sip) { $0.replacing("+1 2", with: "+1 3") }
        #expect(change.contact.phoneNumbers.map(\.value).sorted() == ["+1 3", "sip:a@example.org"])
        #expect(Set(change.contact.phoneNumbers.map(\.identifier)) == [3, 7])
    }

    @Test("What others changed since the client read the card stays")
    func merged() throws {
        let later = Self.numbers.replacing("ada@example.org", with: "new@example.org")
            .replacing(#""familyName":"Lovelace""#, with: #""familyName":"Lovelace","jobTitle":"Countess""#)
        let change = try change(Self.numbers, now: later) { $0.replacing("+1 2", with: "+1 3") }
        #expect(change.keys == ContactKeySet([.phoneNumbers]))
        // Both changed it: the client's value stands.
        let name = try self.change(
            Self.numbers, now: Self.numbers.replacing("Lovelace", with: "Byron")
        ) { $0.replacing("Lovelace", with: "King") }
        #expect(name.contact.familyName == "King" && name.keys.contains(.familyName))
    }

    @Test("What the connection may not see is neither changed nor saved")
    func hidden() throws {
        let change = try change(Self.numbers) {
            $0.replacing("END:VCARD", with: "NOTE:secret\r\nX-OTHER:1\r\nTITLE:Countess\r\nEND:VCARD")
        }
        #expect(change.keys == ContactKeySet([.jobTitle]) && change.leavesOut)
        #expect(change.contact.note.isEmpty && change.contact.extraProperties.isEmpty)
    }

    @Test("Unknown properties are changed one by one, and the card keeps its own UID")
    func unknown() throws {
        let change = try change(
            Self.numbers + #","extraProperties":["UID:own","X-A:1","X-B:2"]"#, granted: ListedCard.keys
        ) { $0.replacing("X-A:1", with: "X-A:3") }
        #expect(change.contact.extraProperties == ["UID:own", "X-B:2", "X-A:3"])
    }

    @Test("A new card has what the connection may write, and not the client's UID")
    func added() throws {
        let text = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:u\r\nFN:Ada\r\nN:;Ada;;;\r\nNOTE:secret\r\nEND:VCARD\r\n"
        let added = try CardChange(adding: try CardText(Array(text.utf8)), granted: Self.granted)
        #expect(added.contact.givenName == "Ada" && added.leavesOut && !added.keys.contains(.note))
        let whole = try CardChange(adding: try CardText(Array(text.utf8)), granted: ListedCard.keys)
        #expect(whole.contact.note == "secret" && whole.contact.extraProperties.isEmpty)
    }
}
