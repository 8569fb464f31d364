import BrokerJSON
import CTestImage
import Glibc
import Testing

@Suite("Photos", .enabled(if: test_image_is_sanitized() == 0, "no sanitizer runs confined"), .timeLimit(.minutes(10)))
struct PhotoTests {
    private static func jpeg(_ side: UInt32) -> String {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = test_image_jpeg(side, side, 0, 0, &bytes)
        defer { free(bytes) }
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let photo = Array(UnsafeBufferPointer(start: bytes, count: count))
        var text: [UInt8] = []
        for start in stride(from: 0, to: photo.count, by: 3) {
            let piece = photo[start..<min(start + 3, photo.count)]
            let bits = piece.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - piece.count))
            for place in 0..<4 {
                text.append(place <= piece.count ? alphabet[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let keys = #""keys":["givenName","imageData","thumbnailImageData","modificationDate"]"#

    private func card(_ app: App, _ name: String) throws -> JSONValue {
        let answer = try app.call("FetchContacts", "{\(Self.keys)}")
        let contacts = answer.parameters["contacts"]?.elements.map(Array.init) ?? []
        return try #require(contacts.first { $0["givenName"]?.string == name })
    }

    @Test("A saved photo soon gets a thumbnail and watchers are notified, but the modification date stays")
    func photo() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let watcher = try App(companion: fixture.companion("keeper"), at: fixture.appsSocket)
        try watcher.begin("WatchChanges", more: true)
        _ = try watcher.reply()
        let photo = Self.jpeg(700)
        #expect(try keeper.save([App.adding(#""givenName":"Vera","imageData":"\#(photo)""#)]).word == "ok")
        let before = try card(keeper, "Vera")
        #expect(before["imageData"]?.string == photo)
        // WatchChanges reports the save, and then the thumbnail.
        var now = before
        while now["thumbnailImageData"]?.string ?? "" == "" {
            _ = try watcher.reply()
            now = try card(keeper, "Vera")
        }
        let thumbnail = try #require(now["thumbnailImageData"]?.string)
        #expect(thumbnail.hasPrefix("/9j/"))
        #expect(thumbnail.utf8.count <= 87_384)
        #expect(thumbnail != photo)
        #expect(now["modificationDate"]?.string == before["modificationDate"]?.string)
        #expect(now["imageData"]?.string == photo)

        let identifier = try #require(now["identifier"]?.string)
        let without = #"{"operation":"update","contact":{"identifier":"\#(identifier)","imageData":""}}"#
        #expect(try keeper.save([without]).word == "ok")
        let gone = try card(keeper, "Vera")
        #expect(gone["imageData"]?.string ?? "" == "")
        #expect(gone["thumbnailImageData"]?.string ?? "" == "")
    }

    @Test("Image data that is not a photo is kept unchanged, and a photo after it gets a thumbnail")
    func noPhoto() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let steps = [
            App.adding(#""givenName":"Noise","imageData":"/9j/4AAQ""#),
            App.adding(#""givenName":"Vera","imageData":"\#(Self.jpeg(400))""#),
        ]
        #expect(try keeper.save(steps).word == "ok")
        let deadline = ContinuousClock.now + .seconds(60)
        while try card(keeper, "Vera")["thumbnailImageData"]?.string ?? "" == "", .now < deadline {}
        #expect(try card(keeper, "Vera")["thumbnailImageData"]?.string?.hasPrefix("/9j/") == true)
        let noise = try card(keeper, "Noise")
        #expect(noise["imageData"]?.string == "/9j/4AAQ")
        #expect(noise["thumbnailImageData"]?.string ?? "" == "")
    }
}
