import BrokerJSON
import BrokerModel
import Glibc
import Testing

/// Another vCard parser, run as a program that prints what it read.
struct OtherParser: Sendable, CustomTestStringConvertible {
    let name: String
    /// A command that succeeds only if the parser is installed.
    private let isThere: String
    /// The command that reads a file.
    private let command: String
    /// How to install it.
    let advice: String

    var testDescription: String { name }

    static let all = [vobject, ebook, ezvcard]

    private static let interop = "Tests/Interop"
    private static let python = getenv("CONTACTBROKER_PYTHON").map { String(cString: $0) } ?? "/usr/bin/python3"

    private static let vobject = OtherParser(
        name: "python-vobject", isThere: "'\(python)' -c 'import vobject'",
        command: "'\(python)' '\(root)/\(interop)/vobject_cards.py'",
        advice: "make python, and set CONTACTBROKER_PYTHON")
    private static let ebook = OtherParser(
        name: "libebook-contacts",
        isThere: #"/usr/bin/python3 -c 'import gi; gi.require_version("EBookContacts", "1.2")'"#,
        command: "/usr/bin/python3 '\(root)/\(interop)/ebook_cards.py'", advice: "make interop")
    private static let ezvcard = OtherParser(
        name: "ez-vcard", isThere: "command -v java && test -e /usr/share/java/ez-vcard.jar",
        command: "java -cp '/usr/share/java/*' '\(root)/\(interop)/EzVcardCards.java'", advice: "make interop")

    /// The project's folder, two levels above this file.
    private static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    var isInstalled: Bool { system("\(isThere) >/dev/null 2>&1") == 0 }

    /// Runs the parser on these cards, and returns the values that it reads, one document per card.
    func read(_ cards: [UInt8]) throws -> [JSONDocument] {
        var path = Array("/tmp/contactbroker-cards-XXXXXX".utf8CString)
        let file = mkstemp(&path)
        try #require(file >= 0)
        let name = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { unlink(name) }
        var written = 0
        while written < cards.count {
            let count = cards[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            try #require(count > 0)
            written += count
        }
        close(file)
        let output = try #require(popen("timeout 120 \(command) '\(name)' 2>/dev/null", "r"))
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, output), count > 0 { bytes += buffer[..<count] }
        #expect(pclose(output) == 0, "\(self.name) failed")
        return try bytes.split(separator: 0x0A).map { try JSONDocument(parsing: Array($0)) }
    }
}
