import BookSamples
import BrokerCardText
import Testing

@Suite("Cards that other programs wrote", .enabled(if: CardFolder.path != nil))
struct CollectedCardsTests {
    @Test("Each card keeps its bytes, and a merge with itself changes nothing")
    func identity() throws {
        var refused: [CardTextError: Int] = [:]
        var count = 0
        for path in CardFolder.files(below: try #require(CardFolder.path))
        where [".vcf", ".vcard", ".vcs"].contains(where: path.hasSuffix) {
            for bytes in Self.cards(try #require(CardFolder.contents(of: path), "\(path)")) {
                let card: CardText
                do throws(CardTextError) {
                    card = try CardText(bytes)
                } catch {
                    refused[error, default: 0] += 1
                    continue
                }
                count += 1
                #expect(card.bytes == bytes)
                for base in [card, nil] {
                    let merged = try CardText.merge(base: base, mine: card, theirs: card)
                    #expect(merged.text.bytes == bytes, "\(path)")
                    #expect(merged.conflicts.isEmpty, "\(path)")
                }
                let removed = try card.applying(card.units.indices.map { .remove($0) })
                #expect(removed.units.isEmpty, "\(path)")
                let again = try CardText.merge(base: removed, mine: card, theirs: removed)
                #expect(again.text.meaning == card.meaning, "\(path)")
            }
        }
        print("\(count) cards; refused: \(refused)")
        #expect(count > 100)
    }

    /// Splits a file before each line that begins a card.
    private static func cards(_ file: [UInt8]) -> [[UInt8]] {
        let begin = Array("BEGIN:VCARD".utf8)
        let starts = file.indices.filter {
            file[$0...].starts(with: begin) && ($0 == 0 || file[$0 - 1] == 0x0A || file[$0 - 1] == 0x0D)
        }
        return zip(starts, starts.dropFirst() + [file.count]).map { Array(file[$0..<$1]) }
    }
}
