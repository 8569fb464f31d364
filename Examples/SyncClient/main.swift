// Follows the address book with history tokens: `SyncClient FILE` prints what has changed since its last run, and
// everything on the first run. FILE stores the token.

import Contacts
import Foundation

final class Mirror: CNChangeHistoryEventVisitor {
    func visit(_ event: CNChangeHistoryDropEverythingEvent) { print("start over") }

    func visit(_ event: CNChangeHistoryAddContactEvent) {
        print(event.isGranted ? "now shared" : "added", name(event.contact))
    }

    func visit(_ event: CNChangeHistoryUpdateContactEvent) { print("changed", name(event.contact)) }

    func visit(_ event: CNChangeHistoryDeleteContactEvent) {
        // A contact that is no longer shared may still exist: an app that mirrors it to a server must not delete it there.
        print(event.isRevoked ? "no longer shared" : "deleted")
    }

    func visit(_ event: CNChangeHistoryAddGroupEvent) { print("group added", event.group.name) }

    func visit(_ event: CNChangeHistoryAddMemberToGroupEvent) { print("member added") }

    private func name(_ contact: CNContact) -> String {
        CNContactFormatter.string(from: contact, style: .fullName) ?? "No name"
    }
}

guard CommandLine.arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: SyncClient FILE\n".utf8))
    exit(2)
}
let file = URL(fileURLWithPath: CommandLine.arguments[1])
CNContactStore.usageDescription = "to keep a copy up to date"
let request = CNChangeHistoryFetchRequest()
request.startingToken = try? Data(contentsOf: file)
request.additionalContactKeyDescriptors = [CNContactFormatter.descriptorForRequiredKeys(for: .fullName)]
request.includeGroupChanges = true
request.excludedTransactionAuthors = ["SyncClient"]
do {
    let result = try CNContactStore().changeHistory(for: request)
    let mirror = Mirror()
    for event in result.value { event.accept(mirror) }
    // Only after the events were handled: if the program is interrupted before, it gets them again.
    try result.currentHistoryToken.write(to: file, options: .atomic)
} catch {
    FileHandle.standardError.write(Data("SyncClient: could not catch up: \(error)\n".utf8))
    exit(1)
}
