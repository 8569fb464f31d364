// Runs one of the other files, whose sources compile unchanged on macOS.

import Foundation

switch CommandLine.arguments.dropFirst().first {
case "list": try listContacts()
case "first": try firstContact()
case "search": searchContacts(CommandLine.arguments[2])
case "vcard": try exportVCard(to: CommandLine.arguments[2])
case "json": try exportJSON()
case "edit": try addAndEdit()
case "groups": try groups()
case "birthdays": try await birthdays(month: Int(CommandLine.arguments[2]) ?? 1)
case "me": meCard()
case "wrapped": try wrapped()
default: exit(2)
}
