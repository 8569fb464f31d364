// An app that does one thing with contacts and prints the result, for tests of the library's promises.

import Contacts
import Foundation

let store = CNContactStore()

func contact(_ name: String, _ keys: [CNKeyDescriptor] = names) throws -> CNContact {
    let found = try store.unifiedContacts(
        matching: CNContact.predicateForContacts(matchingName: name), keysToFetch: keys)
    guard let first = found.first else { throw CNError(.recordDoesNotExist) }
    return first
}

func say(_ error: any Error) {
    guard let error = error as? CNError else { return print("another error: \(error)") }
    print("error", error.code.rawValue, error.keyPaths ?? [], error.affectedRecordIdentifiers?.count ?? 0)
}

do {
    switch CommandLine.arguments.dropFirst().first {
    case "unfetched": print(try contact("ada").phoneNumbers)
    case "unfetched-update":
        let ada = try contact("ada").mutableCopy() as? CNMutableContact
        ada?.jobTitle = "Countess"
        print(ada?.jobTitle ?? "")
        let request = CNSaveRequest()
        if let ada { request.update(ada) }
        try store.execute(request)
    case "foreign": _ = try store.unifiedContacts(matching: NSPredicate(value: true), keysToFetch: names)
    case "note": print(try contact("ada", [CNContactNoteKey as CNKeyDescriptor]).note)
    case "all-or-nothing":
        let request = CNSaveRequest()
        let new = CNMutableContact()
        new.givenName = "Mary"
        request.add(new, toContainerWithIdentifier: nil)
        let gone = CNMutableContact()
        gone.givenName = "Nobody"
        request.update(gone)
        do { try store.execute(request) } catch { say(error) }
        print(try store.countOfContacts(matching: CNContact.predicateForContacts(matchingName: "mary")))
    case "cancel":
        let request = CNSaveRequest()
        let new = CNMutableContact()
        new.givenName = "Mary"
        request.add(new, toContainerWithIdentifier: nil)
        request.delete(new)
        try store.execute(request)
        print(try store.countOfContacts())
    case "undo":
        store.keepsUndo = true
        let ada = try contact("ada").mutableCopy() as? CNMutableContact ?? CNMutableContact()
        let grace = try contact("grace").mutableCopy() as? CNMutableContact ?? CNMutableContact()
        let new = CNMutableContact()
        new.givenName = "Mary"
        ada.familyName = "King"
        let request = CNSaveRequest()
        request.add(new, toContainerWithIdentifier: nil)
        request.update(ada)
        request.delete(grace)
        try store.execute(request)
        print(try contact("ada").familyName, try store.countOfContacts(), store.canUndo)
        try store.undoLastSave()
        print(try contact("ada").familyName, try store.countOfContacts(), store.canUndo)
        print(
            try contact("grace", [CNContactEmailAddressesKey as CNKeyDescriptor]).emailAddresses.map {
                $0.value as String
            })
    case "status": print(CNContactStore.authorizationStatus(for: .contacts).rawValue)
    case "request":
        do {
            print(try await store.requestAccess(for: .contacts))
        } catch { say(error) }
        print(CNContactStore.authorizationStatus(for: .contacts).rawValue)
    case "list":
        let request = CNContactFetchRequest(keysToFetch: names)
        request.sortOrder = .familyName
        try store.enumerateContacts(with: request) { contact, _ in print(contact.givenName, contact.familyName) }
    case "outlive":
        var other: CNContactStore? = CNContactStore()
        let request = CNContactFetchRequest(keysToFetch: names)
        request.sortOrder = .familyName
        var kept: [CNContact] = []
        try other?.enumerateContacts(with: request) { contact, _ in kept.append(contact) }
        other = nil
        // Several threads decode the contacts at once, after the store is released.
        let all = kept
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for contact in all { precondition(!contact.familyName.isEmpty) }
        }
        print(kept.map(\.familyName).joined(separator: ","))
    case "button": try await press(for: CommandLine.arguments[2])
    case "typing": try typing()
    case "manage": print(try await contactAccessPicker().count)
    case "pick": try pick()
    case "pick-card": try await pickFromCard()
    case "pick-contacts": try pickContacts()
    case "pick-two": try pickTwo()
    case "pick-unreceivable": try pickUnreceivable()
    case "pick-number": try pickNumber()
    case "offer": try offer()
    case "ask": askWithoutWaiting()
    case "mute", "speak": countTwice()
    case "explained":
        do { _ = try await store.requestAccess(for: .contacts) } catch { print(error.localizedDescription) }
    case "quiet": askNobody()
    case "order": try nameOrder()
    case "words": words()
    case "refusals": try refusals()
    case "last": try lastWins()
    case "revisions": try revisions()
    case "bounds": try bounds()
    case "me": try me()
    case "undo-groups": try undoGroups()
    case "undo-linked": try undoLinked()
    case "request-notes":
        print(try await store.requestAccess(for: .contacts, keysToOffer: [CNContactNoteKey as CNKeyDescriptor]))
        print(try contact("ada", [CNContactNoteKey as CNKeyDescriptor]).note)
    case "request-groups":
        print(try await store.requestAccess(for: .contacts, keysToOffer: [CNGroupsOfOthersKey]))
        print(
            try store.groups(matching: nil).map(\.name),
            try store.authorizedKeys()?.contains(CNGroupsOfOthersKey) ?? false)
    case "linked": try linked()
    case "own-card": try deletesOwnCard()
    case "unified-deletion": try deletesUnified()
    case "history": try history()
    case "watch": try watch()
    case "pages": try pages()
    case "pending": try pending()
    case "abandoned": try abandoned()
    case "failed-step": try failedStep()
    case "identifiers": try identifiers()
    case "advice":
        do { _ = try store.countOfContacts() } catch let error as CNError {
            print(error.failureReason ?? "", error.recoverySuggestion ?? "", separator: "\n")
        }
    case "threads": try threads()
    case "matched-names": try matchNames()
    case "tokens": try strangeTokens()
    case "thumbnail": try thumbnail(of: Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[2])))
    case "notes": try notes()
    case "countries": try countries()
    case "notified": try notified()
    case "formatted": formatted()
    default: exit(2)
    }
} catch {
    say(error)
}
