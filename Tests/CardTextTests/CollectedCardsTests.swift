import BrokerCardText
import Glibc
import Testing

/// Cards that other programs wrote, in the folder of `CONTACTBROKER_CARDS`.
private let folder = getenv("CONTACTBROKER_CARDS").map { String(cString: $0) }

@Suite("Cards that other programs wrote", .enabled(if: folder != nil))
struct CollectedCardsTests {
    @Test("Each card keeps its bytes, and a merge with itself changes nothing")
    func identity() throws {
        var refused: [CardTextError: Int] = [:]
        var count = 0
        for path in try paths(below: try #require(folder)) {
            for bytes in Self.cards(try contents(of: path)) {
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

    private func paths(below folder: String) throws -> [String] {
        var paths: [String] = []
        var pending = [folder]
        while let next = pending.popLast() {
            guard let directory = opendir(next) else { continue }
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name.hasPrefix(".") { continue }
                if entry.pointee.d_type == DT_DIR {
                    pending.append("\(next)/\(name)")
                } else if [".vcf", ".vcard", ".vcs"].contains(where: name.hasSuffix) {
                    paths.append("\(next)/\(name)")
                }
            }
        }
        return paths.sorted()
    }

    private func contents(of path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"), "\(path)")
        defer { fclose(file) }
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { result += buffer[..<count] }
        return result
    }
}
