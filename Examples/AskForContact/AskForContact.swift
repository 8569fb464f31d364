import BrokerConnection
import BrokerFormatting
import BrokerJSON
import BrokerModel
import BrokerVarlinkClient

// A small app that asks for one contact by name. Unless the person shares a contact, the app does not learn whether it
// exists.

/// The agent shows the matches to the person. The app receives only what the person picks.
func ask(for query: String, _ broker: VarlinkClient) throws(VarlinkClientError) -> [JSONValue] {
    let granted = try broker.call("io.contactbroker.Contacts.RequestContacts") {
        $0.member("query", query)
        $0.member("purpose", "to show what an app receives")
    }
    let identifiers = granted["identifiers"]?.elements?.compactMap(\.string) ?? []
    guard !identifiers.isEmpty else { return [] }
    let fetched = try broker.call("io.contactbroker.Contacts.FetchContacts") {
        $0.name("predicate")
        $0.object { $0.member("identifiers", identifiers) }
        $0.member("keys", ["givenName", "familyName", "organizationName", "phoneNumbers", "emailAddresses"])
    }
    return fetched["contacts"]?.elements.map(Array.init) ?? []
}

/// Contacts contain untrusted text, so only visible characters are printed to the terminal.
func lines(_ contact: JSONValue) -> [String] {
    let names = ["givenName", "familyName"].compactMap { contact[$0]?.string }.filter { !$0.isEmpty }
    var lines = [names.isEmpty ? contact["organizationName"]?.string ?? "" : names.joined(separator: " ")]
    for key in ["phoneNumbers", "emailAddresses"] {
        lines += contact[key]?.elements?.compactMap { $0["value"]?.string }.map { "  " + $0 } ?? []
    }
    return lines.map { $0.hasPrefix("  ") ? "  " + DisplayText.line($0) : DisplayText.line($0) }
}

@main
enum AskForContact {
    static func main() {
        let words = CommandLine.arguments.dropFirst()
        guard !words.isEmpty else {
            print("usage: AskForContact NAME")
            return
        }
        do {
            let contacts = try ask(for: words.joined(separator: " "), BrokerConnection.connect(to: .apps))
            if contacts.isEmpty { print("Nothing was shared.") }
            for line in contacts.flatMap(lines) { print(line) }
        } catch {
            print("No contact: \(error)")
        }
    }
}
