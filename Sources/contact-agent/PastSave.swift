import BrokerFormatting
import BrokerJSON
import BrokerModel

/// A save of an app that can be put back. All text is safe for a terminal.
struct PastSave: Hashable, Sendable {
    var number: Int64
    /// In seconds since 1970.
    var time: Int64
    /// How many contacts the save added, changed and deleted.
    var added, changed, deleted: Int
    /// How much else it changed, such as who is in a group.
    var others = 0
    /// The names of the first of them.
    var contacts: [String]
}

extension PastSave {
    /// - Returns: `nil` if the object does not match the interface.
    init?(_ object: JSONValue, _ names: LocalizedNames) {
        guard let number = object["number"]?.integer, let time = object["time"]?.seconds else { return nil }
        self.number = number
        self.time = time
        (added, changed, deleted) = (
            object["added"]?.int ?? 0, object["changed"]?.int ?? 0, object["deleted"]?.int ?? 0
        )
        others = object["others"]?.int ?? 0
        contacts = object["contacts"]?.elements?.compactMap { $0["contact"].map { Row.name(of: $0, names) } } ?? []
    }

    /// What the save did: `deletes 2, adds 1`. What else it changed is only said if it concerned no contacts.
    func words(_ names: LocalizedNames) -> String {
        names.counts([
            (.saveDeleted, deleted), (.saveChanged, changed), (.saveAdded, added),
            (.saveOther, deleted + changed + added == 0 ? others : 0),
        ])
    }
}

/// What the person wants to put back.
struct PutBackRequest: Hashable, Sendable {
    /// The number of a save.
    var save: Int64
    /// Only this contact of the save.
    var contact: String?
    /// Also all later saves of the app.
    var later = false
    /// Also what somebody else has changed since.
    var force = false
}

/// What putting back does, or would do. All text is safe for a terminal.
struct PutBackResult: Hashable, Sendable {
    enum Outcome: String, Sendable { case returned, changed, removed, conflict, lost }

    struct Contact: Hashable, Sendable {
        /// Identifies the contact within one prompt only.
        var identifier: String
        var name: String
        var outcome: Outcome
    }

    /// The contacts, those that stay as they are first.
    var contacts: [Contact]
    var returned, changed, removed, conflicts, lost, groups: Int
    /// For one contact, what putting it back changes, also if it stays because somebody else changed it.
    var diff: ContactDiff?
}

extension PutBackResult {
    init(_ reply: JSONValue, _ names: LocalizedNames) {
        let all = (reply["contacts"]?.elements.map(Array.init) ?? []).compactMap { object -> Contact? in
            guard let identifier = object["identifier"]?.string,
                let outcome = object["outcome"]?.string.flatMap(Outcome.init)
            else { return nil }
            let name = object["contact"].map { Row.name(of: $0, names) } ?? names.text(.noName)
            return Contact(identifier: identifier, name: name, outcome: outcome)
        }
        contacts = all.filter(\.stays) + all.filter { !$0.stays }
        func count(_ name: String) -> Int { reply[name]?.int ?? 0 }
        (returned, changed, removed) = (count("returned"), count("changed"), count("removed"))
        (conflicts, lost, groups) = (count("conflicts"), count("lost"), count("groups"))
        let (now, then) = (
            reply["now"].flatMap { try? WireContact($0).contact },
            reply["then"].flatMap { try? WireContact($0).contact }
        )
        diff = now == nil && then == nil || lost > 0 ? nil : ContactDiff(from: now, to: then, names)
    }

    /// Whether anything changes.
    var changesAnything: Bool { returned + changed + removed + groups > 0 }

    /// What it does: `brings back 2, changes 1`.
    func words(_ names: LocalizedNames) -> String {
        names.counts([
            (.putBackReturned, returned), (.saveChanged, changed), (.saveDeleted, removed), (.saveOther, groups),
            (.putBackStays, conflicts + lost),
        ])
    }
}

extension PutBackResult.Contact {
    /// Whether the contact stays as it is.
    var stays: Bool { outcome == .conflict || outcome == .lost }

    func detail(_ names: LocalizedNames) -> String {
        Phrase("outcome", outcome.rawValue).map { names.text($0) } ?? ""
    }
}

extension LocalizedNames {
    /// Those counts that are not 0, in words.
    fileprivate func counts(_ counts: [(phrase: Phrase, count: Int)]) -> String {
        list(counts.filter { $0.count > 0 }.map { text($0.phrase, count: $0.count) })
    }
}
