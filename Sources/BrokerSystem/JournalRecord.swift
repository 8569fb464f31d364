/// One journal record: a readable message, and fields with facts for searching.
public struct JournalRecord: Sendable {
    /// The severities of syslog(3).
    public enum Priority: Int, Sendable {
        case critical = 2
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
        case debug = 7
    }

    public var priority: Priority
    public var message: String
    /// The message's identifier in the catalog; `nil` if the catalog does not explain the message.
    public var identifier: MessageIdentifier?
    /// The names are in camel case, such as `uid`; the journal shows `CONTACTBROKER_UID`.
    public var facts: [(name: String, value: String)]

    public init(
        _ priority: Priority, _ message: String, identifier: MessageIdentifier? = nil,
        facts: [(name: String, value: String)] = []
    ) {
        self.priority = priority
        self.message = message
        self.identifier = identifier
        self.facts = facts
    }

    /// The fields for sd_journal_sendv(3). Values are not escaped: the journal delimits fields by length, so
    /// no value can pass for another field.
    var fields: [[UInt8]] {
        var fields = [
            Array("MESSAGE=\(message)".utf8), Array("PRIORITY=\(priority.rawValue)".utf8),
            Array("SYSLOG_IDENTIFIER=contactbrokerd".utf8),
        ]
        if let identifier { fields.append(Array("MESSAGE_ID=\(identifier.rawValue)".utf8)) }
        for (name, value) in facts.prefix(Self.mostFacts) {
            guard let name = Self.fieldName(name) else { continue }
            fields.append(Array("\(name)=\(value)".utf8))
        }
        return fields
    }

    private static let mostFacts = 24

    /// Returns the field's name as systemd.journal-fields(7) requires: capital letters, digits and
    /// underscores, no underscore first. Returns `nil` if the name is empty, is too long or has any other
    /// character.
    static func fieldName(_ name: String) -> String? {
        var text = "CONTACTBROKER_"
        for scalar in name.unicodeScalars {
            switch scalar {
            case "a"..."z": text.unicodeScalars.append(Unicode.Scalar(UInt8(scalar.value) - 0x20))
            case "A"..."Z":
                text += "_"
                text.unicodeScalars.append(scalar)
            case "0"..."9", "_": text.unicodeScalars.append(scalar)
            default: return nil
            }
        }
        return name.isEmpty || text.utf8.count > 64 ? nil : text
    }
}
