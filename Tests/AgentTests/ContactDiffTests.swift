import BrokerFormatting
import BrokerModel
import Testing

@testable import contact_agent

@Suite("What a save changes in a contact")
struct ContactDiffTests {
    private static let ada: Contact = {
        var ada = Contact()
        ada.givenName = "Ada"
        ada.familyName = "Lovelace"
        ada.phoneNumbers = [
            LabeledString(identifier: 1, label: PredefinedLabel.mobile, value: "+44 1"),
            LabeledString(identifier: 2, label: "_$!<Work>!$_", value: "+44 2"),
            LabeledString(identifier: 3, value: "+44 3"),
        ]
        ada.note = "met in London"
        return ada
    }()

    /// The lines as the person reads them, without what separates them.
    private func lines(
        _ former: Contact?, _ latter: Contact?, photo: ContactDiff.Photo? = nil, language: String = "en"
    ) -> [String] {
        ContactDiff(from: former, to: latter, photo: photo, LocalizedNames(languages: [language])).lines.map { line in
            let mark =
                switch line.mark {
                case .removed: "-"
                case .added: "+"
                case .former: "<"
                case .latter: ">"
                case .order: "#"
                }
            return "\(mark) \(line.label): \(line.text)"
        }
    }

    private func changed(_ change: (inout Contact) -> Void) -> [String] {
        var latter = Self.ada
        change(&latter)
        return lines(Self.ada, latter)
    }

    @Test("A contact that stays the same has no lines")
    func same() {
        #expect(lines(Self.ada, Self.ada).isEmpty)
        // The broker sets these, so no save changes them.
        #expect(changed { $0.modificationDate = "2026-01-01T00:00:00Z" }.isEmpty)
        #expect(changed { for index in $0.phoneNumbers.indices { $0.phoneNumbers[index].identifier = nil } }.isEmpty)
    }

    @Test("An added or deleted contact has every value")
    func whole() {
        let all = [
            "given name: Ada", "family name: Lovelace", "mobile: +44 1", "work: +44 2", "phone: +44 3",
            "note: met in London",
        ]
        #expect(lines(nil, Self.ada) == all.map { "+ " + $0 })
        #expect(lines(Self.ada, nil) == all.map { "- " + $0 })
        var company = Contact()
        company.contactType = .organization
        company.organizationName = "Analytical"
        company.imageDataAvailable = true
        #expect(
            lines(company, nil) == [
                "- kind of contact: organization", "- organization: Analytical", "- photo: (has a photo)",
            ])
    }

    @Test("Every key that a save can change has a line")
    func everyKey() {
        for key in ContactKey.allCases where !ContactKeySet.readOnly.contains(key) && key != .imageData {
            var latter = Self.ada
            switch key {
            case .contactType: latter.contactType = .organization
            case .phoneNumbers: latter.phoneNumbers.removeLast()
            case .emailAddresses: latter.emailAddresses = [LabeledString(value: "a@b")]
            case .postalAddresses:
                latter.postalAddresses = [PostalAddress()]
                latter.postalAddresses[0].city = "London"
            case .dates: latter.dates = [LabeledString(value: "1843-09-01")]
            case .urlAddresses: latter.urlAddresses = [LabeledString(value: "https://a.example")]
            case .contactRelations: latter.contactRelations = [LabeledString(value: "Byron")]
            case .socialProfiles:
                latter.socialProfiles = [SocialProfile()]
                latter.socialProfiles[0].userIdentifier = "7"
            case .instantMessageAddresses:
                latter.instantMessageAddresses = [InstantMessageAddress()]
                latter.instantMessageAddresses[0].username = "ada"
            case .extraProperties: latter.extraProperties = ["X-A:1"]
            default: latter.setText("new", of: key)
            }
            let isText = Self.ada.text(of: key)?.isEmpty == false || key == .contactType
            #expect(lines(Self.ada, latter).count == (isText ? 2 : 1), "\(key)")
        }
    }

    @Test("A value with another text, label or field is listed before and after")
    func replaced() {
        #expect(changed { $0.familyName = "King" } == ["< family name: Lovelace", "> family name: King"])
        #expect(changed { $0.note = "" } == ["- note: met in London"])
        #expect(changed { $0.nickname = "A" } == ["+ nickname: A"])
        #expect(changed { $0.phoneNumbers[1].value = "+44 9" } == ["< work: +44 2", "> work: +44 9"])
        #expect(changed { $0.phoneNumbers[1].label = "club" } == ["< work: +44 2", "> club: +44 2"])
        #expect(changed { $0.phoneNumbers[1].label = nil } == ["< work: +44 2", "> phone: +44 2"])
        var (former, latter) = (Contact(), Contact())
        former.postalAddresses = [PostalAddress()]
        former.postalAddresses[0].identifier = 1
        former.postalAddresses[0].country = "Ireland"
        former.postalAddresses[0].isoCountryCode = "gb"
        latter = former
        latter.postalAddresses[0].isoCountryCode = "ie"
        // Not part of an address as it is written.
        #expect(lines(former, latter).map { String($0.suffix(2)) } == ["gb", "ie"])
    }

    @Test("Values are the same by identifier, or else if they are equal; removed ones come first")
    func identity() {
        #expect(
            changed {
                $0.phoneNumbers = [
                    LabeledString(label: "_$!<Work>!$_", value: "+44 2"), LabeledString(value: "+44 5"),
                    LabeledString(identifier: 3, value: "+44 4"), LabeledString(identifier: 99, value: "+44 6"),
                ]
            } == ["- mobile: +44 1", "+ phone: +44 5", "< phone: +44 3", "> phone: +44 4", "+ phone: +44 6"])
        // A former value is the same as one later value at most.
        #expect(changed { $0.phoneNumbers.append($0.phoneNumbers[2]) } == ["+ phone: +44 3"])
    }

    @Test("Another order is said, with all values in their new order")
    func order() {
        #expect(
            changed { $0.phoneNumbers.swapAt(0, 2) } == [
                "# phone: (in another order)", "# phone: +44 3", "# work: +44 2", "# mobile: +44 1",
            ])
        // What only moves up because a value is removed has no other order.
        #expect(changed { $0.phoneNumbers.removeFirst() } == ["- mobile: +44 1"])
    }

    @Test("A photo is named in words")
    func photo() {
        #expect(lines(Self.ada, Self.ada, photo: .added) == ["+ photo: (has a photo)"])
        #expect(lines(Self.ada, Self.ada, photo: .changed) == ["> photo: (another photo)"])
        #expect(lines(Self.ada, Self.ada, photo: .removed) == ["- photo: (has a photo)"])
        #expect(changed { $0.imageDataAvailable = true } == ["+ photo: (has a photo)"])
    }

    @Test(
        "Texts are safe for a terminal; texts that only look the same are listed, and a cut one ends with an ellipsis")
    func untrusted() {
        #expect(changed { $0.nickname = "a\u{1B}[2J\nb\u{202E}" } == ["+ nickname: a[2J b"])
        #expect(
            changed { $0.phoneNumbers[1].label = "[y]\n\u{1B}c" } == ["< work: +44 2", "> [y] c: +44 2"])
        #expect(changed { $0.familyName += "\u{200B}" } == ["< family name: Lovelace", "> family name: Lovelace"])
        #expect(changed { $0.phoneNumbers[1].value += "\u{200B}" } == ["< work: +44 2", "> work: +44 2"])
        #expect(changed { $0.phoneNumbers[2].label = "phone" } == ["< phone: +44 3", "> phone: +44 3"])
        let long = changed { $0.note = String(repeating: "x", count: DisplayText.inputSize + 1) }
        #expect(long.count == 2 && long[1].hasSuffix("x…"))
    }

    @Test("A long value and a long label are whole on the screen, and no line is too wide", arguments: [60, 80, 200])
    func whole(columns: Int) {
        var latter = Self.ada
        let url = "https://example.org/" + String((0..<300).map { _ in "q" }) + "end"
        latter.urlAddresses = [LabeledString(label: String(repeating: "label ", count: 30) + "end", value: url)]
        latter.note = "محمد " + String(repeating: "one two ", count: 60) + "three"
        for language in ["en", "ar"] {
            let names = LocalizedNames(languages: [language])
            let lines = ContactDiff(from: Self.ada, to: latter, names).styledLines(columns: columns)
            for line in lines {
                #expect(Columns.width(line.text) <= columns)
                #expect(Isolates.open(in: line.text).isEmpty)
            }
            let text = lines.map { $0.text.filter { $0.isLetter && $0.isASCII } }.joined()
            #expect(text.contains(url.filter { $0.isLetter && $0.isASCII }))
            #expect(text.contains(String(repeating: "label", count: 30) + "end"))
            #expect(text.contains(String(repeating: "onetwo", count: 60) + "three"))
        }
    }
}
