import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import BrokerVCard
import Contacts
import Foundation

/// Where cards go, one after the other.
protocol CardOutput {
    /// - Parameters:
    ///   - uid: names the card, the same each time.
    ///   - spare: another name, where a card of that UID was written already.
    func write(_ card: [UInt8], uid: String, spare: String) throws
    /// All were written.
    func finish() throws
}

/// One run of `export`: page by page, so that a large book needs no memory.
struct Export {
    let book: AddressBook
    let keys: ContactKeySet
    let version: VCardVersion
    let output: any CardOutput
    private(set) var contacts = 0
    private(set) var groups = 0
    /// UIDs that cards have of their own, by the cards' identifiers; what was written and is not here has a made one.
    private var uids: [String: String] = [:]
    private var written: Set<String> = []

    enum Selection {
        /// `nil` for all.
        case search(NSPredicate?)
        case cards([String])
    }

    init(book: AddressBook, keys: ContactKeySet, version: VCardVersion, output: any CardOutput) {
        (self.book, self.keys, self.version, self.output) = (book, keys, version, output)
    }

    mutating func write(_ selection: Selection) throws {
        let writer = VCardWriter(version: version)
        switch selection {
        case .search(let predicate):
            let page = keys.contains(.imageData) ? 50 : AddressBook.pageSize
            try book.fetch(keys, predicate, unify: false, page: page) { try write($0, writer) }
        case .cards(let identifiers): try book.fetch(cards: identifiers, keys) { try write($0, writer) }
        }
    }

    private mutating func write(_ wire: WireContact, _ writer: VCardWriter) throws {
        guard let identifier = wire.identifier else { return }
        var contact = wire.contact
        let made = Self.made(identifier)
        let own = ContactUID.of(contact)
        if let own {
            uids[identifier] = own
        } else {
            contact.extraProperties.append("UID:\(version == .v4_0 ? "urn:uuid:" : "")\(made)")
        }
        written.insert(identifier)
        try output.write(writer.card(contact), uid: own ?? made, spare: made)
        contacts += 1
        if contacts.isMultiple(of: 100) { Speech.progress("\(contacts) contacts exported") }
    }

    /// Groups as cards that name their members; members that were not written are left out.
    mutating func writeGroups(only: CNGroup?) throws {
        let all = try book.groups()
        let writer = VCardWriter(version: version)
        for group in only.map({ [$0] }) ?? all {
            let members = try book.members(of: group.identifier).filter(written.contains).map(uri)
            let inner = only == nil ? all.filter { $0.parentGroupIdentifiers.contains(group.identifier) } : []
            let made = Self.made(group.identifier)
            let card = writer.group(
                named: group.name, uid: "urn:uuid:\(made)",
                members: members + inner.map { "urn:uuid:\(Self.made($0.identifier))" })
            try output.write(card, uid: made, spare: made)
            groups += 1
        }
    }

    private func uri(_ identifier: String) -> String {
        uids[identifier].map(ContactUID.uri) ?? "urn:uuid:\(Self.made(identifier))"
    }

    /// The broker's identifiers have the length of a UUID; whatever else comes is taken as it is.
    private static func made(_ identifier: String) -> String { ContactUID.made(from: identifier) ?? identifier }
}

/// All cards behind one another.
struct StandardOutput: CardOutput {
    func write(_ card: [UInt8], uid: String, spare: String) throws {
        guard OutputFile.write(card, to: STDOUT_FILENO) else {
            throw OutputFile.failure("export the contacts", "standard output", errno)
        }
    }

    func finish() {}
}

/// All cards behind one another, in a file that comes into its place at the end.
extension OutputFile: CardOutput {
    func write(_ card: [UInt8], uid: String, spare: String) throws { try write(card) }
}
