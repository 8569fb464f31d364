import Foundation
import Testing

/// Checks that no name of Apple's is missing without a reason: each is in `EveryName.swift`, or below. The table in
/// `Documentation/Porting.md` is made from the lists below: `CONTACTBROKER_APPROVE=1 swift test` writes it.
@Suite("Names of Apple's library")
struct NameTests {
    /// Names that `import ContactsUI` declares as unavailable, with the compiler's message.
    private static let unavailable = [
        "CNContactPicker": "use CNContactPickerViewController and its present(): the person's agent shows it",
        "CNContactViewController(for:)":
            "fetch the contact with descriptorForRequiredKeys() and display it yourself",
        "allowsEditing": noCard,
        "allowsActions": noCard,
        "shouldShowLinkedContacts": noCard,
        "alternateName": noCard,
        "highlightProperty": noCard,
        "contactStore": "remove it: the broker saves the card after the person agrees",
        "parentGroup": "remove it: the person decides where a card goes",
        "parentContainer": "remove it: the person decides where a card goes",
        "contactAccessButtonStyle": noButton,
        "ContactAccessButton.Style": noButton,
        "font": noButton,
        "foregroundStyle": noButton,
        "tint": noButton,
        "setValue": "set the property itself: Foundation on Linux has no key-value coding",
    ]
    private static let noCard = "remove it: the library draws no card"
    private static let noButton = "remove it: your app draws its own button, whose action calls press()"

    /// Names that the compiler does not know, and what to use instead.
    private static let unknown = [
        "NSItemProviderReading": noProviders,
        "NSItemProviderWriting": noProviders,
        "enumeratorForContactFetchRequest": "Objective-C's name: use enumerator(for:)",
        "enumeratorForChangeHistoryFetchRequest": "Objective-C's name: use enumerator(for:)",
        "contactAccessPicker(isPresented:)": "there is no SwiftUI: call contactAccessPicker(completionHandler:)",
        "contactPickerWillClose": "remove it: macOS calls it for CNContactPicker",
        "contactPickerDidClose": "remove it: macOS calls it for CNContactPicker",
    ]
    private static let noProviders =
        "Foundation on Linux has no item providers: use CNContactVCardSerialization.data(with:)"

    private static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: root + "/" + path, encoding: .utf8)
    }

    private static let wanted = """
        isKeyAvailable areKeysAvailable localizedString comparator descriptorForAllComparatorKeys isUnifiedWithContact
        CNContactPropertyNotFetchedExceptionName predicateForContacts predicateForContactsInGroup
        predicateForContactsInContainer predicateForGroups predicateForGroupsInContainer predicateForSubgroupsInGroup
        predicateForContainers predicateForContainerOfContact predicateForContainerOfGroup authorizationStatus requestAccess
        unifiedContact unifiedContacts unifiedMeContactWithKeys enumerateContacts enumeratorForContactFetchRequest
        enumeratorForChangeHistoryFetchRequest groups containers defaultContainerIdentifier execute currentHistoryToken
        CNContactStoreDidChange CNFetchResult predicate keysToFetch sortOrder unifyResults mutableObjects addMember
        removeMember addSubgroup removeSubgroup transactionAuthor shouldRefetchContacts startingToken
        additionalContactKeyDescriptors shouldUnifyResults includeGroupChanges excludedTransactionAuthors
        CNChangeHistoryDropEverythingEvent CNChangeHistoryAddContactEvent CNChangeHistoryUpdateContactEvent
        CNChangeHistoryDeleteContactEvent CNChangeHistoryAddGroupEvent CNChangeHistoryUpdateGroupEvent
        CNChangeHistoryDeleteGroupEvent CNChangeHistoryAddMemberToGroupEvent CNChangeHistoryRemoveMemberFromGroupEvent
        CNChangeHistoryAddSubgroupToGroupEvent CNChangeHistoryRemoveSubgroupFromGroupEvent CNChangeHistoryEventVisitor
        attributedString descriptorForRequiredKeys descriptorForRequiredKeysForNameOrder descriptorForRequiredKeysForDelimiter
        nameOrder delimiter CNContactPropertyAttribute CNPostalAddressPropertyAttribute
        CNPostalAddressLocalizedPropertyNameAttribute CNPostalAddressStreetKey CNPostalAddressSubLocalityKey
        CNPostalAddressCityKey CNPostalAddressSubAdministrativeAreaKey CNPostalAddressStateKey CNPostalAddressPostalCodeKey
        CNPostalAddressCountryKey CNPostalAddressISOCountryCodeKey CNContactVCardSerialization settingLabel settingValue
        CNContactRelation CNContactProperty CNContactsUserDefaults countryCode CNKeyDescriptor
        CNErrorUserInfoAffectedRecordsKey CNErrorUserInfoAffectedRecordIdentifiersKey CNErrorUserInfoValidationErrorsKey
        CNErrorUserInfoKeyPathsKey displayedPropertyKeys predicateForEnablingContact predicateForSelectionOfContact
        predicateForSelectionOfProperty contactPickerDidCancel contactPicker forUnknownContact forNewContact
        ContactAccessButton queryString ignoredEmails ignoredPhoneNumbers approvalCallback contactAccessButtonCaption
        contactAccessButtonStyle contactAccessPicker allowsEditing allowsActions shouldShowLinkedContacts highlightProperty
        alternateName contactStore parentGroup parentContainer CNContactViewControllerDelegate didCompleteWith
        shouldPerformDefaultActionFor message CNContactPicker NSItemProviderReading NSItemProviderWriting
        contactPickerWillClose contactPickerDidClose ContactAccessButton.Style CNContactViewController(for:)
        contactAccessPicker(isPresented:) font foregroundStyle tint setValue
        """

    @Test("Each name is used, or has a reason why it is absent")
    func all() throws {
        let source = try Self.text("Tests/ContactsTests/EveryName.swift")
        let words = Set(source.split { !($0.isLetter || $0.isNumber) }.map(String.init))
        let absent = Self.unavailable.merging(Self.unknown) { reason, _ in reason }
        let wanted = Set(Self.wanted.split(whereSeparator: \.isWhitespace).map(String.init))
        for name in wanted {
            let isThere = words.contains(name)
            #expect(
                isThere != (absent[name] != nil),
                "\(name) is \(isThere ? "used, but listed as absent" : "forgotten")")
        }
        #expect(Set(absent.keys).isSubset(of: wanted))
    }

    @Test("Each name of 2015 is used")
    func namesOf2015() throws {
        let used = try Self.text("Tests/ContactsTests/NamesOf2015.swift").split { !($0.isLetter || $0.isNumber) }
        let words = Set(used.map(String.init))
        var names = 0
        for line in try Self.text("Sources/Contacts/Deprecated.swift").split(separator: "\n") {
            let parts = line.split { !($0.isLetter || $0.isNumber) }.map(String.init)
            guard parts.contains("public"),
                let kind = parts.firstIndex(where: { ["func", "var", "let", "typealias"].contains($0) })
            else { continue }
            names += 1
            #expect(words.contains(parts[kind + 1]), "\(parts[kind + 1]) is forgotten")
        }
        #expect(names > 70)
    }

    @Test("The compiler's message for an unavailable name is the one in the table")
    func messages() throws {
        var found: [String: String] = [:]
        var message = ""
        let sources = ["Sources/ContactsUI/Unavailable.swift", "Sources/Contacts/Model/CNContact+Keys.swift"]
        for line in try sources.map(Self.text).joined().split(separator: "\n") {
            if let start = line.range(of: "message: \""), let end = line.range(of: "\"", options: .backwards) {
                message = String(line[start.upperBound..<end.lowerBound])
            } else if line.contains("public "), !message.isEmpty {
                let words = line.split { !($0.isLetter || $0.isNumber) }.map(String.init)
                let kind = try #require(
                    words.firstIndex { ["class", "struct", "var", "func", "convenience"].contains($0) })
                found[words[kind + 1]] = message
                message = ""
            }
        }
        let expected = Self.unavailable.map { name, message in
            switch name {
            case "CNContactViewController(for:)": ("init", message)
            case "ContactAccessButton.Style": ("Style", message)
            default: (name, message)
            }
        }
        #expect(found == Dictionary(uniqueKeysWithValues: expected))
    }

    @Test("The table in Porting.md lists each absent name")
    func table() throws {
        let rows =
            Self.unavailable.map { (name: $0.key, says: "unavailable, and what to do", instead: $0.value) }
            + Self.unknown.map { (name: $0.key, says: "cannot find", instead: $0.value) }
        var table = "| Name | The compiler reports | What to do |\n|---|---|---|\n"
        for row in rows.sorted(by: { $0.name.lowercased() < $1.name.lowercased() }) {
            table += "| `\(row.name)` | \(row.says) | \(row.instead) |\n"
        }
        let text = try Self.text("Documentation/Porting.md")
        let start = try #require(text.range(of: "| Name | The compiler reports"))
        let end = try #require(text.range(of: "\n\n", range: start.lowerBound..<text.endIndex))
        let written = text[start.lowerBound..<end.lowerBound] + "\n"
        guard ProcessInfo.processInfo.environment["CONTACTBROKER_APPROVE"] == nil else {
            let new = text[..<start.lowerBound] + table + text[text.index(after: end.lowerBound)...]
            return try String(new).write(
                toFile: Self.root + "/Documentation/Porting.md", atomically: true, encoding: .utf8)
        }
        #expect(written == table, "CONTACTBROKER_APPROVE=1 swift test --filter NameTests writes the table")
    }
}
