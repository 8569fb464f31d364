import ContactsModel

/// Reads a stream of vCards 3.0 and 4.0 (RFC 2426, RFC 6350), card by card and in bounded memory.
///
///     reader.append(chunk)
///     while let item = reader.next() { … }
///
/// A card that cannot be read is an item of its own and does not hinder those after it.
public struct VCardReader {
    public enum Item: Hashable, Sendable {
        case card(ReadCard)
        case unreadable(CardProblem)
    }

    private var splitter: CardSplitter

    public init(limits: VCardLimits = VCardLimits()) {
        splitter = CardSplitter(limits: limits)
    }

    /// Takes the next bytes of the stream, cut wherever they were cut.
    public mutating func append(_ bytes: [UInt8]) { splitter.append(bytes) }

    /// There are no more bytes. What comes out of ``next()`` now is the last of it.
    public mutating func finish() { splitter.finish() }

    /// The next card that is complete, or `nil` until more bytes have come.
    public mutating func next() -> Item? {
        switch splitter.next() {
        case .card(let card): Self.read(card)
        case .problem(let problem): .unreadable(problem)
        case nil: nil
        }
    }

    private static func read(_ card: CardSplitter.Card) -> Item {
        do throws(CardProblem.Reason) {
            return .card(try CardReading.read(card))
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
