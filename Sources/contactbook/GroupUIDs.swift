import BrokerCommandOutput
import BrokerContactFiles
import Glibc

/// The UIDs of imported groups, by the broker's identifiers. The broker stores only a group's name, so an export could
/// not give an imported group the UID by which other programs know it.
///
/// They are in `$XDG_STATE_HOME/contactbook/group-uids`. A line is an identifier, a tab, a UID and a tab, so a line that
/// is incomplete has no last tab, and is ignored. Lines are only appended, and the first one for a group applies.
/// Identifiers are never used again, so the line of a deleted group does no harm.
struct GroupUIDs {
    private static let name = "group-uids"
    private static let task = "note the UIDs of the groups"
    /// The maximum size of the file to read, in bytes. A line usually has 70.
    private static let longest = 4 * 1_048_576
    /// The maximum size of a UID, in bytes.
    private static let longestUID = 1_024

    private var uids: [String: String] = [:]
    /// The lines that ``save()`` will append.
    private var new = ""

    /// Reads the file. Without it there are no UIDs.
    init(to task: String) throws {
        guard let folder = StateFolder.path else { return }
        let path = "\(folder)/\(Self.name)"
        let bytes: [UInt8]
        do throws(PlainFile.Failure) {
            bytes = try PlainFile.read(path, atMost: Self.longest)
        } catch {
            if case .system(let code) = error, code == ENOENT || code == ENOTDIR { return }
            throw CommandFailure(
                "could not \(task): \(Speech.clean(path)): \(error)",
                try: "make it readable; or remove it, and imported groups get new UIDs in exports", .notTried)
        }
        for line in bytes.split(separator: UInt8(ascii: "\n")) where line.last == UInt8(ascii: "\t") {
            let parts = String(decoding: line, as: UTF8.self).split(separator: "\t")
            if parts.count == 2, uids[String(parts[0])] == nil { uids[String(parts[0])] = String(parts[1]) }
        }
    }

    /// Returns the UID that a card of the group has. Without an imported one it is made from the identifier.
    func uid(of identifier: String) -> String {
        uids[identifier] ?? "urn:uuid:" + (ContactUID.made(from: identifier) ?? identifier)
    }

    /// Records a group's UID, unless the group has it already, has another one, or it cannot be in a line.
    mutating func note(_ uid: String, of identifier: String) {
        guard uids[identifier] == nil, !uid.isEmpty, uid.utf8.count <= Self.longestUID,
            uid.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            ContactUID.comparable(self.uid(of: identifier)) != ContactUID.comparable(uid)
        else { return }
        uids[identifier] = uid
        new += "\(identifier)\t\(uid)\t\n"
    }

    /// Appends the recorded UIDs to the file. The groups themselves are saved by then.
    mutating func save() throws {
        guard !new.isEmpty else { return }
        let task = Self.task
        guard let folder = StateFolder.path else {
            throw CommandFailure("could not \(task): there is no place to note them", try: "set HOME", .notTried)
        }
        try StateFolder.make(folder, to: task)
        let path = "\(folder)/\(Self.name)"
        // The newline before ends a line that an interrupted program left incomplete.
        try StateFolder.append(Array("\n\(new)".utf8), to: path, creating: true, task: task)
        guard StateFolder.sync(folder) else { throw OutputFile.failure(task, path, errno) }
        new = ""
    }
}
