import BookSamples
import BrokerJSON
import BrokerModel
import BrokerVCard
import Testing

@Suite(
    "Cards of other programs",
    .enabled(if: CardFolder.path != nil, "CONTACTBROKER_CARDS names no folder"))
struct CollectedCardsTests {
    /// A field that our reader reads differently from the other parsers, and why. Documentation/VCard.md has the same
    /// table.
    struct Disagreement {
        let file: String
        let field: String
        let why: String
    }

    static let disagreements = [
        Disagreement(
            file: "android-vcard/raw__v21_invalid_multiple_line.vcf", field: "EMAIL",
            why: "vCard 2.1, Delimiters: unfolding takes the line break away, and leaves all white space"),
        Disagreement(
            file: "android-vcard/raw__v21_malformed_photo.vcf", field: "PHOTO",
            why: "RFC 2045 §6.8: a colon is no base64; what is before it is no picture, and that is said"),
        Disagreement(
            file: "calcard/vcard__rfc.vcf", field: "PHOTO",
            why: "118 bytes that begin as no picture does (RFC 2426 §3.1.4 wants an image); that is said"),
        Disagreement(
            file: "gammu/vcards__char-escaping.vcf", field: "NOTE",
            why: "vCard 2.1, Delimiters: \\; is the only escape, so the backslash of \\M is text"),
        Disagreement(
            file: "qtpim/testdata_vcf__badwrap.vcf", field: "PHOTO",
            why: "base64 whose lines go on without white space: the whole picture, not its first line"),
    ]

    @Test("No card crashes the reader, and every card that is read can be saved")
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
        "Every valid or nearly valid card has the values that the other parsers read",
        arguments: KeptValue.all.map(\.field))
    func kept(field: String) throws {
        let value = try #require(KeptValue.all.first { $0.field == field })
        var compared = 0
        var differing: Set<String> = []
        for file in try CollectedFile.all() where file.validity != .malformed {
            for (item, fields) in zip(items(file.bytes), file.cards) {
                guard case .card(let read) = item, let expected = values(fields[field]) else { continue }
                let theirs = value.theirs(expected).filter(saysSomething)
                // If N is empty, the formatted name is the name.
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
            #expect(differing.contains(known.file), "the difference no longer exists: \(known.why)")
        }
    }

    @Test(
        "Preferred values come first, and every type is the label or is written again",
        arguments: ["TEL", "EMAIL", "ADR", "URL"])
    func types(field: String) throws {
        var compared = 0
        for file in try CollectedFile.all() where file.validity != .malformed {
            for (item, fields) in zip(items(file.bytes), file.cards) {
                guard case .card(let read) = item, let expected = values(fields[field]) else { continue }
                let written = WrittenProperty.all(VCardWriter(version: .v3_0).card(read.contact)).filter {
                    $0.name == field
                }
                let preferred = expected.filter { $0["pref"]?.bool == true }
                if !preferred.isEmpty, written.count > 1 {
                    #expect(
                        written.first.map { first in preferred.contains { Self.isSame(first, $0) } } == true,
                        "\(file.name):\(read.line)")
                }
                for value in expected {
                    let types = Set(value["types"]?.elements?.compactMap(\.string) ?? [])
                        .subtracting(["voice", "internet", "pref"])
                    // Two equal numbers may have different types.
                    let ours = written.filter { Self.isSame($0, value) }
                    if ours.isEmpty { continue }
                    compared += 1
                    #expect(
                        ours.contains { one in types.allSatisfy { one.says($0) } },
                        "\(file.name):\(read.line): \(types), but \(ours)")
                }
            }
        }
        #expect(compared > 0)
    }

    private static func isSame(_ written: WrittenProperty, _ theirs: JSONValue) -> Bool {
        let value = theirs["value"]?.string ?? theirs["value"]?.elements?.compactMap(\.string).joined() ?? ""
        func plain(_ text: String) -> String {
            text.replacing("tel:", with: "").replacing(";ext=", with: "ext.").replacing("mailto:", with: "").replacing(
                "\\n", with: ""
            ).filter {
                !$0.isWhitespace && $0 != ";" && $0 != "\\"
            }
        }
        return plain(written.value) == plain(value)
    }

    /// Whether only properties about the card itself have a value.
    private static func saysNothing(_ bytes: [UInt8]) -> Bool {
        bytes.split { $0 == 0x0A || $0 == 0x0D }.allSatisfy { line in
            let name = String(decoding: line.prefix { $0 != 0x3A && $0 != 0x3B }, as: UTF8.self)
            return ["BEGIN", "END", "VERSION", "UID", "PRODID", "REV"].contains(name)
                || line.dropFirst(name.utf8.count).allSatisfy { $0 == 0x3A || $0 == 0x3B }
        }
    }

    @Test("Every valid card is read completely, without a reported problem")
    func whole() throws {
        for file in try CollectedFile.all() where file.validity == .valid {
            let read = items(file.bytes)
            #expect(read.count == file.cards.count, "\(file.name)")
            let found = problems(read).filter { $0.reason != .empty || !Self.saysNothing(file.bytes) }
            #expect(found.isEmpty, "\(file.name): \(found)")
            if file.name == Self.brokenPhoto { continue }
            // A date in a valid card can be no day.
            let remarks = cards(read).flatMap(\.remarks).filter { $0.reason != .badDate }
            #expect(remarks.isEmpty, "\(file.name): \(remarks)")
        }
    }

    /// This card's lines are valid, but its photo is not, which the reader reports.
    private static let brokenPhoto = "android-vcard/raw__v21_malformed_photo.vcf"

    @Test("Every malformed card is reported, and its readable parts are read")
    func malformed() throws {
        let files = try CollectedFile.all().filter { $0.validity == .malformed }
        #expect(files.count == Self.malformed.count)
        for file in files {
            let expected = try #require(Self.malformed[file.name], "\(file.name)")
            let read = items(file.bytes)
            let said = Set(problems(read).map(\.reason) + cards(read).flatMap(\.remarks).map(\.reason))
            #expect(cards(read).count == expected.cards, "\(file.name)")
            #expect(said == expected.said, "\(file.name)")
        }
    }

    /// The number of contacts in each file, and the reported problems. Without contacts the file has no card.
    private static let malformed: [String: (cards: Int, said: Set<CardProblem.Reason>)] = [
        "cozy-vcard/contactA__davdroid.vcf": (1, [.oddEnd]), "cozy-vcard/contactA__sogo.vcf": (1, []),
        "eds/vcard__7.vcf": (0, []), "eds/vcard__8.vcf": (1, [.missingEnd]),
        "eds/vcard__9.vcf": (1, [.missingEnd, .notAContentLine]),
        "folkerkinzel/AnsiFilterExamples__German.vcf": (1, [.notUTF8]),
        "folkerkinzel/AnsiFilterExamples__Greek.vcf": (1, [.notUTF8]),
        "folkerkinzel/AnsiFilterExamples__Ukrainian.vcf": (1, [.notUTF8]),
        "folkerkinzel/MultiAnsiFilterTests__Murks.vcf": (1, [.notUTF8]),
        "folkerkinzel/TestFiles__AnsiIssue.vcf": (1, [.notUTF8]),
        "folkerkinzel/TestFiles__AnsiIssueInvalidEncoding.vcf": (1, [.notUTF8]),
        "folkerkinzel/TestFiles__AnsiIssueNoEncoding.vcf": (1, [.notUTF8]),
        "folkerkinzel/TestFiles__Cropped_2_1.vcf": (1, [.missingEnd, .notUTF8, .notAContentLine]),
        "folkerkinzel/TestFiles__Empty.vcf": (0, []),
        "gammu/vcards__se-2.vcf": (1, [.oddEnd]), "kcontacts/data__vcard9.vcf": (1, []),
        "monica/Jobs__stub.vcf": (0, []), "qtpim/testdata_vcf__AAB4-MultipleAll.vcf": (3, []),
        "qtpim/testdata_vcf__AAB4-SingleNonAscii.vcf": (1, []),
        "qtpim/testdata_vcf__AAB4-SingleNonAsciiWithPhoto.vcf": (1, []),
        "qtpim/testdata_vcf__Entourage11-basic.vcf": (1, []), "qtpim/testdata_vcf__Entourage11-nonascii.vcf": (1, []),
    ]

    @Test("A formatted name that differs from the name is kept, and so is a second organisation")
    func keptAside() throws {
        for file in try CollectedFile.all() where file.validity == .valid {
            for (item, fields) in zip(items(file.bytes), file.cards) {
                guard case .card(let read) = item else { continue }
                let contact = read.contact
                var known = [
                    contact.namePrefix, contact.givenName, contact.middleName, contact.familyName,
                    contact.nameSuffix, contact.nickname, contact.organizationName,
                ]
                known += (contact.emailAddresses + contact.phoneNumbers + contact.urlAddresses).prefix(1).map(\.value)
                for name in values(fields["FN"]) ?? [] {
                    let name = name.string ?? ""
                    #expect(
                        words(name).isSubset(of: words(known.joined(separator: " ")))
                            || contact.extraProperties.contains { $0.contains("FN") },
                        "\(file.name):\(read.line): \(name)")
                }
                let organizations =
                    values(fields["ORG"])?.count { $0.elements?.contains { $0.string != "" } == true } ?? 0
                #expect(
                    contact.extraProperties.count { $0.contains("ORG") } >= organizations - 1,
                    "\(file.name):\(read.line)")
            }
        }
    }

    /// The values of a field on which the other parsers agree, or for which the right one was determined.
    private func values(_ field: JSONValue?) -> [JSONValue]? {
        guard let field, let status = field["status"]?.string else { return nil }
        guard ["unanimous", "pair", "adjudicated"].contains(status) else { return nil }
        let values = field["value"]?.elements.map(Array.init) ?? []
        return values.isEmpty ? nil : values
    }

    private func saysSomething(_ value: String) -> Bool { value.contains { $0 != "|" } }

    private func words(_ text: String) -> Set<String> {
        Set(text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init))
    }
}
