// Runs one of the other files, whose sources compile unchanged on macOS.

import Foundation

switch CommandLine.arguments.dropFirst().first {
case "search": searchContacts(CommandLine.arguments[2])
case "vcard": try exportVCard(to: CommandLine.arguments[2])
case "json": try exportJSON()
case "birthdays": try await birthdays(month: Int(CommandLine.arguments[2]) ?? 1)
case "me": meCard()
case "audit":
    let model = AuditViewModel()
    await model.load()
    print(model.lines.joined(separator: "\n"))
case "recipients": pickRecipients()
case "mock": try await useMock()
default: exit(2)
}
