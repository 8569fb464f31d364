import Glibc
import Testing

@testable import BrokerSystem

@Suite("Journal records")
struct JournalTests {
    private func texts(_ record: JournalRecord) -> [String] {
        record.fields.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A record has a message, a priority, a message ID and fields with the broker's prefix")
    func fields() {
        let record = JournalRecord(
            .warning, "somebody was turned away", identifier: .turnedAway, facts: [("uid", "1000"), ("unitName", "x")])
        #expect(
            texts(record) == [
                "MESSAGE=somebody was turned away", "PRIORITY=4", "SYSLOG_IDENTIFIER=contactbrokerd",
                "MESSAGE_ID=\(MessageIdentifier.turnedAway.rawValue)", "CONTACTBROKER_UID=1000",
                "CONTACTBROKER_UNIT_NAME=x",
            ])
    }

    @Test("A text with line breaks stays one field")
    func lineBreaks() {
        let record = JournalRecord(.info, "a\nPRIORITY=0\nMESSAGE_ID=0", facts: [("app", "b\n_UID=0")])
        #expect(record.fields.count == 4)
        #expect(texts(record)[0] == "MESSAGE=a\nPRIORITY=0\nMESSAGE_ID=0")
    }

    @Test("A field with an invalid name is left out", arguments: ["", "a=b", "a b", "ä", "a\n"])
    func names(name: String) {
        #expect(JournalRecord.fieldName(name) == nil)
        #expect(JournalRecord(.info, "x", facts: [(name, "y")]).fields.count == 3)
    }

    @Test("A record has at most 32 fields")
    func bounded() {
        let facts = (0..<100).map { (name: "fact\($0)", value: "x") }
        #expect(JournalRecord(.info, "x", identifier: .serving, facts: facts).fields.count <= 32)
    }

    @Test("Each message ID is unique and well-formed")
    func identifiers() {
        let numbers = MessageIdentifier.allCases.map(\.rawValue)
        #expect(Set(numbers).count == numbers.count)
        for number in numbers {
            #expect(number.utf8.count == 32)
            #expect(number.allSatisfy { "0123456789abcdef".contains($0) })
        }
    }

    /// The lines of a file of the project.
    private func lines(_ path: String) throws -> [Substring] {
        let project = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        let file = try #require(fopen(project + "/" + path, "r"))
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
    }

    @Test("The page for administrators of many machines lists every message and nothing else")
    func page() throws {
        let listed = try lines("Documentation/Fleet.md").compactMap { $0.firstMatch(of: /^\| `([0-9a-f]{32})` \|/)?.1 }
        #expect(listed.map(String.init).sorted() == MessageIdentifier.allCases.map(\.rawValue).sorted())
    }

    @Test("The catalog explains every message and nothing else")
    func catalog() throws {
        let lines = try lines("systemd/contactbroker.catalog")
        let explained = lines.filter { $0.hasPrefix("-- ") }.map { String($0.dropFirst(3)) }
        #expect(explained.sorted() == MessageIdentifier.allCases.map(\.rawValue).sorted())
    }

    @Test("Standard error is not taken for the journal if it is another file")
    func noStream() {
        setenv("JOURNAL_STREAM", "1:1", 1)
        defer { unsetenv("JOURNAL_STREAM") }
        #expect(!Journal.isAtStandardError)
    }
}
