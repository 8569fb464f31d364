import BrokerModel

/// Reads a stream of vCards 2.1, 3.0 and 4.0 (vCard 2.1 of versit, RFC 2426, RFC 6350), in UTF-8 or UTF-16, card by card
/// and in bounded memory.
///
///     reader.append(chunk)
///     while let item = reader.next() { … }
///
/// A card that cannot be read is an item of its own and does not hinder those after it.
public struct VCardReader {
    public enum Item: Hashable, Sendable {
        case card(ReadCard)
        /// A list of contacts.
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

    /// Takes the next bytes of the stream, cut wherever they were cut.
    public mutating func append(_ bytes: [UInt8]) { splitter.append(decoder.decode(bytes, isLast: false)) }

    /// There are no more bytes. What comes out of ``next()`` now is the last of it.
    public mutating func finish() {
        splitter.append(decoder.decode([], isLast: true))
        splitter.finish()
    }

    /// The next card that is complete, or `nil` until more bytes have come.
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

/// A card that was read.
public struct ReadCard: Hashable, Sendable {
    public let contact: Contact
    /// Where it begins in the stream, from 1.
    public let line: Int
    /// What could not be taken over, or only perhaps rightly.
    public let remarks: [CardProblem]
}

extension CardProblem.Reason: Error {}
