import BrokerJSON
import Glibc
import Testing

@Suite("Limits on the size of an address book, at the sockets", .timeLimit(.minutes(5)))
struct DiskTests {
    @Test(
        "The settings limit an address book: its files stay small, a refusal says what to do, and the status shows it")
    func settings() throws {
        let fixture = try DaemonFixture(starting: false)
        try #require(mkdir(fixture.configuration, 0o755) == 0)
        let file = fixture.configuration + "/contactbroker.toml"
        try DaemonFixture.write(
            Array("[limits]\naddress_book_mb = 4\naddress_book_mb_per_app = 1\n".utf8), to: file, mode: 0o644)
        try fixture.start()
        let keeper = try fixture.keeper(with: fixture.person())
        let photo = String(repeating: "QUJD", count: 262_144)
        let answers = try (0..<20).map { number in
            try keeper.save([App.adding(#""givenName":"Photo \#(number)","imageData":"\#(photo)""#)])
        }
        #expect(answers.map(\.error) == Array(repeating: nil, count: 3) + Array(repeating: "LimitExceeded", count: 17))
        #expect(answers[19]["limit"]?.string == "addressBook" && answers[19]["maximum"]?.integer == 4 * 1_048_576)
        #expect(answers[19]["reason"]?.string?.contains("an administrator can raise limits.address_book_mb") == true)
        let status = try fixture.status()
        #expect(status["addressBookMB"] == "4" && status["addressBookLimitMB"] == "4")
        #expect(status["addressBookLimitPerAppMB"] == "1")
        #expect(status["lastProblem"]?.contains(" is full (4 MB): ") == true)
        let size = ["", "-wal"].reduce(0) { sum, suffix in
            var found = stat()
            let path = "\(fixture.state)/users/\(getuid())/contacts.sqlite\(suffix)"
            return sum + (lstat(path, &found) == 0 ? Int(found.st_size) : 0)
        }
        #expect((3_000_000...12_000_000).contains(size))
        let identifiers = answers[0].strings("identifiers")
        #expect(
            try keeper.save([#"{"operation":"delete","contact":{"identifier":"\#(identifiers[0])"}}"#]).word == "ok")
        #expect(try keeper.save([App.adding(given: "Small")]).word == "ok")
    }
}
