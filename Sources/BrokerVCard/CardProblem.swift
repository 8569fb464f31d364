/// What is wrong with a card, and where. It never repeats what the card says.
public struct CardProblem: Hashable, Sendable {
    /// Line of the file, counted from 1.
    public let line: Int
    public let reason: Reason

    public init(line: Int, reason: Reason) {
        self.line = line
        self.reason = reason
    }

    public enum Reason: Hashable, Sendable {
        // The card is lost.

        case unknownVersion
        /// More bytes or lines than ``VCardLimits`` allows.
        case tooLong
        /// Nothing in it that a contact could be made of.
        case empty

        // The card is read without what is named here.

        /// The file ends, or the next card begins, before END:VCARD. What was there is read.
        case missingEnd
        /// A line without a colon, or without a property's name before it.
        case notAContentLine
        /// Characters that are not UTF-8, read as Windows-1252: they may come out wrong.
        case notUTF8
        /// A photo that is not base64, or no picture.
        case badPhoto
        /// A second photo: contacts have one.
        case furtherPhoto
        /// A property without a place of its own that is longer than ``VCardLimits/keptSize``.
        case propertyTooLong
    }
}

extension CardProblem.Reason: CustomStringConvertible {
    /// In lower case and without a full stop, to stand after file and line.
    public var description: String {
        switch self {
        case .unknownVersion: "a version other than 2.1, 3.0 and 4.0"
        case .tooLong: "too long"
        case .empty: "nothing in it"
        case .missingEnd: "no END:VCARD; read as far as it goes"
        case .notAContentLine: "not a vCard line; left out"
        case .notUTF8: "not UTF-8; some characters may be wrong"
        case .badPhoto: "a photo that is not a picture; left out"
        case .furtherPhoto: "a second photo; left out"
        case .propertyTooLong: "a property that is too long to keep; left out"
        }
    }
}
