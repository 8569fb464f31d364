import Glibc
import Testing

@testable import BrokerSystem

@Suite("What the journal is told")
struct JournalTests {
    private func texts(_ record: JournalRecord) -> [String] {
        record.fields.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A record is a sentence, a priority, a number for the catalog, and facts under names of ours")
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

    @Test("A text with line breaks in it stays one field")
    func lineBreaks() {
        let record = JournalRecord(.info, "a\nPRIORITY=0\nMESSAGE_ID=0", facts: [("app", "b\n_UID=0")])
        #expect(record.fields.count == 4)
        #expect(texts(record)[0] == "MESSAGE=a\nPRIORITY=0\nMESSAGE_ID=0")
    }

    @Test("A name that is none of the journal's is left out", arguments: ["", "a=b", "a b", "ä", "a\n"])
    func names(name: String) {
        #expect(JournalRecord.fieldName(name) == nil)
        #expect(JournalRecord(.info, "x", facts: [(name, "y")]).fields.count == 3)
    }

    @Test("No record has more fields than the journal is handed")
    func bounded() {
        let facts = (0..<100).map { (name: "fact\($0)", value: "x") }
        #expect(JournalRecord(.info, "x", identifier: .serving, facts: facts).fields.count <= 32)
    }

    @Test("No two messages of the catalog have one number, and each has the form of one")
    func identifiers() {
        let numbers = MessageIdentifier.allCases.map(\.rawValue)
        #expect(Set(numbers).count == numbers.count)
        for number in numbers {
            #expect(number.utf8.count == 32)
            #expect(number.allSatisfy { "0123456789abcdef".contains($0) })
        }
    }

    @Test("Every message is explained in the catalog, and the catalog explains nothing else")
    func catalog() throws {
        let path =
            #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
            + "/systemd/contactbroker.catalog"
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        let count = fread(&buffer, 1, buffer.count, file)
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
        let explained = lines.filter { $0.hasPrefix("-- ") }.map { String($0.dropFirst(3)) }
        #expect(explained.sorted() == MessageIdentifier.allCases.map(\.rawValue).sorted())
    }

    @Test("Where no journal is at standard error, nobody thinks there is")
    func noStream() {
        setenv("JOURNAL_STREAM", "1:1", 1)
        defer { unsetenv("JOURNAL_STREAM") }
        #expect(!Journal.isAtStandardError)
    }
}
