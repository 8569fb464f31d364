import BrokerAccessControl
@_spi(Disclosed) import BrokerDisclosure
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// A reply that tells of contacts: its parameters, what the audit says of it, and the grant that it rests on.
///
/// Contact data leaves the broker in these alone, and the compiler makes sure of it:
///
/// - The bytes of ``DisclosedContacts`` can be read only by who imports AccessControl with `@_spi(Disclosed)`. This file does, and
///   `make lint` rejects any other.
/// - What a ``DisclosedWriter`` wrote can be read in this file only, and goes from here to a ``Call`` alone.
/// - ``send(to:continues:_:)`` takes a ``Turn/Recorded``, which only `Turn.swift` can make, once the records are committed.
struct DisclosedReply {
    /// The grant under which something is told. If it is taken back before the kernel has the reply, the reply is withdrawn.
    struct Basis: Hashable {
        let principal: Principal
        /// `nil`: the person handed it over for once, and no grant allows it.
        let revision: Int64?
    }

    /// What goes on record of a reply.
    enum Told {
        /// - Parameter isWhole: the whole set of the grant's revision, which names it better than a list does.
        case contacts([RecordNumber], keys: ContactKeySet, isWhole: Bool = false)
        /// So many records, and of none of them what it says.
        case count(Int)
    }

    /// `nil`: it goes to the person's own agent.
    let basis: Basis?
    let told: [Told]
    /// One of our own words, for the record.
    let detail: String?
    fileprivate let parameters: [UInt8]

    /// Bytes of the parameters.
    var size: Int { parameters.count }

    /// Hands the reply to the connection.
    func send(to call: Call, continues: Bool, _: Turn.Recorded) {
        call.reply(parameters, continues: continues, sensitive: basis != nil)
    }
}

/// Writes the parameters of a reply that tells of contacts. What was written cannot be read back.
struct DisclosedWriter {
    private var json: JSONWriter

    init(reservingCapacity capacity: Int = 256) {
        json = JSONWriter(reservingCapacity: capacity)
        json.beginObject()
    }

    /// Bytes written so far.
    var size: Int { json.bytes.count }

    /// The reply to an app.
    ///
    /// - Parameter detail: one of our own words, for the record.
    consuming func reply(
        under basis: DisclosedReply.Basis, telling told: [DisclosedReply.Told], detail: String? = nil
    ) -> DisclosedReply {
        json.endObject()
        return DisclosedReply(basis: basis, told: told, detail: detail, parameters: json.bytes)
    }

    /// The reply to the agent of the person whose contacts they are.
    consuming func replyToPerson(telling count: Int) -> DisclosedReply {
        json.endObject()
        return DisclosedReply(basis: nil, told: [.count(count)], detail: nil, parameters: json.bytes)
    }

    // MARK: Contacts

    /// A member that is an array of contacts.
    mutating func member(_ name: String, _ contacts: DisclosedContacts) {
        json.name(name)
        json.beginArray()
        if contacts.count > 0 { json.raw(contacts.elements) }
        json.endArray()
    }

    /// A member that is one contact, the only one of `contact`.
    mutating func member(_ name: String, only contact: DisclosedContacts) {
        json.name(name)
        json.raw(contact.elements)
    }

    /// The members of a picked value.
    mutating func members(of value: DisclosedValue) {
        member("contact", only: value.contact)
        json.member("key", value.key.rawValue)
        json.member("identifier", value.identifier)
        json.member("label", value.label)
    }

    /// The members of a line in the agent's list.
    ///
    /// - Parameter note: added to the line that tells two contacts of the same name apart.
    mutating func members(of row: DisclosedRow, note: String?) {
        json.name("contact")
        json.raw(row.contact)
        let detail = [row.detail, note].compactMap { $0 }
        if !detail.isEmpty { json.member("detail", detail.joined(separator: ", ")) }
    }

    // MARK: What stands around them

    mutating func member(_ name: String, _ string: String?) { json.member(name, string) }

    mutating func member(_ name: String, _ strings: [String]?) { json.member(name, strings) }

    mutating func member(_ name: String, _ number: Int?) { json.member(name, number) }

    mutating func member(_ name: String, _ bool: Bool?) { json.member(name, bool) }

    mutating func object(_ name: String, _ write: (inout DisclosedWriter) -> Void) {
        json.name(name)
        object(write)
    }

    /// A member that is an array of objects.
    mutating func array<Items: Sequence>(
        _ name: String, _ items: Items, _ write: (inout DisclosedWriter, Items.Element) -> Void
    ) {
        beginArray(name)
        for item in items { object { write(&$0, item) } }
        endArray()
    }

    mutating func beginArray(_ name: String) {
        json.name(name)
        json.beginArray()
    }

    mutating func object(_ write: (inout DisclosedWriter) -> Void) {
        json.beginObject()
        write(&self)
        json.endObject()
    }

    mutating func endArray() { json.endArray() }
}
