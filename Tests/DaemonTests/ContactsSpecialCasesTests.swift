import CTestImage
import Glibc
import Testing

/// Tests what the table of differences in Documentation/Porting.md says, and where the library does as Apple documents.
@Suite("Special cases of the Contacts library")
struct ContactsSpecialCasesTests {
    private static let probe = DaemonFixture.programs + "/ContactsProbe"

    private func probe(_ words: [String], _ choice: Choice = .everything, photo: UInt32? = nil) throws -> String {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let first = try Command(Self.probe, ["request"], in: fixture) { try person.answer(choice) }
        #expect(first.end == .exited(0), "\(first.errors)")
        var words = words
        if let photo {
            var bytes: UnsafeMutablePointer<UInt8>?
            let count = test_image_jpeg(photo, photo, 0, 0, &bytes)
            defer { free(bytes) }
            let path = fixture.folder + "/photo.jpg"
            try DaemonFixture.write(Array(UnsafeBufferPointer(start: bytes, count: count)), to: path)
            words.append(path)
        }
        let command = try Command(Self.probe, words, in: fixture, within: .seconds(90))
        #expect(command.end == .exited(0), "\(command.errors)")
        return command.output
    }

    @Test("A star in a name is no wildcard, and no name matches nobody")
    func stars() throws {
        #expect(
            try probe(["matched-names"]) == """
                “*” 0
                “a*” 1
                “ada*” 1
                “” 0
                “ ” 0
                “ada” 1
                “*scope” 1

                """)
    }

    @Test("A card that an app adds for a person stays its own, and is deleted without the person's other card")
    func ownCard() throws {
        #expect(try probe(["own-card"]) == "2\ntrue\n[true]\n")
    }

    @Test("Deleting a unified contact deletes its cards; deleting one of them keeps the others")
    func unifiedDeletion() throws {
        #expect(try probe(["unified-deletion"]) == "1\n0\n[true]\n")
    }

    @Test("A history token that the library did not make starts the history over, and is no error")
    func tokens() throws {
        #expect(
            try probe(["tokens"]) == """
                -1 true 5
                0 true 5
                8 true 5
                3 true 5
                100000 true 5

                """)
    }

    @Test(
        "A saved photo is there at once, and its thumbnail after a notification",
        .enabled(if: test_image_is_sanitized() == 0, "no sanitizer runs confined"))
    func thumbnail() throws {
        #expect(
            try probe(["thumbnail"], photo: 700) == """
                has a photo at once true
                has a thumbnail after a notification true

                """)
    }

    @Test("Without consent to notes, a note cannot be changed or read, but a new contact may have one")
    func notes() throws {
        #expect(
            try probe(["notes"]) == """
                changed note 102 ["note"] 1 1
                new contact with a note done
                error 102 ["note"] 0

                """)
    }

    @Test("Only an app with full access sets the person's own contact")
    func me() throws {
        #expect(try probe(["me"]) == "Ada\nerror 200 [] 0\n")
        #expect(try probe(["me"], .only(["Ada Lovelace"])) == "error 206 [] 0\n")
    }

    @Test("The country of the preferences does not change which numbers match")
    func countries() throws {
        #expect(
            try probe(["countries"]) == """
                gb true 1
                us true 1

                """)
    }

    @Test("The notification of a change arrives on a thread of the library, without an object")
    func notified() throws {
        #expect(try probe(["notified"]) == "main thread false object none\narrived true\n")
    }

    @Test("An organization is named by its organization name, and a person is not")
    func organizations() throws {
        #expect(try probe(["formatted"]) == "Analytical Engines\nAda\nnone\n")
    }
}
