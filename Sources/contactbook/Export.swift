import BrokerCommandOutput
import BrokerContactFiles
import BrokerModel
import BrokerVCard
import Contacts
import Foundation

/// A destination to which cards are written one after the other.
protocol CardOutput {
    /// - Parameters:
    ///   - uid: identifies the card; it is the same in every run.
    ///   - spare: the identifier to use in the file name if a card with this UID was already written.
    func write(_ card: [UInt8], uid: String, spare: String) throws
    /// Finishes the output. Called after the last card.
    func finish() throws
}

/// One run of `export`. It works page by page, so memory use does not grow with the photos and texts of the
/// book.
struct Export {
    let book: AddressBook
    let keys: ContactKeySet
    /// Whether to write notes and all extra properties. Without them, a card keeps its UID if it can be read.
    let hasNotes: Bool
    let version: VCardVersion
    let output: any CardOutput
    private(set) var contacts = 0
    private(set) var groups = 0
    /// The cards' own UIDs by card identifier. A written card that is missing here has a UID made from its
    /// identifier.
    private var uids: [String: String] = [:]
    private var written: Set<String> = []

    enum Selection {
        /// `nil` selects all contacts.
        case search(NSPredicate?)
        case cards([String])
    }

    init(book: AddressBook, keys: ContactKeySet, hasNotes: Bool, version: VCardVersion, output: any CardOutput) {
        (self.book, self.keys, self.hasNotes) = (book, keys, hasNotes)
        (self.version, self.output) = (version, output)
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
        if !hasNotes { contact.extraProperties = ContactUID.only(of: contact) }
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

    /// Writes a group card for each group, or for one group only. Members that were not exported are left
    /// out.
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

    /// Returns one of the broker's identifiers as a UUID; any other identifier is returned unchanged.
    private static func made(_ identifier: String) -> String { ContactUID.made(from: identifier) ?? identifier }
}

/// Writes all cards to standard output.
struct StandardOutput: CardOutput {
    func write(_ card: [UInt8], uid: String, spare: String) throws {
        guard OutputFile.write(card, to: STDOUT_FILENO) else {
            throw OutputFile.failure("export the contacts", "standard output", errno)
        }
    }

    func finish() {}
}

/// Writes all cards into one file, which is renamed into place at the end.
extension OutputFile: CardOutput {
    func write(_ card: [UInt8], uid: String, spare: String) throws { try write(card) }
}
