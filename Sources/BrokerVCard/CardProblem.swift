import BrokerBounds

/// A problem with a card, and its line. It never contains the card's content.
public struct CardProblem: Hashable, Sendable {
    /// The line of the file, counted from 1.
    public let line: Int
    public let reason: Reason

    public init(line: Int, reason: Reason) {
        self.line = line
        self.reason = reason
    }

    public enum Reason: Hashable, Sendable {
        // These problems make a card unreadable.

        case unknownVersion
        /// More bytes or lines than ``VCardLimits`` allows.
        case tooLong
        /// The card has no value that a contact can store.
        case empty

        // These problems concern a part of the card. The other parts are read.

        /// The file ends, or the next card begins, before END:VCARD. The lines before that point are read.
        case missingEnd
        /// An END that has another value than VCARD, or more in its line, such as the next card.
        case oddEnd
        /// A line without a colon, or without a property name.
        case notAContentLine
        /// Characters that are not UTF-8 and may be wrong. They are read in the character set that CHARSET
        /// names if it is known, otherwise as Windows-1252; in damaged UTF-8 they are U+FFFD.
        case notUTF8
        /// A date that is no day of a calendar. It is kept as an extra property.
        case badDate
        /// A photo that is not base64, or whose image format is unknown.
        case badPhoto
        /// A second photo. A contact has only one.
        case furtherPhoto
        /// An extra property that is longer than ``VCardLimits/keptSize``.
        case propertyTooLong
    }
}

extension CardProblem.Reason: CustomStringConvertible {
    /// The text begins in lower case and has no full stop, because it follows the file name and line number.
    public var description: String {
        switch self {
        case .unknownVersion: "unsupported version; only 2.1, 3.0 and 4.0 can be read"
        case .tooLong: "too long"
        case .empty: "no value that a contact can hold"
        case .missingEnd: "no END:VCARD; the lines up to there were read"
        case .oddEnd: "an END that is not END:VCARD alone; the card ends there if another one follows"
        case .notAContentLine: "not a vCard line; left out"
        case .notUTF8: "not UTF-8; some characters may be wrong"
        case .badDate: "a date that does not exist or cannot be read; kept as text"
        case .badPhoto: "a photo that is not an image; left out"
        case .furtherPhoto: "a second photo; left out"
        case .propertyTooLong: "a property that is too long to keep; left out"
        }
    }
}
