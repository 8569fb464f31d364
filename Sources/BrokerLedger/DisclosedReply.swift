import BrokerAccessControl
@_spi(Disclosed) import BrokerDisclosure
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// A reply that discloses contacts: its parameters, the facts for its audit record, and its grant.
///
/// Contact data leaves the broker only in these replies. The compiler and `make lint` enforce that rule:
///
/// - Only a file that imports `BrokerDisclosure` with `@_spi(Disclosed)` can read the bytes of ``DisclosedContacts``.
///   This file does, and `make lint` rejects any other.
/// - Only this file can read the bytes that a ``DisclosedWriter`` wrote, and it passes them only to a
///   ``Call``.
/// - ``send(to:continues:_:)`` takes a ``GroupCommit/Recorded``. Only `GroupCommit.swift` can create one, and
///   it does so only after the records are committed.
package struct DisclosedReply {
    /// The principal and the revision of the grant that permits the disclosure. If the grant is revoked
    /// before the kernel has the reply, the broker withdraws the reply.
    package struct Basis: Hashable {
        package let principal: Principal
        /// `nil` for a one-time pick, which depends on no grant.
        package let revision: Int64?

        package init(principal: Principal, revision: Int64?) {
            self.principal = principal
            self.revision = revision
        }
    }

    /// The facts about a reply that the audit records.
    package enum Record {
        /// - Parameter isWhole: whether the reply is part of a list of all contacts that the app may see.
        ///   The grant's revision identifies these contacts, so the record does not name them.
        case contacts([RecordNumber], keys: ContactKeySet, isWhole: Bool = false)
        /// The number of disclosed records, without naming them.
        case count(Int)
    }

    /// `nil` for a reply to the person's agent.
    package let basis: Basis?
    package let disclosed: [Record]
    /// The broker's own text for the audit record, never text from an app.
    package let detail: String?
    fileprivate let parameters: [UInt8]

    /// The size of the parameters in bytes.
    package var size: Int { parameters.count }

    /// Hands the reply to the connection.
    package func send(to call: Call, continues: Bool, _: GroupCommit.Recorded) {
        call.reply(parameters, continues: continues, sensitive: basis != nil)
    }
}

/// Writes the parameters of a reply that discloses contacts. Only this file can read the result. It cannot be copied, so
/// ending the parameters does not copy what was written.
package struct DisclosedWriter: ~Copyable {
    private var json: JSONWriter

    package init(reservingCapacity capacity: Int = 256) {
        json = JSONWriter(reservingCapacity: capacity)
        json.beginObject()
    }

    /// The number of bytes written so far.
    package var size: Int { json.bytes.count }

    /// Ends the parameters and returns the reply to an app.
    ///
    /// - Parameter detail: the broker's own text for the audit record, never text from an app.
    package consuming func reply(
        under basis: DisclosedReply.Basis, recording disclosed: [DisclosedReply.Record], detail: String? = nil
    ) -> DisclosedReply {
        json.endObject()
        return DisclosedReply(basis: basis, disclosed: disclosed, detail: detail, parameters: json.bytes)
    }

    /// Ends the parameters and returns the reply to the person's agent.
    package consuming func replyToPerson(recording count: Int) -> DisclosedReply {
        json.endObject()
        return DisclosedReply(basis: nil, disclosed: [.count(count)], detail: nil, parameters: json.bytes)
    }

    /// Ends the parameters and returns the reply to a user who makes a backup, or lists what is in the bin. The record
    /// of that is made before the reply.
    package consuming func replyOnRecord() -> DisclosedReply {
        json.endObject()
        return DisclosedReply(basis: nil, disclosed: [], detail: nil, parameters: json.bytes)
    }

    // MARK: Contacts

    /// Writes a member whose value is an array of the lines of a backup.
    package mutating func member(_ name: String, _ lines: [BackupLine]) {
        json.name(name)
        json.array(lines) { $0.raw($1.json) }
    }

    /// Writes a member whose value is an array of contacts.
    package mutating func member(_ name: String, _ contacts: DisclosedContacts) {
        json.name(name)
        json.beginArray()
        if contacts.count > 0 { json.raw(contacts.elements) }
        json.endArray()
    }

    /// Writes a member whose value is the only contact in `contact`.
    package mutating func member(_ name: String, only contact: DisclosedContacts) {
        json.name(name)
        json.raw(contact.elements)
    }

    /// Writes the members of a picked value.
    package mutating func members(of value: DisclosedValue) {
        member("contact", only: value.contact)
        json.member("key", value.key.rawValue)
        json.member("identifier", value.identifier)
        json.member("label", value.label)
    }

    /// Writes the members of a row in the agent's list.
    package mutating func members(of row: DisclosedRow) {
        json.name("contact")
        json.raw(row.contact)
        json.member("detail", row.detail)
    }

    /// Writes a member whose value is the contact of a row.
    package mutating func member(_ name: String, of row: DisclosedRow) {
        json.name(name)
        json.raw(row.contact)
    }

    // MARK: Other members

    package mutating func member(_ name: String, _ string: String?) { json.member(name, string) }

    package mutating func member(_ name: String, _ strings: [String]?) { json.member(name, strings) }

    package mutating func member(_ name: String, _ number: Int?) { json.member(name, number) }

    package mutating func member(_ name: String, _ bool: Bool?) { json.member(name, bool) }

    package mutating func object(_ name: String, _ write: (inout DisclosedWriter) -> Void) {
        json.name(name)
        object(write)
    }

    /// Writes a member whose value is an array of objects.
    package mutating func array<Items: Sequence>(
        _ name: String, _ items: Items, _ write: (inout DisclosedWriter, Items.Element) -> Void
    ) {
        beginArray(name)
        for item in items { object { write(&$0, item) } }
        endArray()
    }

    package mutating func beginArray(_ name: String) {
        json.name(name)
        json.beginArray()
    }

    package mutating func object(_ write: (inout DisclosedWriter) -> Void) {
        json.beginObject()
        write(&self)
        json.endObject()
    }

    package mutating func endArray() { json.endArray() }
}
