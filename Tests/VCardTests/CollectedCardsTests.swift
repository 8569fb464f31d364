import ContactsModel
import Glibc
import JSON
import Testing
import VCard

/// Cards that other programs wrote, with what three other parsers read in them: `X.vcf` beside `X.vcf.expected.json`,
/// in the folder that `CONTACTBROKER_CARDS` names. They are not ours to ship.
@Suite("Cards as other programs write them", .enabled(if: folder != nil, "CONTACTBROKER_CARDS names no folder"))
struct CollectedCardsTests {
    @Test("No card of any kind crashes the reader, and what was read can be saved")
    func readable() throws {
        var count = 0
        for path in try files() {
            let whole = items(try bytes(path))
            #expect(items(try bytes(path), pieces: 100) == whole, "\(path)")
            for card in cards(whole) {
                count += 1
                #expect(throws: Never.self, "\(path):\(card.line)") {
                    try card.contact.validate(writing: card.contact.present)
                }
            }
        }
        #expect(count > 0)
    }

    @Test("Names, telephone numbers and e-mail addresses are those that the other parsers agree on")
    func expected() throws {
        var compared = 0
        for path in try files() {
            let expected = try JSONDocument(parsing: bytes(path + ".expected.json")).root
            // Other character sets than UTF-8 are not read yet.
            guard expected["decoded_as"]?.elements?.contains(where: { $0.says("utf-8") }) == true else { continue }
            guard expected["validity"]?.says("valid") == true, let judged = expected["cards"]?.elements.map(Array.init),
                judged.allSatisfy({ $0["version"]?.says("3.0") == true || $0["version"]?.says("4.0") == true })
            else { continue }
            let read = items(try bytes(path))
            #expect(read.count == judged.count, "\(path)")
            for (item, card) in zip(read, judged) {
                guard case .card(let read) = item else { continue }
                let fields = card["fields"]
                if let phones = values(fields?["TEL"]) {
                    #expect(read.contact.phoneNumbers.map(\.value).sorted() == phones.map(bare).sorted(), "\(path)")
                    compared += 1
                }
                if let emails = values(fields?["EMAIL"]) {
                    #expect(read.contact.emailAddresses.map(\.value).sorted() == emails.map(bare).sorted(), "\(path)")
                    compared += 1
                }
                if let name = hard(fields?["N"])?.first(where: { _ in true }), let parts = name.elements.map(Array.init)
                {
                    let contact = read.contact
                    let ours = [
                        contact.familyName, contact.givenName, contact.middleName, contact.namePrefix,
                        contact.nameSuffix,
                    ]
                    let theirs = parts.map { $0.string ?? "" }
                    if theirs.contains(where: { !$0.isEmpty }) {
                        #expect(ours.map(words) == theirs.map(words), "\(path):\(read.line)")
                        compared += 1
                    }
                }
            }
        }
        #expect(compared > 0)
    }

    /// The values of a field that is a hard expectation, its texts without white space around.
    private func values(_ field: JSONValue?) -> [String]? {
        hard(field)?.compactMap { ($0["value"] ?? $0).string }.filter { !$0.isEmpty }
    }

    private func hard(_ field: JSONValue?) -> [JSONValue]? {
        guard let field, let status = field["status"]?.string, ["unanimous", "pair"].contains(status) else {
            return nil
        }
        return field["value"]?.elements.map(Array.init)
    }

    private func bare(_ value: String) -> String {
        for scheme in ["tel:", "mailto:"] where value.hasPrefix(scheme) { return String(value.dropFirst(scheme.count)) }
        return value
    }

    private func words(_ text: String) -> [Substring] { text.split { $0 == "," || $0.isWhitespace } }

    private func files() throws -> [String] {
        var paths: [String] = []
        var pending = [try #require(folder)]
        while let next = pending.popLast() {
            guard let directory = opendir(next) else { continue }
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name.hasPrefix(".") { continue }
                if entry.pointee.d_type == DT_DIR { pending.append("\(next)/\(name)") }
                if name.hasSuffix(".vcf") { paths.append("\(next)/\(name)") }
            }
        }
        return paths.sorted()
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"), "\(path)")
        defer { fclose(file) }
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { result += buffer[..<count] }
        return result
    }
}

private let folder = getenv("CONTACTBROKER_CARDS").map { String(cString: $0) }
