import BrokerBounds
import BrokerModel

/// Reads a stream of vCards in UTF-8 or UTF-16: versions 2.1 (versit), 3.0 (RFC 2426) and 4.0 (RFC 6350). It
/// reads card by card, in bounded memory.
///
///     reader.append(chunk)
///     while let item = reader.next() { … }
///
/// An unreadable card is reported as an item. The cards after it are still read.
public struct VCardReader {
    public enum Item: Hashable, Sendable {
        case card(ReadCard)
        /// A group card (`KIND:group`).
        case group(ReadGroup)
        case unreadable(CardProblem)
    }

    private var decoder = StreamDecoder(.cards)
    private var splitter: CardSplitter
    private let limits: VCardLimits

    public init(limits: VCardLimits = VCardLimits()) {
        self.limits = limits
        splitter = CardSplitter(limits: limits)
    }

    /// Adds the next bytes of the stream. Chunks may end anywhere.
    public mutating func append(_ bytes: [UInt8]) { append(bytes, isLast: false) }

    private mutating func append(_ bytes: [UInt8], isLast: Bool) {
        let bytes = decoder.decode(bytes, isLast: isLast)
        splitter.isUTF8 = decoder.isUTF8
        splitter.append(bytes)
    }

    /// Ends the stream. ``next()`` then returns the remaining items.
    public mutating func finish() {
        append([], isLast: true)
        splitter.finish()
    }

    /// Returns the next complete item; `nil` if the reader needs more bytes or the stream has ended.
    public mutating func next() -> Item? {
        switch splitter.next() {
        case .card(let card): read(card)
        case .problem(let problem): .unreadable(problem)
        case nil: nil
        }
    }

    private func read(_ card: CardSplitter.Card) -> Item {
        do throws(CardProblem.Reason) {
            return try CardReading.read(card, limits)
        } catch {
            return .unreadable(CardProblem(line: card.firstLine, reason: error))
        }
    }
}

/// A contact that was read from a card.
public struct ReadCard: Hashable, Sendable {
    public let contact: Contact
    /// The line of the stream on which the card begins, counted from 1.
    public let line: Int
    /// Problems with parts of the card. These parts were left out or may be wrong.
    public let remarks: [CardProblem]
}

extension CardProblem.Reason: Error {}
