import BrokerCommandOutput
import BrokerContactFiles
import BrokerFormatting
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
    let writer: Writer
    let output: any CardOutput
    private(set) var contacts = 0
    private(set) var groups = 0
    /// The cards' own UIDs by card identifier. A written card that is missing here has a UID made from its
    /// identifier.
    private var uids: [String: String] = [:]
    private var written: Set<String> = []
    /// `nil` if groups get UIDs that are made from their identifiers, as cards do whose UIDs cannot be read.
    private let groupUIDs: GroupUIDs?
    /// The names of written LDIF entries by card or group identifier.
    private var names: [String: String] = [:]
    /// ``names`` in the form for comparison.
    private var taken: Set<String> = []
    /// The number of contacts with values that LDIF does not have, by key.
    private var missing: [ContactKey: Int] = [:]

    enum Writer {
        case vcard(VCardWriter)
        case ldif(LDIFWriter)
    }

    enum Selection {
        /// `nil` selects all contacts.
        case search(NSPredicate?)
        case cards([String])
    }

    init(
        book: AddressBook, keys: ContactKeySet, hasNotes: Bool, groupUIDs: GroupUIDs?, writer: Writer,
        output: any CardOutput
    ) {
        (self.book, self.keys, self.hasNotes, self.groupUIDs) = (book, keys, hasNotes, groupUIDs)
        (self.writer, self.output) = (writer, output)
    }

    /// The keys with values that the output does not have; empty if it has all.
    var leftOut: String {
        ContactKey.allCases.compactMap { key in
            missing[key].map { "\(LocalizedNames.inEnglish.key(key)) (\(Count.words($0, "contact")))" }
        }.joined(separator: ", ")
    }

    mutating func write(_ selection: Selection) throws {
        switch selection {
        case .search(let predicate):
            let page = keys.contains(.imageData) ? 50 : AddressBook.pageSize
            try book.fetch(keys, predicate, unify: false, page: page) { try write($0) }
        case .cards(let identifiers): try book.fetch(cards: identifiers, keys) { try write($0) }
        }
    }

    private mutating func write(_ wire: WireContact) throws {
        guard let identifier = wire.identifier else { return }
        var contact = wire.contact
        if !hasNotes { contact.extraProperties = ContactUID.only(of: contact) }
        let made = Self.made(identifier)
        let own = ContactUID.of(contact)
        if let own {
            uids[identifier] = own
        } else {
            let isURI = if case .vcard(let writer) = writer { writer.version == .v4_0 } else { true }
            contact.extraProperties.append("UID:\(isURI ? "urn:uuid:" : "")\(made)")
        }
        written.insert(identifier)
        switch writer {
        case .vcard(let writer): try output.write(writer.card(contact), uid: own ?? made, spare: made)
        case .ldif(let writer):
            let entry = writer.entry(contact, uuid: made, besides: taken)
            take(entry.name, of: identifier)
            entry.leftOut.forEach { missing[$0, default: 0] += 1 }
            try output.write(entry.bytes, uid: made, spare: made)
        }
        contacts += 1
        if contacts.isMultiple(of: 100) { Speech.progress("\(contacts) contacts exported") }
    }

    /// Writes a group card for each group, or for one group only. Members that were not exported are left
    /// out.
    mutating func writeGroups(only: CNGroup?) throws {
        let all = try book.groups()
        let chosen = only.map { [$0] } ?? all
        let allMembers = try book.members(of: chosen)
        var subgroups: [String: [CNGroup]] = [:]
        for group in all where only == nil {
            for parent in group.parentGroupIdentifiers { subgroups[parent, default: []].append(group) }
        }
        if case .ldif(let writer) = writer {
            for group in chosen {
                let uuid = Self.made(group.identifier)
                take(writer.groupName(group.name, uuid: uuid, besides: taken), of: group.identifier)
            }
        }
        for group in chosen {
            let members = (allMembers[group.identifier] ?? []).filter(written.contains)
            let inner = subgroups[group.identifier] ?? []
            let made = Self.made(group.identifier)
            let uid = uid(of: group)
            let card =
                switch writer {
                case .vcard(let writer):
                    writer.group(
                        named: group.name, uid: uid,
                        members: members.map(uri) + inner.map { ContactUID.uri(self.uid(of: $0)) })
                case .ldif(let writer):
                    writer.group(
                        named: group.name, names[group.identifier] ?? "",
                        members: (members + inner.map(\.identifier)).compactMap { names[$0] }
                    ).bytes
                }
            try output.write(card, uid: uid == "urn:uuid:\(made)" ? made : uid, spare: made)
            groups += 1
        }
    }

    private mutating func take(_ name: String, of identifier: String) {
        names[identifier] = name
        taken.insert(LDIFName.comparable(name))
    }

    private func uid(of group: CNGroup) -> String {
        groupUIDs?.uid(of: group.identifier) ?? "urn:uuid:\(Self.made(group.identifier))"
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
