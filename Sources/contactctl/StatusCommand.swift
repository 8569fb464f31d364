import ArgumentParser
import BrokerCommandOutput
import BrokerJSON
import Glibc

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the broker's state, and what this machine cannot protect against.")

    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        // Root requests the figures of all users; other users get their own.
        let reply = try AdminClient(to: "show the status").call("GetStatus") {
            if getuid() == 0 { $0.member("allUsers", true) }
        }
        guard let status = reply["status"], let members = status.members else {
            throw CommandFailure("could not show the status: the contact broker sent none", .notTried)
        }
        guard !json else {
            return CommandJSON.print {
                $0.name("status")
                $0.raw(Array(status.text))
            }
        }
        let rows = members.flatMap { Self.rows($0.name.string ?? "", $0.value) }
        let width = rows.map(\.0.count).max() ?? 0
        for (name, value) in rows {
            print(name + String(repeating: " ", count: width - name.count + 2) + Speech.clean(value))
        }
    }

    /// Returns one row for a member of the status; for `addressBooks`, one row for each book.
    private static func rows(_ name: String, _ value: JSONValue) -> [(String, String)] {
        guard name == "addressBooks", let books = value.elements else { return [(words(name), text(value))] }
        return books.compactMap { book in
            guard let uid = book["uid"], let size = book["MB"] else { return nil }
            return ("address book of user \(text(uid)), MB", text(size))
        }
    }

    /// Splits a member's name into words: `auditRecords` becomes `audit records`, `legacyTIOCSTI` becomes
    /// `legacy TIOCSTI`.
    static func words(_ name: String) -> String {
        var words = ""
        var wasUppercase = true
        for character in Speech.clean(name) {
            if character.isUppercase, !wasUppercase { words += " " }
            words.append(character)
            wasUppercase = character.isUppercase
        }
        return words.split(separator: " ").map {
            $0.dropFirst().contains(where: \.isUppercase) ? String($0) : $0.lowercased()
        }
        .joined(separator: " ")
    }

    static func text(_ value: JSONValue) -> String {
        switch value.kind {
        case .bool: value.bool == true ? "yes" : "no"
        case .string: LocalTime.text(value.string ?? "")
        case .null: "unknown"
        case .integer, .double, .array, .object: String(decoding: value.text, as: UTF8.self)
        }
    }
}
