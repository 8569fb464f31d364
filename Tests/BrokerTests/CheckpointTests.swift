import BrokerAccessControl
import BrokerBounds
import BrokerModel
import Dispatch
import Glibc
import Testing

@testable import BrokerBooks
@testable import BrokerCore

@Suite("Removal of deleted and edited text")
struct CheckpointTests {
    private static func bytes(of path: String) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(file, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
        return all
    }

    /// Whether any file of the broker contains the text.
    private static func isKept(_ text: String, in fixture: BrokerFixture) -> Bool {
        let needle = Array(text.utf8)
        let folders = [fixture.folder, fixture.book]
        return folders.contains { folder in
            BrokerFixture.names(in: folder).contains { name in
                let bytes = bytes(of: folder + "/" + name)
                guard bytes.count >= needle.count else { return false }
                return bytes.indices.dropLast(needle.count - 1).contains { start in
                    bytes[start] == needle[0] && bytes[start..<start + needle.count].elementsEqual(needle)
                }
            }
        }
    }

    @Test(
        "Deleted and edited text is in no file five seconds after it left the bin, and other text stays",
        arguments: [0, 30])
    func forgetting(days: Int64) throws {
        var space = SpaceBounds()
        space.binTime = days * 86_400
        let fixture = try BrokerFixture(space: space)
        let keeper = try fixture.app("keeper", .full, keys: .all)
        _ = try keeper.save(["Stayinghere", "Deletedone", "Editedone"].map { .add(given: $0) })
        let group = try keeper.save([.other(#"{"operation":"add","group":{"name":"Groupgone"}}"#)], author: "k")
            .strings("identifiers")[0]
        _ = try keeper.save([
            .update(keeper.identifier(of: "Deletedone"), #""emailAddresses":[{"value":"mailgone@example.org"}]"#),
            .update(keeper.identifier(of: "Stayinghere"), #""note":"Notegone""#),
        ])
        for text in ["Stayinghere", "Deletedone", "mailgone", "Editedone", "Groupgone", "Notegone"] {
            #expect(Self.isKept(text, in: fixture), "\(text)")
        }
        let ids = try ["Deletedone", "Editedone", "Stayinghere"].map { try keeper.identifier(of: $0) }
        #expect(
            try keeper.save([
                .delete(ids[0]), .update(ids[1], #""givenName":"Another""#), .update(ids[2], #""note":"""#),
                .other(#"{"operation":"delete","group":{"identifier":"\#(group)","name":"x"}}"#),
            ]).error == nil)
        let gone = ["Deletedone", "mailgone", "Editedone", "Groupgone", "Notegone"]
        let wait = { (time: Duration) in
            fixture.loop.advance(by: time)
            // The user's queue is serial, so this waits for the checkpoint.
            fixture.books.queue(of: 1_000).sync {}
        }
        wait(.seconds(4))
        if days > 0 {
            for text in gone { #expect(Self.isKept(text, in: fixture), "\(text)") }
            // The broker looks every hour.
            for seconds in [days * 86_400, 3_600, 3_600, 4] { wait(.seconds(seconds)) }
        }
        for text in ["Deletedone", "deletedone", "mailgone", "Editedone", "editedone", "Groupgone", "Notegone"] {
            #expect(!Self.isKept(text, in: fixture), "\(text)")
        }
        for text in ["Stayinghere", "Another"] { #expect(Self.isKept(text, in: fixture), "\(text)") }
    }

    @Test("When no save follows for a while, a checkpoint moves saved data from the write-ahead log into the file")
    func restingLog() throws {
        let fixture = try BrokerFixture()
        let keeper = try fixture.app("keeper", .full, keys: .all)
        _ = try keeper.save([.add(given: "Stayinghere")])
        let log = fixture.book + "/contacts.sqlite-wal"
        let file = fixture.book + "/contacts.sqlite"
        let name = Array("Stayinghere".utf8)
        #expect(Self.bytes(of: log).contains(name))
        #expect(!Self.bytes(of: file).contains(name))
        fixture.loop.advance(by: .seconds(6))
        fixture.books.queue(of: 1_000).sync {}
        #expect(!Self.bytes(of: log).contains(name))
        #expect(Self.bytes(of: file).contains(name))
    }
}
