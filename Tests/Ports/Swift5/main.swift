// Runs one of the other files, whose sources compile unchanged on macOS.

import Foundation

switch CommandLine.arguments.dropFirst().first {
case "list": try listContacts()
case "first": try firstContact()
case "edit": try addAndEdit()
case "groups": try groups()
case "wrapped": try wrapped()
case "fakes": try fakeContacts()
default: exit(2)
}
