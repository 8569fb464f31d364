import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Reads the lines of one backup in order. A backup can be forged, so it is read as strictly as a call.
struct BackupReader: Sendable {
    struct Header: Hashable, Sendable {
        let user: String
        let uid: UInt32
        /// As in ``Timestamp``.
        let time: String
    }

    /// Whether only contacts are read.
    let contactsOnly: Bool
    private(set) var header: Header?
    private(set) var apps: [BackedUpApp] = []
    private(set) var cards = 0
    /// The cards that were damaged when the backup was made.
    private(set) var damaged = 0
    private(set) var highestRecord: Int64 = 0
    /// Whether the last line was read.
    private(set) var isComplete = false

    init(contactsOnly: Bool) { self.contactsOnly = contactsOnly }

    /// Reads a line, and returns what belongs into the book; `nil` if nothing of it does.
    mutating func read(_ line: [UInt8]) throws(VarlinkError) -> RestoredPart? {
        guard let document = try? JSONDocument(parsing: line), let members = document.root.members else {
            throw Self.invalid("a line is not a JSON object")
        }
        var all = members
        guard let (name, value) = all.next(), all.next() == nil, let name = name.string else {
            throw Self.invalid("a line must have one member")
        }
        guard !isComplete else { throw Self.invalid("lines follow the end") }
        if header == nil, name != "backup" { throw Self.invalid("the file does not begin with a backup") }
        switch name {
        case "backup": header = try header(value)
        case "card":
            cards += 1
            return try card(value)
        case "app": if !contactsOnly { apps.append(try app(value)) }
        case _ where Grant.recordLineNames.contains(name): if !contactsOnly { try addRecords(value, to: name) }
        case "end": try end(value)
        default:
            guard let table = BookRow.Table(rawValue: name) else {
                throw Self.invalid("a line has the unknown member \"\(name)\"")
            }
            return contactsOnly ? nil : .row(try row(table, value))
        }
        return nil
    }

    static func invalid(_ reason: String) -> VarlinkError { AdminError.invalidValue("backup", reason: reason) }

    private static func reader(_ value: JSONValue) throws(VarlinkError) -> ParameterReader {
        try ParameterReader(value, in: "lines")
    }

    private func header(_ value: JSONValue) throws(VarlinkError) -> Header {
        guard header == nil else { throw Self.invalid("the backup of another user follows before the end") }
        // Read first: a later version may have other members.
        guard value["version"]?.integer == Int64(BackupFormat.version) else {
            throw Self.invalid("it was made by a later version of contactbroker; install that version first")
        }
        var reader = try Self.reader(value)
        _ = reader["version"]
        let user = try reader.required("user").text(maximum: 256)
        let uid = try reader.required("uid").uid()
        let time = try reader.required("time").text(maximum: 64)
        try reader.finish()
        guard Timestamp.seconds(time) != nil else { throw Self.invalid("its time cannot be read") }
        return Header(user: user, uid: uid, time: time)
    }

    private mutating func record(_ value: JSONValue) throws(VarlinkError) -> RecordNumber {
        guard let number = value.integer, BackupFormat.records.contains(number) else {
            throw Self.invalid("a record number is out of range")
        }
        highestRecord = max(highestRecord, number)
        return RecordNumber(number)
    }

    private mutating func card(_ value: JSONValue) throws(VarlinkError) -> RestoredPart {
        var reader = try Self.reader(value)
        let record = try record(reader.required("record").value)
        var contact = try contact(reader.required("contact").value)
        var details = CardDetails()
        if let container = reader["container"] { details.container = try self.record(container.value) }
        if let app = reader["app"] { details.app = try Self.bytes(app.value) }
        if let identifiers = reader["identifiers"] { details.identifiers = try Self.bytes(identifiers.value) }
        details.isUnsure = try reader.flag("isUnsure")
        details.isMe = try reader.flag("isMe")
        try reader.finish()
        if contactsOnly {
            contact.creationDate = ""
            contact.modificationDate = ""
            return .contact(record, contact)
        }
        guard ValueIdentifiers(bytes: details.identifiers) != nil,
            Timestamp.seconds(contact.creationDate) != nil, Timestamp.seconds(contact.modificationDate) != nil
        else { throw Self.invalid("a card has no dates or identifiers") }
        return .card(record, contact, details)
    }

    private func contact(_ value: JSONValue) throws(VarlinkError) -> Contact {
        let broker = ContactKeySet([.creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData])
        do throws(ContactError) {
            var wire = try WireContact(value)
            guard wire.identifier == nil else { throw .invalidParameter("identifier") }
            // A broker that stored the contact had checked it, perhaps by other rules.
            if contactsOnly { try wire.contact.validate(writing: wire.keys.subtracting(broker)) }
            wire.contact.thumbnailImageData = ""
            return wire.contact
        } catch {
            throw Self.invalid("a contact is not valid: \(error)")
        }
    }

    private static func bytes(_ value: JSONValue) throws(VarlinkError) -> [UInt8] {
        guard let bytes = value.string.flatMap(Hexadecimal.bytes), bytes.count <= 1_024 else {
            throw invalid("a value is not hexadecimal")
        }
        return bytes
    }

    private mutating func row(_ table: BookRow.Table, _ value: JSONValue) throws(VarlinkError) -> BookRow {
        guard let elements = value.elements else { throw Self.invalid("a row is not an array") }
        var values: [BookRow.Value] = []
        for element in elements {
            switch element.kind {
            case .null: values.append(.none)
            case .integer:
                guard let number = element.integer else { throw Self.invalid("a row has a number out of range") }
                if table.hasRecord(inColumn: values.count) { _ = try record(element) }
                values.append(.integer(number))
            case .string where table.hasBytes(inColumn: values.count): values.append(.bytes(try Self.bytes(element)))
            case .string:
                let field = Parameter(value: element, name: "row", outermost: "lines")
                values.append(.text(try field.text(maximum: 1_048_576)))
            case .bool, .double, .array, .object: throw Self.invalid("a row has a value of the wrong type")
            }
        }
        guard let row = BookRow(table, values) else {
            throw Self.invalid("a row does not fit the table \(table.rawValue)")
        }
        return row
    }

    private func app(_ value: JSONValue) throws(VarlinkError) -> BackedUpApp {
        var reader = try Self.reader(value)
        var app = BackedUpApp(
            strength: try reader.required("strength").one(of: IdentityStrength.self),
            app: try reader.required("app").text(maximum: 8_192))
        app.displayName = try reader["displayName"]?.text(maximum: 8_192) ?? app.displayName
        if let key = reader["key"] {
            app.identifierKey = try Self.bytes(key.value)
            guard app.identifierKey?.count == IdentifierCipher.keySize else {
                throw Self.invalid("a key has the wrong length")
            }
        }
        if let silencedSince = reader["silencedSince"] { app.silencedSince = Int64(try silencedSince.integer()) }
        if let grant = reader["grant"] { app.grant = try Self.grant(grant.value) }
        try reader.finish()
        guard !app.app.isEmpty else { throw Self.invalid("an app has no name") }
        return app
    }

    private static func grant(_ value: JSONValue) throws(VarlinkError) -> Grant {
        var grant = Grant(access: .denied, keys: [], revision: 0, decidedBy: .person, decidedAt: 0)
        var reader = try reader(value)
        switch try reader.required("status").one(of: AuthorizationStatus.self) {
        case .denied: grant.access = .denied
        case .limited: grant.access = .limited(to: [])
        case .full: grant.access = .full
        case .notDetermined, .restricted: throw invalid("a grant has no level")
        }
        grant.keys = try reader.required("keys").keys()
        // Earlier versions let each app change what it saw, and delete it if it could read all ordinary keys.
        let former: ChangeRight = grant.keys.isSuperset(of: Grant.ordinaryKeys) ? .all : .edit
        grant.changes = try reader["changes"]?.one(of: ChangeRight.self) ?? former
        if let expires = reader["expires"] { grant.lifetime = .untilTime(Int64(try expires.integer())) }
        grant.decidedBy = try reader.required("decidedBy").one(of: Grant.Decider.self)
        grant.decidedThrough = try reader["decidedThrough"]?.text(maximum: 8_192)
        grant.decidedAt = Int64(try reader.required("decidedAt").integer())
        try reader.finish()
        return grant
    }

    /// Adds contacts or groups to the last app's grant.
    private mutating func addRecords(_ value: JSONValue, to name: String) throws(VarlinkError) {
        guard let elements = value.elements, var grant = apps.last?.grant else {
            throw Self.invalid("contacts follow no grant")
        }
        var records: Set<RecordNumber> = []
        for element in elements { records.insert(try record(element)) }
        switch (name, grant.access) {
        case ("own", _): grant.own.formUnion(records)
        case ("granted", .limited(let set)): grant.access = .limited(to: set.union(records))
        case ("sharedGroups", .limited): grant.groups.records.formUnion(records)
        case ("joined", .limited): grant.groups.joined.formUnion(records)
        case ("withheld", .limited): grant.groups.withheld.formUnion(records)
        default: throw Self.invalid("contacts follow no limited grant")
        }
        apps[apps.count - 1].grant = grant
    }

    private mutating func end(_ value: JSONValue) throws(VarlinkError) {
        guard value["cards"]?.integer == Int64(cards) else { throw Self.invalid("cards are missing") }
        damaged = Int(value["damaged"]?.integer ?? 0)
        isComplete = true
    }
}
