import ContactsModel
import JSON
import Testing
import VCard

@Suite(
    "Cards as other programs write them",
    .enabled(if: CollectedFile.folder != nil, "CONTACTBROKER_CARDS names no folder"))
struct CollectedCardsTests {
    /// Where we read something else than the others agree on, and why.
    private struct Disagreement {
        let file: String
        let field: String
        let why: String
    }

    private static let disagreements: [Disagreement] = []

    @Test("No card of any kind crashes the reader, and what was read can be saved")
    func readable() throws {
        var count = 0
        for file in try CollectedFile.all() {
            let whole = items(file.bytes)
            #expect(items(file.bytes, pieces: 100) == whole, "\(file.name)")
            for card in cards(whole) {
                count += 1
                #expect(throws: Never.self, "\(file.name):\(card.line)") {
                    try card.contact.validate(writing: card.contact.present)
                }
            }
        }
        #expect(count > 0)
    }

    @Test(
        "Every card that is valid or nearly so keeps its values, as the other parsers read them",
        arguments: KeptValue.all.map(\.field))
    func kept(field: String) throws {
        let value = try #require(KeptValue.all.first { $0.field == field })
        var compared = 0
        var differing: Set<String> = []
        for file in try CollectedFile.all() where file.isReadable {
            for (item, card) in zip(items(file.bytes), file.cards) {
                guard case .card(let read) = item, let expected = values(card.fields[field]) else { continue }
                let theirs = value.theirs(expected).filter(saysSomething)
                // Where N says nothing, the formatted name is the name.
                if field == "N", theirs.isEmpty { continue }
                compared += 1
                let ours = value.ours(read.contact).filter(saysSomething)
                guard ours.sorted() != theirs.sorted() else { continue }
                differing.insert(file.name)
                #expect(
                    Self.disagreements.contains { $0.file == file.name && $0.field == field },
                    "\(file.name):\(read.line): \(ours) instead of \(theirs)")
            }
        }
        #expect(compared > 0)
        for known in Self.disagreements where known.field == field {
            #expect(differing.contains(known.file), "no disagreement any more: \(known.why)")
        }
    }

    @Test("Every valid card is read whole, without a doubt, unless it is a list of contacts")
    func whole() throws {
        for file in try CollectedFile.all() where file.isValid {
            let read = items(file.bytes)
            #expect(read.count == file.cards.count, "\(file.name)")
            #expect(problems(read).isEmpty, "\(file.name): \(problems(read))")
            #expect(cards(read).allSatisfy { $0.remarks.isEmpty }, "\(file.name): \(cards(read).flatMap(\.remarks))")
        }
    }

    @Test("A formatted name that no part of the name says is kept, and so is a second organisation")
    func keptAside() throws {
        for file in try CollectedFile.all() where file.isValid {
            for (item, card) in zip(items(file.bytes), file.cards) {
                guard case .card(let read) = item else { continue }
                let contact = read.contact
                let known = words(
                    [
                        contact.namePrefix, contact.givenName, contact.middleName, contact.familyName,
                        contact.nameSuffix, contact.nickname, contact.organizationName,
                    ].joined(separator: " "))
                if let name = values(card.fields["FN"])?.first?.string {
                    #expect(
                        words(name).isSubset(of: known) || contact.extraProperties.contains { $0.contains("FN") },
                        "\(file.name):\(read.line): \(name)")
                }
                let organizations = values(card.fields["ORG"])?.count ?? 0
                #expect(
                    contact.extraProperties.count { $0.contains("ORG") } >= organizations - 1,
                    "\(file.name):\(read.line)")
            }
        }
    }

    /// The values of a field on which the others agree, or of which it was found out who is right; none where the RFC
    /// leaves it open.
    private func values(_ field: JSONValue?) -> [JSONValue]? {
        guard let field, let status = field["status"]?.string else { return nil }
        let open = ["BACKSLASH-COLON", "UNDEFINED-ESCAPE"]
        guard ["unanimous", "pair", "adjudicated"].contains(status), !open.contains(field["rule"]?.string ?? "") else {
            return nil
        }
        let values = field["value"]?.elements.map(Array.init) ?? []
        return values.isEmpty ? nil : values
    }

    private func saysSomething(_ value: String) -> Bool { value.contains { $0 != "|" } }

    private func words(_ text: String) -> Set<String> {
        Set(text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init))
    }
}
