import BrokerJSON
import BrokerModel

/// One change to the address book, with the data needed to undo it.
public enum UndoStep: Hashable, Sendable {
    case added(identifier: String, name: String, digest: ContactDigest)
    /// The old and new values of the changed keys.
    case updated(identifier: String, name: String, before: Contact, after: Contact, keys: ContactKeySet)
    /// A contact was deleted. The step contains its readable values, its groups and its linked cards, and names the keys
    /// that could not be read, of which it may have had values.
    case deleted(identifier: String, contact: Contact, groups: [String], linked: [String], unread: ContactKeySet)
    case groupAdded(identifier: String, name: String)
    case groupRenamed(identifier: String, before: String, after: String)
    /// A group was deleted. The step contains its members, parent groups and subgroups.
    case groupDeleted(identifier: String, name: String, members: [String], parents: [String], subgroups: [String])
    /// Two records were connected or disconnected.
    case pair(Pairing, record: String, member: String)

    public enum Pairing: String, Hashable, Sendable {
        /// A card and its group; the group is the record.
        case memberAdded, memberRemoved
        /// A group and its parent group; the parent is the record.
        case subgroupAdded, subgroupRemoved
        /// Two cards of one unified contact.
        case linked, unlinked

        /// The change that undoes this one.
        public var opposite: Pairing {
            switch self {
            case .memberAdded: .memberRemoved
            case .memberRemoved: .memberAdded
            case .subgroupAdded: .subgroupRemoved
            case .subgroupRemoved: .subgroupAdded
            case .linked: .unlinked
            case .unlinked: .linked
            }
        }

        /// The name of the JSON member that contains the record.
        fileprivate var recordName: String { self == .linked || self == .unlinked ? "contact" : "group" }
    }
}

/// One command that can be undone. Its file has one line of JSON for the command, then one for each step,
/// then one for each time that it was undone.
public struct UndoEntry: Hashable, Sendable {
    /// The command, approximately as typed: `remove Ada Lovelace`.
    public var command: String
    /// UTC: `2026-03-01T12:00:00Z`.
    public var time: String
    /// Whether the command was itself an undo. `undo` without a number skips such entries, so repeated undos
    /// continue with older commands.
    public var isUndoing = false
    public var steps: [UndoStep] = []
    /// Whether a line of the file is malformed. The steps after it are unknown, so ``steps`` is empty.
    public private(set) var isDamaged = false
    /// Whether the command was undone completely.
    public var isUndone = false
    /// Maps old identifiers to new ones, for the records that were recreated when this command was undone.
    public var renamed: [String: String] = [:]

    public init(command: String, time: String, isUndoing: Bool = false) {
        (self.command, self.time, self.isUndoing) = (command, time, isUndoing)
    }

    /// The format version. Readers reject files of any other version.
    static let version: Int64 = 1
}

extension UndoEntry {
    /// The first line of the file, with its line feed.
    public var head: [UInt8] {
        Self.line { writer in
            writer.member("version", Self.version)
            writer.member("command", command)
            writer.member("time", time)
            if isUndoing { writer.member("undoing", true) }
        }
    }

    /// Returns the line to append when the command was undone.
    ///
    /// - Parameter isWhole: whether everything was undone.
    public static func undoneLine(renamed: [String: String], isWhole: Bool = true) -> [UInt8] {
        line { writer in
            writer.member("step", "undone")
            if !isWhole { writer.member("partly", true) }
            writer.name("renamed")
            writer.object { for (old, new) in renamed.sorted(by: { $0.key < $1.key }) { $0.member(old, new) } }
        }
    }

    public static func line(of step: UndoStep) -> [UInt8] { line { step.write(to: &$0) } }

    private static func line(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.object(write)
        var line = writer.bytes
        line.append(0x0A)
        return line
    }

    /// Parses a file. An incomplete last line is ignored.
    ///
    /// - Returns: `nil` if the first line is missing or malformed, or has a different version.
    public init?(file: [UInt8]) {
        var lines = file.split(separator: 0x0A, omittingEmptySubsequences: false)
        lines.removeLast()
        guard let first = lines.first, let head = try? JSONDocument(parsing: Array(first)).root,
            head["version"]?.integer == Self.version, let command = head["command"]?.string,
            let time = head["time"]?.string
        else { return nil }
        self.init(command: command, time: time, isUndoing: head["undoing"]?.bool ?? false)
        for line in lines.dropFirst() {
            let json = try? JSONDocument(parsing: Array(line)).root
            if let json, json["step"]?.says("undone") == true {
                isUndone = isUndone || json["partly"]?.bool != true
                guard let members = json["renamed"]?.members else { continue }
                for (old, new) in members {
                    if let old = old.string, let new = new.string { renamed[old] = new }
                }
                continue
            }
            guard let step = json.flatMap(UndoStep.init) else {
                (steps, isDamaged) = ([], true)
                return
            }
            steps.append(step)
        }
    }
}

extension UndoStep {
    private func write(_ contact: Contact, _ keys: ContactKeySet, _ writer: inout JSONWriter) {
        WireContact(contact: contact, keys: keys).write(to: &writer)
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .added(let identifier, let name, let digest):
            write("added", [("identifier", identifier), ("name", name)], &writer)
            writer.member("digest", [digest.ordinary, digest.named, digest.image])
        case .updated(let identifier, let name, let before, let after, let keys):
            write("updated", [("identifier", identifier), ("name", name)], &writer)
            writer.name("before")
            write(before, keys, &writer)
            writer.name("after")
            write(after, keys, &writer)
        case .deleted(let identifier, let contact, let groups, let linked, let unread):
            write("deleted", [("identifier", identifier)], &writer)
            writer.name("contact")
            write(contact, contact.present, &writer)
            writer.member("groups", groups)
            writer.member("linked", linked)
            writer.member("unread", unread.grantNames)
        case .groupAdded(let identifier, let name):
            write("groupAdded", [("identifier", identifier), ("name", name)], &writer)
        case .groupRenamed(let identifier, let before, let after):
            write("groupRenamed", [("identifier", identifier), ("before", before), ("after", after)], &writer)
        case .groupDeleted(let identifier, let name, let members, let parents, let subgroups):
            write("groupDeleted", [("identifier", identifier), ("name", name)], &writer)
            writer.member("members", members)
            writer.member("parents", parents)
            writer.member("subgroups", subgroups)
        case .pair(let pairing, let record, let member):
            write(pairing.rawValue, [(pairing.recordName, record), ("member", member)], &writer)
        }
    }

    private func write(_ step: String, _ texts: [(name: String, text: String)], _ writer: inout JSONWriter) {
        writer.member("step", step)
        for (name, text) in texts { writer.member(name, text) }
    }

    init?(_ json: JSONValue) {
        func text(_ name: String) -> String { json[name]?.string ?? "" }
        func texts(_ name: String) -> [String] { json[name]?.elements?.compactMap(\.string) ?? [] }
        func contact(_ name: String) -> WireContact? { json[name].flatMap { try? WireContact($0) } }
        switch text("step") {
        case "added":
            let parts = texts("digest")
            guard parts.count == 3 else { return nil }
            let digest = ContactDigest(ordinary: parts[0], named: parts[1], image: parts[2])
            self = .added(identifier: text("identifier"), name: text("name"), digest: digest)
        case "updated":
            guard let before = contact("before"), let after = contact("after") else { return nil }
            self = .updated(
                identifier: text("identifier"), name: text("name"), before: before.contact, after: after.contact,
                keys: after.keys)
        case "deleted":
            guard let card = contact("contact") else { return nil }
            // An earlier version did not name the keys. A note that is not in its step may have been unreadable.
            let unread =
                json["unread"] == nil
                ? ContactKeySet.named.subtracting(card.keys)
                : ContactKeySet(texts("unread").compactMap(ContactKey.init(rawValue:)))
            self = .deleted(
                identifier: text("identifier"), contact: card.contact, groups: texts("groups"),
                linked: texts("linked"), unread: unread)
        case "groupAdded": self = .groupAdded(identifier: text("identifier"), name: text("name"))
        case "groupRenamed":
            self = .groupRenamed(identifier: text("identifier"), before: text("before"), after: text("after"))
        case "groupDeleted":
            self = .groupDeleted(
                identifier: text("identifier"), name: text("name"), members: texts("members"),
                parents: texts("parents"), subgroups: texts("subgroups"))
        case let step:
            guard let pairing = Pairing(rawValue: step) else { return nil }
            self = .pair(pairing, record: text(pairing.recordName), member: text("member"))
        }
    }
}
