import BrokerModel

/// Reads a stream of contacts, one in each row of a table or entry of a directory.
///
///     reader.append(chunk)
///     while let item = reader.next() { … }
///
/// An unreadable row is reported as an item. The rows after it are still read, if their beginning can be found.
public protocol RowReader {
    /// Adds the next bytes of the stream. Chunks may end anywhere.
    mutating func append(_ bytes: [UInt8])
    /// Ends the stream. ``next()`` then returns the remaining items.
    mutating func finish()
    /// Returns the next item; `nil` if the reader needs more bytes or the stream has ended.
    mutating func next() -> RowItem?
}

public enum RowItem: Hashable, Sendable {
    case row(ReadRow)
    case group(RowGroup)
    case unreadable(RowProblem)
}

/// A contact that was read from a row.
public struct ReadRow: Hashable, Sendable {
    public let contact: Contact
    /// The names of the row's groups.
    public let groups: [String]
    /// The line of the stream on which the row begins, counted from 1.
    public let line: Int
    /// Problems with parts of the row. These parts were left out or may be wrong.
    public let remarks: [RowProblem]
    /// The name by which groups of the same stream list the row; `nil` in a table.
    public var uid: String?
}

/// A group of rows.
public struct RowGroup: Hashable, Sendable {
    public let name: String
    public let uid: String
    /// The ``ReadRow/uid`` of each member.
    public let members: [String]
    /// The line of the stream on which the group begins, counted from 1.
    public let line: Int
}

/// A problem with a row, and its line. It never contains the row's values, but it may contain a column's
/// name.
public struct RowProblem: Hashable, Sendable {
    /// The line of the file, counted from 1.
    public let line: Int
    public let reason: Reason

    public enum Reason: Hashable, Sendable {
        // These problems make a row unreadable. After ``endless``, and after any of them in the first row of a
        // table, no further row is read.

        case endless
        case unknownColumns
        /// Quotes inside an unquoted field, text after a closing quote, or too many fields.
        case quotes
        case empty
        /// An entry of a directory that is more than 16 MiB long.
        case tooLong
        /// A line that is not LDIF, or an entry without a name.
        case notLDIF
        /// A record that changes a directory (`changetype`).
        case changeRecord
        /// An entry of a directory that is neither a person nor a group.
        case noPerson

        // These problems concern a part of the row. The other parts are read.

        case notUTF8
        /// UTF-8 with a few damaged characters, which are read as U+FFFD.
        case damagedUTF8
        /// The birthday or another date is not a calendar day.
        case badDate
        /// Day and month of a date such as `1/2/1990` are ambiguous.
        case ambiguousDate
        /// Contacts have no field for the column with this name, or its value cannot be read.
        case leftOut(String)
    }
}

extension RowProblem.Reason: CustomStringConvertible {
    /// The text begins in lower case and has no full stop, because it follows the file name and line number.
    public var description: String {
        switch self {
        case .endless: "a quote that is never closed, or a row of more than 4 MiB; the rest of the file was not read"
        case .unknownColumns:
            "the first line names no columns of Google Contacts, Outlook or Thunderbird; the file was not read"
        case .quotes: "quotes inside an unquoted field; quote the whole field, and double the quotes in it"
        case .empty: "no value that a contact can hold"
        case .tooLong: "an entry of more than 16 MiB"
        case .notLDIF: "not an entry of LDIF, which begins with its name (dn)"
        case .changeRecord: "a change of a directory (changetype), not an entry; export the entries themselves"
        case .noPerson: "neither a person nor a group"
        case .notUTF8: "not UTF-8, read as Windows-1252; some characters may be wrong"
        case .damagedUTF8: "damaged UTF-8; each damaged character is a question mark (U+FFFD)"
        case .badDate: "a date that does not exist; left out"
        case .ambiguousDate: "a date like 1/2/1990, read with the month first; to read the day first, use --day-first"
        case .leftOut(let column): "contacts have no field for \(column); left out"
        }
    }
}
